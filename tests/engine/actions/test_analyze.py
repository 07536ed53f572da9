"""Analyze: numbers from tools, opinions from the model, and nothing of one among the other."""

from __future__ import annotations

import asyncio
import json
import os
import sysconfig
import time
from pathlib import Path

import pytest
from support.analysis import MEANS, opinions, section
from support.engine import Bench, request_for
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import CONFIRMED
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.storage.paths import user_paths

STDLIB = Path(sysconfig.get_path("stdlib"))


async def test_next_to_a_confirmed_failure_no_tool_says_that_it_found_nothing(
    bench: Bench, scripted: ScriptedModel
) -> None:
    scripted.reply("- `return total / len(items)` | bug | items = [] raises ZeroDivisionError\n")
    answer = await bench.run("analyze", MEANS.replace("import os\n", ""))
    if "code may not run" in answer.markdown:
        pytest.skip("code cannot run here: there is no box of level strong")
    assert "1 confirmed failure" in answer.message
    assert "no findings" not in answer.message
    assert "## The model's opinion" not in answer.markdown, "there is no other than the confirmed one"


async def test_opinions_of_the_model_change_no_metric(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("none").reply("- `return eval(x)` | security | x = '__import__' runs anything")
    without = await bench.run("analyze", MEANS)
    with_one = await bench.run("analyze", MEANS)
    assert section(with_one, "Measured") == section(without, "Measured")
    assert section(with_one, "Findings") == section(without, "Findings")
    assert len(with_one.findings) == len(without.findings) + 1
    assert with_one.message == f"{without.message} · 1 of the model's opinions"


async def test_a_selection_is_measured_alone(bench: Bench, scripted: ScriptedModel) -> None:
    answer = await bench.run("analyze", MEANS.replace("import os", "$0import os$0"), budget=Budget.QUICK)
    assert {finding.code for finding in answer.findings} == {"F401"}


async def test_quick_sends_no_request(bench: Bench, scripted: ScriptedModel) -> None:
    answer = await bench.run("analyze", MEANS, budget=Budget.QUICK)
    assert answer.success
    assert scripted.requests == []
    assert {"F401", "S307"} <= {finding.code for finding in answer.findings}
    assert "The budget `quick` asks no model." in answer.markdown


async def test_metrics_need_no_model(stet_home: Path) -> None:
    engine = Engine(Settings(model=ModelSettings(embedded="off", discover=False)), user_paths())
    try:
        answer = await engine.run(request_for("analyze", MEANS))
    finally:
        await engine.close()
    assert answer.success
    assert "F401" in {finding.code for finding in answer.findings}
    assert "No opinion: " in answer.markdown
    assert answer.warnings


async def test_a_failing_model_keeps_the_measured_report(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply.failure(500)
    answer = await bench.run("analyze", MEANS)
    assert (answer.success, opinions(answer)) == (True, [])
    assert "| Complexity | 2 functions, median 1.5, highest 2 (`weigh`), 0 above 10 |" in answer.markdown


async def test_ranges_in_the_json_answer_have_the_format_of_edits(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("- `mark = items[0]` | bug | items = [] raises IndexError")
    answer = await bench.run("analyze", "def f(items):\n    # 🦀\n    é = 1; mark = items[0]\n    return mark, é\n")
    (finding,) = [item for item in json.loads(json.dumps(answer.to_json()))["findings"] if item["source"] == CONFIRMED]
    assert finding == {
        "range": {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 26}},
        "severity": "warning",
        "kind": "lint",
        "code": "bug",
        "message": "bug: items = [] raises IndexError (confirmed: `f([])` raises IndexError)",
        "source": CONFIRMED,
        "suggestions": [],
    }


SAMPLES = {
    "python": "def f(a):\n    return a\n",
    "javascript": "function f(a) {\n  return a;\n}\n",
    "typescript": "export function f(a: number): number {\n  return a;\n}\n",
    "go": "package a\n\nfunc F(a int) int {\n\treturn a\n}\n",
    "rust": "pub fn f(a: i32) -> i32 {\n    a\n}\n",
    "java": "class A {\n  int f(int a) {\n    return a;\n  }\n}\n",
    "cpp": "int f(int a) {\n  return a;\n}\n",
    "csharp": "class A {\n  int F(int a) {\n    return a;\n  }\n}\n",
}


@pytest.mark.parametrize("language", SAMPLES)
async def test_every_language_of_full_depth_has_metrics(bench: Bench, language: str) -> None:
    answer = await bench.run("analyze", SAMPLES[language], language=language, budget=Budget.QUICK)
    assert "| Complexity | 1 function, median 1, highest 1 (" in answer.markdown
    assert "| Security | 0 places to check |" in answer.markdown
    assert "| Duplicated code | 0 places |" in answer.markdown


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "python"),
        ("\n\n", "python"),
        ("def f(:\n  x = = 1\n", "python"),
        ("\0\1\2PNG\r\n" * 100, "python"),
        ("x" * 300_000, "javascript"),
        ("((((" * 20_000, "go"),
        ("Dear reader, this is prose.\n", "rust"),
        ("anything", "plaintext"),
        ("main = return ()\n", "haskell"),
    ],
)
async def test_the_report_on_bad_input_names_what_is_missing(bench: Bench, text: str, language: str) -> None:
    answer = await bench.run("analyze", text, language=language, budget=Budget.QUICK)
    assert answer.success
    assert answer.markdown.startswith("# Analysis of this document")
    if language in ("plaintext", "haskell"):
        assert "| Complexity | not measured |" in answer.markdown
        assert "| Security | not measured |" in answer.markdown


async def test_a_finding_of_a_linter_is_not_repeated(bench: Bench) -> None:
    text = "import x from 'x';\nexport function f(a) {\n  eval(a);\n  return x;\n  x();\n}\n"
    answer = await bench.run("analyze", text, language="javascript", budget=Budget.QUICK)
    linted = {finding.line for finding in answer.findings if finding.source != "stet"}
    own = [finding for finding in answer.findings if finding.source == "stet"]
    assert {finding.line + 1 for finding in answer.findings} >= {3, 5}
    assert all(finding.line not in linted for finding in own)


async def test_counts_cover_only_the_target(bench: Bench) -> None:
    text = "def _gone():\n    return 1\n\n\ndef f():\n    $0return 2\n"
    answer = await bench.run("analyze", text, budget=Budget.QUICK)
    assert "| Dead code | 0 hints |" in answer.markdown
    whole = await bench.run("analyze", text.replace("$0", ""), budget=Budget.QUICK)
    assert "| Dead code | 1 hint |" in whole.markdown


async def test_coverage_of_the_workspace_is_shown_with_its_age(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "means.py"
    file.write_text(MEANS)
    report = tmp_path / "coverage.json"
    lines = {"executed_lines": [1, 4, 5, 6, 9], "missing_lines": [10, 11, 13, 14]}
    report.write_text(json.dumps({"files": {"means.py": lines}}))
    os.utime(report, (4_000_000_000, 4_000_000_000))
    fields = {"path": file, "workspace": Workspace(roots=(tmp_path,)), "budget": Budget.QUICK}
    answer = await bench.run("analyze", MEANS, **fields)
    assert "| Test coverage | 55.6 % (5 of 9 statements) | coverage.json |" in answer.markdown
    assert "Lines 10-14." in section(answer, "Not covered by tests")
    part = await bench.run("analyze", MEANS.replace("total = sum", "$0total = sum"), **fields)
    assert "| Test coverage | 100.0 % (3 of 3 statements) | coverage.json |" in part.markdown
    os.utime(report, (1000, 1000))
    old = await bench.run("analyze", MEANS, **fields)
    assert "stale: the file was changed after the tests ran" in old.markdown


async def test_duplicates_are_found_in_unsaved_buffers_of_the_workspace(bench: Bench, tmp_path: Path) -> None:
    body = "".join(f"    value_{n} = compute(value_{n - 1}, table[{n}], default={n})\n" for n in range(1, 9))
    text = f"def f(value_0, table):\n{body}    return value_8\n"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.py").write_text("x = 1\n")
    file = tmp_path / "a.py"
    unsaved = Buffer(tmp_path / "sub" / "other.py", 2, "\n\n" + text.replace("def f", "def g"))
    workspace = Workspace(roots=(tmp_path,), buffers=(unsaved,))
    answer = await bench.run("analyze", text, path=file, workspace=workspace, budget=Budget.QUICK)
    assert "repeat line 3 of `other.py` and those after it" in section(answer, "Duplicated code")
    assert [finding.code for finding in answer.findings if finding.source == "stet"] == ["duplicate"]


async def test_ten_thousand_lines_take_seconds_and_the_model_sees_the_worst_of_them(
    bench: Bench, scripted: ScriptedModel
) -> None:
    text = (STDLIB / "_pydecimal.py").read_text("utf-8") + (STDLIB / "typing.py").read_text("utf-8").replace(
        "from __future__ import annotations", ""
    )
    assert text.count("\n") > 9_500
    scripted.default = Reply("none")
    started = time.monotonic()
    answer = await bench.run("analyze", text)
    assert time.monotonic() - started < 200, "about two seconds on a quiet machine"
    assert len(scripted.requests) == 1
    assert "The whole is too large for the model: it was shown `" in answer.markdown
    assert "highest" in section(answer, "Measured")


async def test_cancelling_ends_the_analysis(bench: Bench, scripted: ScriptedModel) -> None:
    text = (STDLIB / "_pydecimal.py").read_text("utf-8") * 3
    job = asyncio.create_task(bench.run("analyze", text))
    while not bench.events:
        await asyncio.sleep(0)
    job.cancel()
    started = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert time.monotonic() - started < 100, "as long as the part that is being measured takes, on a busy machine too"
    assert scripted.requests == []
