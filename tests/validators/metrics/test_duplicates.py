"""Copies are found whatever their layout, in one text and across files; what repeats by its nature is none."""

from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import pytest

from stet_ls.validators import structure
from stet_ls.validators.metrics.code_tokens import tokens
from stet_ls.validators.metrics.duplicates import LEAST_WORDS, repeated_code, shared_code
from stet_ls.validators.source import Source

STDLIB = Path(sysconfig.get_path("stdlib"))

BODY = """\
    total = 0
    for index, value in enumerate(values):
        if value is None or value < 0:
            continue
        weight = weights.get(index, default)
        total += value * weight
    if not total:
        raise ValueError("nothing to add")
    return total / len(values)
"""
ONCE = f"def first(values, weights, default):\n{BODY}"
AGAIN = "def second(values, weights, default):\n" + BODY.replace("\n", "  # the same\n\n")


def lines(source: Source, found: object) -> list[tuple[int, int, int]]:
    return [(source.line_of(c.span.start) + 1, source.line_of(c.span.end) + 1, c.line + 1) for c in found]  # type: ignore[attr-defined]


def test_a_copy_with_other_blank_lines_and_comments_points_to_the_first() -> None:
    source = Source(f"{ONCE}\n\n{AGAIN}")
    ((first, last, origin),) = lines(source, repeated_code(source, "python"))
    assert (first, origin) == (13, 1)
    assert last >= 30


@pytest.mark.parametrize(
    ("language", "comment"), [("javascript", "// {}"), ("go", "/* {} */"), ("rust", "// 'a {}"), ("cpp", "// it's {}")]
)
def test_other_languages_are_compared_without_their_comments(language: str, comment: str) -> None:
    body = "".join(f"  let value_{n} = compute(value_{n - 1}, table[{n}]); " + comment + "\n" for n in range(1, 9))
    source = Source("f() {\n" + body.replace("{}", "one") + "}\ng() {\n" + body.replace("{}", "two") + "}\n")
    ((first, last, origin),) = lines(source, repeated_code(source, language))
    assert (first, last, origin) == (11, 20, 1)


def test_other_names_and_short_pieces_are_not_copies() -> None:
    renamed = ONCE.replace("value", "number").replace("index", "place").replace("total", "result")
    for other in (renamed, ONCE[: len(ONCE) // 3]):
        source = Source(f"{ONCE}\n\n{other}")
        assert repeated_code(source, "python") == ()


def test_a_table_of_numbers_is_not_a_copy() -> None:
    source = Source("TABLE = [\n" + "    0, 0, 0, 1, 0, 0, 0, 1,\n" * 200 + "]\n")
    assert repeated_code(source, "python") == ()


def test_imports_do_not_count() -> None:
    head = "".join(f"from package.module_{n} import name_{n}, other_{n}\n" for n in range(12))
    source = Source(head + "\nx = 1\n")
    other = [(Path("b.py"), head.encode())]
    assert shared_code(source, "python", other) != ()
    assert shared_code(source, "python", other, without=structure.imports(source, "python")) == ()


def test_copies_in_other_files_name_file_and_line() -> None:
    source = Source(f"x = 1\n\n\n{ONCE}")
    others = [(Path("a.py"), b"y = 2\n"), (Path("b.py"), ("\n" * 40 + AGAIN).encode())]
    (copy,) = shared_code(source, "python", others)
    assert (copy.path, copy.line, source.line_of(copy.span.start)) == (Path("b.py"), 40, 3)
    assert copy.words >= LEAST_WORDS


def test_a_copy_in_the_standard_library_is_found_and_nothing_where_there_is_none() -> None:
    """asyncio's two event loops for sockets share a constructor's lines, word for word."""
    folder = STDLIB / "asyncio"
    source = Source((folder / "proactor_events.py").read_text("utf-8"))
    others = [(path, path.read_bytes()) for path in sorted(folder.glob("*.py")) if path.name != "proactor_events.py"]
    found = shared_code(source, "python", others, deadline=20)
    assert "selector_events.py" in {copy.path.name for copy in found if copy.path}
    for copy in found:
        assert copy.path is not None
        theirs = tokens(copy.path.read_bytes(), "python").words
        ours = tokens(source.data[copy.span.start : copy.span.end], "python").words
        joined = "\0".join(theirs)
        assert "\0".join(ours) in joined, "every copy is one"


@pytest.mark.parametrize(
    "hostile",
    ["\\`" * 50_000, '"\\' * 50_000, "'" * 100_000, '"""' * 30_001, "`" * 100_001 + "\\", "/*" * 50_000, "a " * 60_000],
)
def test_time_is_linear_in_hostile_texts(hostile: str) -> None:
    started = time.process_time()
    repeated_code(Source(hostile), "javascript")
    assert time.process_time() - started < 10


def test_the_deadline_ends_the_search() -> None:
    source = Source(ONCE)
    endless = ((Path(f"{n}.py"), ONCE.encode()) for n in iter(int, 1))
    started = time.monotonic()
    assert shared_code(source, "python", endless, deadline=2.0) != ()
    assert time.monotonic() - started < 50
