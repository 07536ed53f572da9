"""TypeScript, old against new: its types give inputs, by its compiler or without one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.judging import MakeCase, in_each_box, judge_script
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling

pytestmark = needs("node")


async def test_typescript_needs_no_builder(make: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stet leaves the types out itself, if there is neither esbuild nor typescript."""
    folders = os.environ["PATH"].split(os.pathsep)
    kept = [folder for folder in folders if shutil.which("esbuild", path=folder) is None]
    monkeypatch.setenv("PATH", os.pathsep.join(kept))
    before = "function f(params: Record<string, string>): string { return Object.keys(params).join('&'); }\n"
    evidence = await judge_script(make, before, before.replace(".join", ".sort().join"), "f", "typescript")
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True), evidence
    same = before.replace("Object.keys(params)", "[...Object.keys(params)]")
    assert (await judge_script(make, before, same, "f", "typescript")).verdict is Ruling.PASS


def esbuild() -> None:
    if shutil.which("esbuild") is None:
        pytest.skip("not installed: esbuild")


TYPED = """import { twice } from './twice';
interface Item { name: string; price: number; tags?: string[] }
enum Level { Low, High = 'high' }
type Wanted = Map<string, Set<number>> | null;
export function cheapest(items: readonly Item[], level: Level, wanted: Wanted): string | undefined {
  const sorted = [...items].sort((a, b) => a.price - b.price);
  return level === Level.High && wanted ? sorted[0]?.name : twice(sorted.at(-1)?.name ?? '');
}
"""


@in_each_box
async def test_typescript_is_compiled_and_its_types_determine_inputs(make: MakeCase, tmp_path: Path) -> None:
    esbuild()
    place: dict[str, Any] = {
        "root": tmp_path,
        "path": "a.ts",
        "files": {"twice.ts": "export const twice = (s: string) => s + s;\n"},
    }
    after = TYPED.replace("sorted.at(-1)", "sorted.at(-2)")
    same = await judge_script(make, TYPED, TYPED, "cheapest", "typescript", **place)
    other = await judge_script(make, TYPED, after, "cheapest", "typescript", **place)
    assert (same.verdict, same.count > 200) == (Ruling.PASS, True), same
    assert other.verdict is Ruling.FAIL, other
    ran = tmp_path / other.attachments[0].name
    ran.write_text(other.attachments[0].text)
    output = subprocess.run(["node", ran.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert output.returncode == 1, output.stderr


async def test_typescript_without_a_compiler_is_reported(make: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    without = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "esbuild").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without))
    text = "export function f(n: number): number { return n; }\n"
    evidence = await judge_script(make, text, text, "f", "typescript")
    if evidence.verdict is not Ruling.PASS:  # newer Nodes take the types out themselves
        assert "esbuild" in evidence.detail
