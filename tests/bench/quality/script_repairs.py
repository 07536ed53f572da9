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
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.quality.search_summary import ALONE, summary
from bench.row import Row
from support.corpora.repairs import HALVES, PlantedRepair, planted_repairs

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.errors import ModelError
from stet_ls.engine.execution.javascript.strip_types import without_types
from stet_ls.engine.run import Engine
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import TESTS, RunSpec
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units


@dataclass(frozen=True, slots=True)
class TriedRepair:
    """A bug, its outcome, its seconds, and what the search said."""

    case: PlantedRepair
    outcome: str
    seconds: float
    detail: str


def rows() -> Iterator[Row]:
    """Outcomes and seconds of both halves."""
    for half in HALVES:
        tried = asyncio.run(measured(half))
        yield from summary(f"scripts, {half}", [(each.outcome, each.seconds) for each in tried])


async def measured(half: str) -> list[TriedRepair]:
    """All bugs of a half, tried."""
    cases = [each for each in planted_repairs() if each.half == half]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paths = replace(user_paths(), data=home / "data", cache=home / "cache", logs=home / "log")
        sandbox = Sandbox(IsolationLevel.STRONG, home / "sandbox")
        engine = Engine(Settings.model_validate(ALONE), paths)
        try:
            await _tried(cases[0], engine, sandbox)  # the first one finds out what this machine has
            return [await _tried(case, engine, sandbox) for case in cases]
        finally:
            await engine.close()
            await sandbox.close()


async def _tried(case: PlantedRepair, engine: Engine, sandbox: Sandbox) -> TriedRepair:
    source = Source(case.broken)
    unit = next(unit for unit in units(source, case.language) if unit.qualified == case.unit)
    path = Path("/nowhere/case.ts" if case.language == "typescript" else "/nowhere/case.mjs")
    request = Request("debug", case.language, source, selection=Selection(unit.span), path=path)
    started = time.perf_counter()
    try:
        answer = await engine.run(request)
    except ModelError as error:
        outcome = "nothing" if "fix" in str(error) else "not shown"
        return TriedRepair(case, outcome, time.perf_counter() - started, str(error).partition(". ")[0])
    seconds = time.perf_counter() - started
    after = source.splice([Splice(edit.span, edit.new_text) for edit in answer.edits]).text
    result = "right" if await passes(sandbox, case, after) else "wrong"
    found = next((each.detail for each in answer.evidence if each.check is Check.SEARCH), "")
    asked = any(each.trusted and each.verdict is Ruling.UNKNOWN for each in answer.evidence)
    return TriedRepair(case, f"asked, {result}" if asked else result, seconds, f"{found} [{answer.message}]")


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
        tried = asyncio.run(measured(half))
        for each in tried if asked.cases else ():
            print(f"{each.case.name}: {each.outcome}, {each.seconds:.1f} s. {each.detail}")
        for row in summary(half, [(each.outcome, each.seconds) for each in tried]):
            print(f"{row.what:<52} {row.number}")


if __name__ == "__main__":
    main()
