"""How many planted bugs in JavaScript and TypeScript `debug` fixes without any model: a part of `search.py`.

    .venv/bin/python tests/bench/quality/script_repairs.py --half tuning --cases

The bugs are those of `tests/corpora/repairs`; a fix is right if calls that the search does not know give their results.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.quality.search_summary import summary
from bench.quality.search_trials import PlantedBug, Trial, tried
from bench.row import Row
from support.corpora.repairs import HALVES, PlantedRepair, planted_repairs

from stet_ls.engine.execution.javascript.strip_types import without_types
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import TESTS, RunSpec


def rows() -> Iterator[Row]:
    """Outcomes and seconds of both halves."""
    for half in HALVES:
        trials = asyncio.run(measured(half))
        yield from summary(f"scripts, {half}", [(each.outcome, each.seconds) for each in trials])


async def measured(half: str) -> list[Trial]:
    """All bugs of a half, tried."""
    return await tried([_bug(each) for each in planted_repairs() if each.half == half])


def _bug(case: PlantedRepair) -> PlantedBug:
    path = Path("/nowhere/case.ts" if case.language == "typescript" else "/nowhere/case.mjs")
    return PlantedBug(
        case.name, case.broken, case.language, case.unit, path, lambda sandbox, text: passes(sandbox, case, text)
    )


async def passes(sandbox: Sandbox, case: PlantedRepair, text: str) -> bool:
    """Whether a text gives the hidden results."""
    word = secrets.token_hex(16)
    node = toolchain.find("node", install=NODE)
    plain = without_types(text, case.language) if case.language == "typescript" else text
    checks = "\n".join(f"assert.deepStrictEqual(await ({call}), {want});" for call, want in case.hidden)
    program = f'import assert from "node:assert";\n{plain}\n{checks}\nconsole.log({json.dumps(word)});\n'
    files = {"case.mjs": program.encode()}
    result = await sandbox.run(RunSpec((str(node.path), "case.mjs"), files=files, binds=node.binds, limits=TESTS))
    return result.stdout.decode("utf-8", "replace").rstrip().endswith(word)


def main() -> None:
    """Prints the summary of one half or both, and each case if wanted."""
    parser = argparse.ArgumentParser(description="Planted bugs in scripts, fixed without a model.")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--cases", action="store_true", help="print each case: only of the half that is worked on")
    asked = parser.parse_args()
    for half in (asked.half,) if asked.half else HALVES:
        trials = asyncio.run(measured(half))
        for each in trials if asked.cases else ():
            print(f"{each.name}: {each.outcome}, {each.seconds:.1f} s. {each.detail}")
        for row in summary(half, [(each.outcome, each.seconds) for each in trials]):
            print(f"{row.what:<52} {row.number}")


if __name__ == "__main__":
    main()
