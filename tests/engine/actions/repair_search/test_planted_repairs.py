"""The right texts of the planted bugs that the search is measured with give all results that are written for them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from support.corpora.repairs import HALVES, planted_repairs
from support.processes.tools import needs

from stet_ls.engine.execution.javascript.inputs.known_calls.documented_calls import documented_calls
from stet_ls.engine.execution.javascript.strip_types import without_types

_PROGRAM = """
import assert from "node:assert";
import fs from "node:fs";
import { pathToFileURL } from "node:url";
for (const { name, file, unit, calls } of JSON.parse(fs.readFileSync("cases.json", "utf8"))) {
  const module = await import(pathToFileURL(file).href);
  for (const [call, want] of calls) {
    const [got, wish] = new Function(unit, `return [${call}, ${want}]`)(module[unit]);
    try { assert.deepStrictEqual(await got, wish); } catch { console.log(name); }
  }
}
"""


@needs("node")
def test_the_right_text_gives_all_results(tmp_path: Path) -> None:
    repairs = planted_repairs()
    assert len({each.name for each in repairs}) == len(repairs) > 40
    assert all(sum(each.half == half for each in repairs) > 20 for half in HALVES)
    rows = []
    for each in repairs:
        shown = [(it.source, it.want) for it in documented_calls(each.right, each.language, each.unit)]
        assert shown, each.name
        (tmp_path / f"{each.name}.mjs").write_text(
            without_types(each.right, each.language) or "" if each.language == "typescript" else each.right
        )
        calls = [*shown, *each.hidden]
        rows.append({"name": each.name, "file": f"{each.name}.mjs", "unit": each.unit, "calls": calls})
        assert each.broken != each.right
    (tmp_path / "cases.json").write_text(json.dumps(rows))
    (tmp_path / "run.mjs").write_text(_PROGRAM)
    node = shutil.which("node") or "node"
    ran = subprocess.run([node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
