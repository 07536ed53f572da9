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
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.eval.cases import HALVES, Case, load
from bench.eval.hidden import passes
from bench.quality import script_repairs
from bench.quality.search_summary import summary
from bench.quality.search_trials import PlantedBug, Trial, tried
from bench.row import Row


def rows() -> Iterator[Row]:
    """Outcomes and seconds of both halves, of scripts and of Python."""
    yield from script_repairs.rows()
    folder = Path(os.environ.get("DATA", "."))
    if not (folder / "humanevalpack/python/humanevalpack.jsonl").is_file():
        yield Row("Python", "not measured: DATA names no folder that eval/obtain.sh filled")
        return
    for half in HALVES:
        yield from _summary(half, asyncio.run(_measured(folder, half)))


def _summary(half: str, trials: list[Trial]) -> Iterator[Row]:
    return summary(f"Python, {half}", [(each.outcome, each.seconds) for each in trials])


async def _measured(data: Path, half: str) -> list[Trial]:
    return await tried([_bug(each) for each in load(data, ("debug",), 1000, 1, half)])


def _bug(case: Case) -> PlantedBug:
    path = Path("/nowhere/case.py")
    return PlantedBug(
        case.id, case.text, "python", case.unit, path, lambda sandbox, text: passes(sandbox, text, case.hidden)
    )


def main() -> None:
    """Prints the summary of one half or both, and each case if wanted."""
    parser = argparse.ArgumentParser(description="Planted bugs, fixed without a model.")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--cases", action="store_true", help="print each case: only of the half that is worked on")
    asked = parser.parse_args()
    for half in (asked.half,) if asked.half else HALVES:
        trials = asyncio.run(_measured(Path(os.environ.get("DATA", ".")), half))
        for each in trials if asked.cases else ():
            print(f"{each.name}: {each.outcome}, {each.seconds:.1f} s. {each.detail}")
        for row in _summary(half, trials):
            print(f"{row.what:<52} {row.number}")


if __name__ == "__main__":
    main()
