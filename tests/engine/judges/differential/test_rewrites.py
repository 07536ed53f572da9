"""Right rewrites of code that is not ours are never refuted; wrong ones never count as proven, but what is known."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpora.rewrites import RIGHT, UNPROVEN, UNSEEN, Rewrite, rewrites
from support.judging import MakeCase
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

FOLDER = Path(__file__).with_name("rewrites")
OWN, LIBRARY = rewrites(FOLDER / "own.txt"), rewrites(FOLDER / "library.txt")
ORDINARY = rewrites(FOLDER / "ordinary.txt")
SCRIPT = rewrites(FOLDER / "script.txt")
LANGUAGES = {"js": "javascript", "ts": "typescript"}


@pytest.mark.parametrize("unit", OWN)
async def test_each_rewrite_gets_its_expected_verdict(make: MakeCase, unit: str) -> None:
    for each in OWN[unit]:
        assert each.after is not None, f"{each.name}: the text has other words"
        evidence = await judge(make(each.before, each.after, each.unit))
        if each.kind in (RIGHT, UNSEEN):
            assert evidence.verdict is Ruling.PASS, (each.name, evidence)
        else:  # on a slow machine the time may be up before the input comes that shows it
            assert evidence.verdict is not Ruling.PASS, (each.name, evidence)


@pytest.mark.parametrize("unit", LIBRARY)
async def test_rewrites_of_the_standard_library_are_judged_correctly(make: MakeCase, unit: str) -> None:
    known = [each for each in LIBRARY[unit] if each.after is not None]
    if not known:
        pytest.skip(f"the library of this Python has other words in {unit}")
    await _are_judged(make, known)


@pytest.mark.parametrize("unit", ORDINARY)
async def test_rewrites_of_ordinary_code_are_judged_correctly(make: MakeCase, unit: str) -> None:
    assert all(each.after is not None for each in ORDINARY[unit]), "the text has other words"
    await _are_judged(make, ORDINARY[unit])


async def _are_judged(make: MakeCase, known: list[Rewrite]) -> None:
    for each in known:
        assert each.after is not None
        evidence = await judge(make(each.before, each.after, each.unit))
        never = Ruling.FAIL if each.kind in (RIGHT, UNPROVEN) else Ruling.PASS
        assert each.kind == UNSEEN or evidence.verdict is not never, (each.name, evidence)


@needs("node")
@pytest.mark.parametrize("unit", SCRIPT)
async def test_rewrites_of_javascript_and_typescript_are_judged_correctly(make: MakeCase, unit: str) -> None:
    ending = unit.split()[0].rpartition(".")[2]
    if ending == "ts" and shutil.which("esbuild") is None:
        pytest.skip("not installed: esbuild")
    for each in SCRIPT[unit]:
        assert each.after is not None, f"{each.name}: the text has other words"
        case = replace(make(each.before, each.after, each.unit), language=LANGUAGES[ending])
        evidence = await judge(case)
        wanted = {RIGHT: {Ruling.PASS}, UNSEEN: {Ruling.PASS}, UNPROVEN: {Ruling.UNKNOWN}}.get(
            each.kind, {Ruling.FAIL, Ruling.UNKNOWN}
        )
        assert evidence.verdict in wanted, (each.name, evidence)
