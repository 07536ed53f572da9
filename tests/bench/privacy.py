"""What it costs to take secrets out of a prompt, what is found, and what is taken for one in code that has none."""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.row import Row
from support.corpora.planted import corpus

from stet_ls.engine.judges.danger.risks import risks_in
from stet_ls.engine.privacy.redact import redact
from stet_ls.validators.source import Source

CONFIG = frozenset({"yaml", "json", "toml", "dotenv", "xml", "ini", "properties", "shellscript", "dockerfile", "netrc"})
HOSTILE = {
    "names": "password=", "quotes": 'token = "', "base64": "A1b2/", "dots": ".a",
    "keys": "-----BEGIN PRIVATE KEY-----\n",
}  # fmt: skip


def rows() -> Iterator[Row]:
    """Speed on real and on hostile text, recall, false redactions, and the judge of danger."""
    text = "".join(_library())
    text = "".join(text.splitlines(keepends=True)[:2000])
    yield Row("redact a file of 2,000 lines (CPU, best of 9)", f"{_best(lambda: redact(text)):.1f} ms", "few ms")
    yield Row(
        "risks of a file of 2,000 lines (CPU, best of 5)",
        f"{_best(lambda: risks_in(Source(text), 'python'), 5):.1f} ms",
    )
    for name, unit in HOSTILE.items():
        line = unit * (1_000_000 // len(unit))
        yield Row(f"redact a hostile megabyte of {name} (CPU)", f"{_best(lambda line=line: redact(line), 1):.0f} ms")
    planted = list(corpus(seed=23))
    found = sum(
        not any(secret in redact(each.text, config=each.language in CONFIG).text for secret in each.secrets)
        for each in planted
    )
    yield Row("secrets of the corpus that are found", f"{found} of {len(planted)} = {found / len(planted):.3f}", "0.99")
    lines = false = 0
    for code in _library():
        lines += code.count("\n")
        false += len(redact(code).redactions)
    yield Row(
        "redactions in the standard library", f"{false} in {lines} lines = {1000 * false / lines:.2f} in 1,000", "0.5"
    )


def _library() -> Iterator[str]:
    folder = Path(sysconfig.get_path("stdlib"))
    for path in [*sorted(folder.glob("*.py")), *sorted(folder.glob("[a-s]*/*.py"))]:
        if path.parent.name != "site-packages":
            yield path.read_text("utf-8", errors="replace")


def _best(work: Callable[[], object], rounds: int = 9) -> float:
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return 1000 * min(times)
