"""What grows with the units of a file grows as they do: the processor time for 2,000 of them against 500."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bench.row import Row

from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES
from stet_ls.engine.judges.project_tests.reachability import names_leading_to
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

_FEW, _MANY = 500, 2_000
_GOAL = "x4.0 (<= 6)"
_UNIT = {
    "python": "def f{0}(a):\n    '''Says {0}.'''\n    return f{1}(a)\n\n\n",
    "typescript": "/** Says {0}. */\nexport function f{0}(a: number) {{ return f{1}(a) }}\n",
    "go": "// f{0} says.\nfunc f{0}(a int) int {{\n\treturn f{1}(a)\n}}\n\n",
    "rust": "/// Says {0}.\npub fn f{0}(a: i32) -> i32 {{ f{1}(a) }}\n\n",
    "cpp": "// Says {0}.\nint f{0}(int a) {{ return f{1}(a); }}\n\n",
}
"""Each calls the next: a search for what leads to the last visits all of them."""


def rows() -> Iterator[Row]:
    """The ratio for finding the units, for what leads to one of them, and for a text without its bodies."""
    for language, unit in _UNIT.items():
        few, many = (_text(language, unit, count) for count in (_FEW, _MANY))
        yield _row(f"{language}: units", lambda text, _, name=language: units(Source(text), name), few, many)
        yield _row(
            "  what leads to the last of a chain",
            lambda t, n, name=language: names_leading_to(t, f"f{n}", name),
            few,
            many,
        )
        hidden = LOOP_LANGUAGES[language].specification
        yield _row("  without bodies", lambda text, _, hidden=hidden: hidden("", text, "f3"), few, many)


def _text(language: str, unit: str, count: int) -> str:
    head = "package a\n\n" if language == "go" else ""
    return head + "".join(unit.format(number, number + 1) for number in range(count))


def _row(what: str, work: Callable[[str, int], object], few: str, many: str) -> Row:
    first, second = _seconds(work, few, _FEW - 1), _seconds(work, many, _MANY - 1)
    return Row(what, f"x{second / first:.1f} ({1000 * second:.0f} ms)", _GOAL)


def _seconds(work: Callable[[str, int], object], text: str, last: int) -> float:
    """The least of three, each with a text that no parse is remembered of."""
    least = float("inf")
    for attempt in range(3):
        fresh = f"{text}\n" + "\n" * attempt
        began = time.thread_time()
        work(fresh, last)
        least = min(least, time.thread_time() - began)
    return least
