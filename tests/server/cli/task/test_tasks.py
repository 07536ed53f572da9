"""`stet plan`, `stet run task` over a folder, and `stet tasks`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.engine import asks_for_tests
from support.processes.command import Stet
from support.processes.stet import interruptible_argv
from support.servers.scripted import Reply, ScriptedModel

PLAN = "1. generate | a.py | two | gives 2\n2. generate | b.py | three | gives 3\n"


def block(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"


def project(folder: Path) -> None:
    (folder / ".git").mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text("def one():\n    return 1\n")


def test_a_plan_is_printed_edited_run_listed_and_exported(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    project(folder)
    scripted.on(asks_for_tests, "none")
    scripted.reply(PLAN)
    planned = stet("plan", ".", "--instruction", "more numbers")
    assert planned.status == 0, planned.err
    assert "- [x] 2. generate | b.py | three | gives 3" in planned.out
    assert "understood: 0.3 to 0.8 (rules: names no file or function of the project)" in planned.out
    assert "confidence: 0.2 to 0.9 (the model's plan; 0 of 2 edits of known code)" in planned.out
    (folder / "plan.md").write_text(planned.out.replace("[x] 2.", "[ ] 2."))

    scripted.default = block("def two():\n    return 2\n")
    done = stet("run", "task", ".", "--plan", "plan.md", "--apply")
    assert done.status == 0, done.err
    assert "wrote a.py" in done.out
    assert "def two" in (folder / "a.py").read_text()
    assert "def three" not in (folder / "b.py").read_text()

    first, second = [json.loads(line) for line in stet("tasks", "list", "--json").out.splitlines()]
    assert {first["state"], second["state"]} == {"done", "planned"}
    ran = first if first["state"] == "done" else second
    shown = stet("tasks", "show", ran["id"])
    assert "- 1. done (" in shown.out
    assert "pass syntax" in shown.out
    assert len(stet("tasks", "export", "-").out.splitlines()) == 2
    missing = stet("tasks", "show", "ffff")
    assert missing.status == 2
    assert "there is no task 'ffff'" in missing.err


EVERY_KIND = """generate | a.py | two | gives 2
test | a.py | two | that it is 2
review | a.py | - | is it clear?
check | - | - | the tests
run | - | - | python3 -c "import a; print('found', a.two() * 21)"
"""
TESTS = "TESTS:\n```python\nfrom a import two\n\n\ndef test_two():\n    assert two() == 2\n```\n"


def test_a_printed_plan_of_every_kind_runs_as_it_is_and_its_reports_are_shown(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    project(folder)
    (folder / "deep").mkdir()
    (folder / "deep" / "c.py").write_text("ONE = 1\n")
    scripted.on(lambda body: "Plan the change" in str(body["messages"]), EVERY_KIND)
    scripted.on(lambda body: "Write three to six small tests" in str(body["messages"]), TESTS)
    scripted.on(lambda body: "Review the code" in str(body["messages"]), "- `return 1` | clarity | one | a constant")
    scripted.default = block("def two():\n    return 2\n")
    words = "Add two to a.py and test it; do not touch c.py. Then use `numpy`"
    planned = stet("plan", "a.py", "deep/c.py", "--instruction", words)
    assert planned.status == 0, planned.err
    lines = planned.out.splitlines()
    assert lines[0] == "# Plan: Add two to a.py, test it, use `numpy`"
    assert "understood: 0.6 to 0.9 (rules: names a.py, of the project)" in lines
    assert {"constraint: do not touch c.py", "libraries: numpy", "- [x] 4. check | - | - | the tests"} <= set(lines)
    asked = scripted.requests[0].prompt
    assert "run (run the instruction as a command in the sandbox, in the project)" in asked
    assert "accept: example f(2) == 4" in asked

    (folder / "plan.md").write_text(planned.out.replace("libraries: numpy\n", ""))
    ran = replace(stet, seconds=280)("run", "task", ".", "--plan", "plan.md", "--apply", "--accept-risk", "not-run")
    if "code may not run" in ran.err:
        pytest.skip(ran.err)
    assert ran.status == 0, ran.err
    assert "Did 5 steps" in ran.err
    assert "found 42" in ran.out, "what the command printed"
    assert "## review a.py" in ran.out
    assert ran.out.count("step 4: ") == len({each for each in ran.out.splitlines() if "step 4: " in each})
    assert not any("numpy" in each.prompt for each in scripted.requests[1:] if "Packages that" in each.prompt)


def test_the_plan_of_a_large_file_is_made_from_its_signatures(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    body = "".join(f"    total += {number} * rate\n" for number in range(2_000))
    (folder / "sums.py").write_text(f"def known(rate):\n    total = 0\n{body}    return total\n\n\nLAST = 1\n")
    scripted.default = "generate | sums.py | new_sum | as known, without a rate"
    planned = stet("plan", "sums.py", "--instruction", "a sum as known gives it, without a rate, and its use")
    assert planned.status == 0, planned.err
    asked = scripted.requests[0].prompt
    assert "def known(rate):\n    ...\n\n\nLAST = 1\n" in asked
    assert "1999 * rate" not in asked


def test_a_wrong_plan_and_a_vague_task_are_reported(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    project(folder)
    (folder / "plan.md").write_text("# Plan: x\n- [x] 1. debug | ../a.py | one | mend it\n")
    wrong = stet("run", "task", ".", "--plan", "plan.md")
    assert wrong.status == 2
    assert "the plan cannot be used: The plan names '../a.py'" in wrong.err
    assert "hint: edit the plan; `stet plan` prints one" in wrong.err
    vague = stet("run", "task", "a.py", "--instruction", "make it better")
    assert vague.status == 1
    assert "does not say which code" in vague.err
    assert not scripted.requests


def test_a_package_that_is_not_known_costs_no_call(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    project(folder)
    for words in (("use `requets` to load a page",), ("load a page", "--library", "requets")):
        wrong = stet("run", "task", "a.py", "--instruction", *words)
        assert wrong.status == 1
        assert "'requets' is not known; its name is one letter off 'requests'" in wrong.err
    assert not scripted.requests


def test_a_folder_is_shown_by_what_the_task_speaks_of_and_may_hold_data_of_any_size(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    project(folder)
    (folder / "Makefile").write_text("all:\n\ttrue\n")
    (folder / "aaa.csv").touch()
    os.truncate(folder / "aaa.csv", 1 << 30)
    for number in range(60):
        (folder / f"m{number:02}.py").write_text(f"def f{number}():\n    return {number}\n")
    (folder / "zeta.py").write_text("def sum_of():\n    return 1\n")
    (folder / "zulu.py").write_text("X = 1\n")
    scripted.default = "generate | a.py | two | gives 2"
    planned = stet("plan", ".", "--instruction", "use sum_of in a.py and list it in zulu.py")
    assert planned.status == 0, planned.err
    listing = scripted.requests[0].prompt.partition("what they define:\n")[2].split("\n\n")[0].splitlines()
    assert listing[:3] == ["a.py: one", "zulu.py", "zeta.py: sum_of"]
    assert len(listing) == 40
    named = stet("plan", "a.py", "aaa.csv", "--instruction", "use sum_of in a.py")
    assert named.status == 0, named.err


def test_a_task_is_edited_first_resumed_and_context_for_the_next(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    project(folder)
    scripted.on(asks_for_tests, "none")
    plan = "1. generate | a.py | two | gives 2\n2. generate | a.py | six | two() * 3\n"
    scripted.replies([plan, block("def two():\n    return 2\n"), "I cannot", "I cannot", "I cannot"])
    editor = folder / "untick.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/gives 2/gives the number 2/" "$1"\n')
    editor.chmod(0o755)
    first = stet("run", "task", "a.py", "--instruction", "more numbers", "--edit", EDITOR=str(editor), VISUAL="")
    assert "Did 1 of 2 steps" in first.err + first.out
    assert "gives the number 2" in scripted.requests[1].prompt, "the plan as it was edited"
    rows = [json.loads(line) for line in stet("tasks", "list", "--json").out.splitlines()]
    (row,) = [each for each in rows if each["state"] == "partial"]

    scripted.reset()
    scripted.on(asks_for_tests, "none")
    scripted.default = block("def six():\n    return two() * 3\n")
    resumed = stet("tasks", "resume", row["id"], "--apply")
    assert resumed.status == 0, resumed.err
    assert "1 of them done before" in resumed.err + resumed.out
    assert "def two" in (folder / "a.py").read_text()
    assert "def six" in (folder / "a.py").read_text()

    asked = len(scripted.requests)
    again = stet("tasks", "resume", row["id"])
    assert again.status == 0, again.err
    assert "2 of them done before · the changes of 2 of them are in the files already" in again.err
    assert len(scripted.requests) == asked, "what was taken is not done again"

    asked = len(scripted.requests)
    scripted.default = "no plan"
    stet("run", "task", "a.py", "--instruction", "numbers again", "--after", row["id"], "--library", "numpy")
    prompt = scripted.requests[asked].prompt
    assert "more numbers (done)" in prompt
    assert "Packages that the task requires:" in prompt


def test_an_interrupted_task_writes_nothing_and_says_how_to_continue(
    stet: Stet, folder: Path, scripted: ScriptedModel, environment: Mapping[str, str]
) -> None:
    project(folder)
    held = threading.Event()
    scripted.on(asks_for_tests, "none")
    scripted.on(lambda body: "Now do step 1 alone" in str(body["messages"]), block("def two():\n    return 2\n"))
    scripted.default = Reply(block("def three():\n    return 3\n"), hold=held)
    (folder / "plan.md").write_text(f"# Plan: more numbers\n{PLAN}  - needs: 1\n")
    argv = interruptible_argv("run", "task", ".", "--plan", "plan.md", "--apply", "--accept-risk", "not-run")
    with subprocess.Popen(argv, cwd=folder, env=dict(environment), stderr=subprocess.PIPE, text=True) as child:
        while not any("Now do step 2 alone" in each.prompt for each in scripted.requests):
            scripted.wait_request(len(scripted.requests) + 1)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    held.set()
    assert child.returncode == 130
    (row,) = [json.loads(line) for line in stet("tasks", "list", "--json").out.splitlines()]
    assert f"cancelled, nothing was written: `stet tasks resume {row['id']}` does what is left\n" in err
    assert "def two" not in (folder / "a.py").read_text()

    resumed = stet("tasks", "resume", row["id"], "--apply", "--accept-risk", "not-run")
    assert resumed.status == 0, resumed.err
    assert "1 of them done before" in resumed.err
    assert "def two" in (folder / "a.py").read_text()
    assert "def three" in (folder / "b.py").read_text()


def test_no_step_starts_after_the_deadline_of_a_task(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    project(folder)
    (folder / "plan.md").write_text(f"# Plan: more numbers\n{PLAN}")
    ran = stet("run", "task", ".", "--plan", "plan.md", "--deadline", "0.001", "--priority", "high")
    assert ran.status == 1
    assert "the deadline of 0.001 s has passed" in ran.err
    assert "The deadline of 0.001 s was missed by" in ran.err
    assert not scripted.requests
    (row,) = [json.loads(line) for line in stet("tasks", "list", "--json").out.splitlines()]
    assert (row["request"]["priority"], row["request"]["deadline"]) == ("high", 0.001)
    assert "the deadline of 0.001 s was missed by" in stet("tasks", "show", row["id"]).out

    wrong = stet("run", "task", ".", "--plan", "plan.md", "--deadline", "soon")
    assert wrong.status == 2
    assert "'soon' is not a duration" in wrong.err
    other = stet("run", "refactor", "a.py", "--deadline", "90")
    assert other.status == 2
    assert "only the action task has `--deadline`" in other.err


def test_a_step_is_taken_alone(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    project(folder)
    scripted.on(asks_for_tests, "none")
    scripted.on(lambda body: "Now do step 1 alone" in str(body["messages"]), block("def two():\n    return 2\n"))
    scripted.default = block("def three():\n    return 3\n")
    (folder / "plan.md").write_text(f"# Plan: more numbers\n{PLAN}")
    ran = stet("run", "task", ".", "--plan", "plan.md", "--apply", "--accept-risk", "not-run", "--step", "2")
    assert ran.status == 0, ran.err
    assert "def two" not in (folder / "a.py").read_text()
    assert "def three" in (folder / "b.py").read_text()
    missing = stet("run", "task", ".", "--plan", "plan.md", "--apply", "--step", "7")
    assert missing.status == 2, missing
