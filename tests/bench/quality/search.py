"""How many planted bugs `debug` fixes without any model: `DATA=folder make bench ONLY=search`.

    .venv/bin/python tests/bench/quality/search.py --half tuning --cases

The folder is what `eval/obtain.sh` fetches; the bugs are those of HumanEvalPack, with no more than their docstrings: no
test is shown. A hash of a case's name says which half it belongs to; the search was worked on with the cases of one
half. No model can be reached, so what the search does not find is not offered.

- *right*, *wrong*: offered without a question, and the data set's tests pass with it or do not.
- *asked*: offered with a question, because fixes that behave differently stand too. Counted by what is offered.
- *nothing*: no fix; *not shown*: nothing in the docstring fails on the broken code, so nothing can be searched.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.eval.cases import HALVES, Case, load
from bench.eval.hidden import passes
from bench.quality import script_repairs
from bench.quality.search_summary import ALONE, summary
from bench.row import Row

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.errors import ModelError
from stet_ls.engine.run import Engine
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units


@dataclass(frozen=True, slots=True)
class Tried:
    """A case, its outcome, its seconds, and what the search said."""

    case: Case
    outcome: str
    seconds: float
    detail: str


def rows() -> Iterator[Row]:
    """Outcomes and seconds of both halves, of scripts and of Python."""
    yield from script_repairs.rows()
    folder = Path(os.environ.get("DATA", "."))
    if not (folder / "humanevalpack/python/humanevalpack.jsonl").is_file():
        yield Row("Python", "not measured: DATA names no folder that eval/obtain.sh filled")
        return
    for half in HALVES:
        yield from _summary(half, asyncio.run(_measured(folder, half)))


def _summary(half: str, tried: list[Tried]) -> Iterator[Row]:
    return summary(f"Python, {half}", [(each.outcome, each.seconds) for each in tried])


async def _measured(data: Path, half: str) -> list[Tried]:
    cases = load(data, ("debug",), 1000, 1, half)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paths = replace(user_paths(), data=home / "data", cache=home / "cache", logs=home / "log")
        sandbox, engine = (
            Sandbox(IsolationLevel.STRONG, home / "sandbox"),
            Engine(Settings.model_validate(ALONE), paths),
        )
        try:
            await _tried(cases[0], engine, sandbox)  # the first one finds out what this machine has
            return [await _tried(case, engine, sandbox) for case in cases]
        finally:
            await engine.close()
            await sandbox.close()


async def _tried(case: Case, engine: Engine, sandbox: Sandbox) -> Tried:
    source = Source(case.text)
    unit = next(unit for unit in units(source, "python") if unit.qualified == case.unit)
    request = Request("debug", "python", source, selection=Selection(unit.span), path=Path("/nowhere/case.py"))
    started = time.perf_counter()
    try:
        answer = await engine.run(request)
    except ModelError as error:
        outcome = "nothing" if "fix" in str(error) else "not shown"
        return Tried(case, outcome, time.perf_counter() - started, str(error).partition(". ")[0])
    seconds = time.perf_counter() - started
    after = source.splice([Splice(edit.span, edit.new_text) for edit in answer.edits]).text
    result = "right" if await passes(sandbox, after, case.hidden) else "wrong"
    found = _search(answer)
    asked = any(each.trusted and each.verdict is Ruling.UNKNOWN for each in answer.evidence)
    return Tried(case, f"asked, {result}" if asked else result, seconds, found)


def _search(answer: Answer) -> str:
    return next((each.detail for each in answer.evidence if each.check is Check.SEARCH), "")


def main() -> None:
    """Prints the summary of one half or both, and each case if wanted."""
    parser = argparse.ArgumentParser(description="Planted bugs, fixed without a model.")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--cases", action="store_true", help="print each case: only of the half that is worked on")
    asked = parser.parse_args()
    for half in (asked.half,) if asked.half else HALVES:
        tried = asyncio.run(_measured(Path(os.environ.get("DATA", ".")), half))
        for each in tried if asked.cases else ():
            print(f"{each.case.id}: {each.outcome}, {each.seconds:.1f} s. {each.detail}")
        for row in _summary(half, tried):
            print(f"{row.what:<52} {row.number}")


if __name__ == "__main__":
    main()
