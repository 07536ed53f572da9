"""The evaluation: cases from a folder, replies that are played back, results that can be taken up again, a table."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from bench.eval.alike import rewritten, same_behavior, same_result
from bench.eval.arms import ARMS, settings_of
from bench.eval.cases import HALVES, half_of, load
from bench.eval.recorder import Recorder
from bench.eval.run import in_turn
from bench.eval.table import by_case, markdown, outcomes
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.judges.calibration import wilson
from stet_ls.engine.settings.schema import Settings

RUN = Path(__file__).parent / "bench" / "eval" / "run.py"
RIGHT = "PLAN: the sum\n```python\ndef double(x):\n    return x + x\n```\n"
WRONG = "PLAN: the square\n```python\ndef double(x):\n    return x * x\n```\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One buggy function in the form of the data set."""
    row = {
        "task_id": "Python/0",
        "prompt": 'def double(x):\n    """Twice x."""\n',
        "buggy_solution": "    return x\n",
        "entry_point": "double",
        "test": "assert double(3) == 6\nassert double(5) == 10\n",
    }
    file = tmp_path / "data/humanevalpack/python/humanevalpack.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(row) + "\n")
    return tmp_path / "data"


def evaluate(data: Path, out: Path, *arguments: str, url: str = "") -> str:
    where = ("--data", str(data), "--out", str(out))
    command = [sys.executable, str(RUN), *where, "--actions", "debug", "--fast", *arguments]
    environment = {**os.environ, "STET_BASE_URL": url, "STET_MODEL": "scripted", "STET_HOME": str(out / "user")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400)
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in out.glob("results-*.jsonl") for line in file.read_text().splitlines()]


@pytest.mark.parametrize(("reply", "right"), [(RIGHT, True), (WRONG, False)])
def test_hidden_tests_decide_the_outcome(data: Path, tmp_path: Path, reply: str, right: bool) -> None:
    with ScriptedModel() as model:
        model.default = Reply(reply)
        evaluate(data, tmp_path / "out", "--arms", "single shot", url=model.base_url)
    (row,) = results(tmp_path / "out")
    assert row["offered"] is True
    assert row["passed"] is right
    assert row["calls"] == 1


def test_of_several_samples_the_first_that_passes_the_shown_examples_is_chosen(tmp_path: Path, data: Path) -> None:
    file = data / "humanevalpack/python/humanevalpack.jsonl"
    file.write_text(file.read_text().replace("Twice x.", "Twice x. For x = 3 the result should be 6; double(3) => 6"))
    with ScriptedModel() as model:
        model.replies([Reply(WRONG), Reply(RIGHT), Reply(WRONG)])
        asked = ("--arms", "first of k", "--half", half_of("debug Python/0"))
        table = evaluate(data, tmp_path / "out", *asked, url=model.base_url)
    (row,) = results(tmp_path / "out")
    assert (row["calls"], row["passed"], row["outcome"], row["seed"]) == (3, True, "right", 1)
    assert row["half"] == half_of("Python/0")
    assert "| first of k | 1 | 100.0 % |" in table
    assert "sha256 " in table


def test_rows_and_replies_are_kept_outside_of_the_repository(data: Path) -> None:
    command = [sys.executable, str(RUN), "--data", str(data), "--out", str(RUN.parent / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert "outside of the repository" in done.stderr


def test_a_task_belongs_to_one_half_in_every_action_and_cases_are_taken_in_turn(data: Path) -> None:
    assert half_of("generate MBPP/11") == half_of("bare refactor MBPP/11")
    halves = [half_of(f"debug Python/{number}") for number in range(164)]
    assert [halves.count(each) for each in HALVES] == [78, 86], "as docs/quality.md says"
    assert sum(len(load(data, ("debug",), 9, 1, half)) for half in HALVES) == 1
    (case,) = load(data, ("debug",), 9, 1)
    cases = [replace(case, id=f"{action} {n}", action=action) for action in ("debug", "generate") for n in range(2)]
    assert [each.id for each in in_turn(cases)] == ["debug 0", "generate 0", "debug 1", "generate 1"]


def test_variants_share_deadline_and_prompt_settings() -> None:
    made = {arm.name: settings_of(arm, "http://localhost/v1", "m") for arm in ARMS}
    assert {settings.deadline for settings in made.values()} == {Settings().deadline}
    assert not made["search alone"].providers
    single = next(arm for arm in ARMS if arm.name == "single shot")
    assert single.budget is next(arm for arm in ARMS if arm.name == "stet").budget, "the same symptom is in its prompt"


def test_outcomes_seconds_and_risk_are_counted_by_variant() -> None:
    def row(outcome: str, confidence: float, seconds: float) -> dict[str, object]:
        offered = not outcome.startswith(("withheld", "nothing"))
        same = {"arm": "stet", "case": outcome, "seconds": seconds, "confidence": confidence, "offered": offered}
        return {**same, "outcome": outcome, "passed": offered and outcome.endswith("right")}

    rows = [row("right", 0.9, 1), row("wrong", 0.5, 2), row("withheld, right", 0.1, 3), row("nothing", 0, 40)]
    *_, line = outcomes(rows).splitlines()
    cells = [each.strip() for each in line.strip("|").split("|")]
    assert cells == ["stet", "4", "25.0 %", "25.0 %", "0.0 %", "0.0 %", "25.0 %", "0.0 %", "25.0 %", "3.0", "40.0",
                     "0.0 %", "50.0 %", "-", "-"]  # fmt: skip


def test_seeds_are_no_further_cases() -> None:
    rows = [{"case": f"c{n}", "seed": seed, "passed": n % 2 == 0} for n in range(10) for seed in (1, 2, 3)]
    assert by_case(rows) == wilson(5, 10)


@pytest.mark.parametrize(
    ("body", "faster"), [("    return sum(1 for _ in range(2 * x))\n", True), ("    return 2 * x\n", False)]
)
def test_a_model_alone_is_taken_at_its_word(tmp_path: Path, body: str, faster: bool) -> None:
    """Stet offers no `optimize` that it did not measure; the single shot lands, and is right if it is faster."""
    prompt = 'def double(x):\n    """Twice x."""\n'
    folder = tmp_path / "data/coffe"
    folder.mkdir(parents=True)
    (folder / "data.json").write_text(
        json.dumps([{"final_prompt": prompt, "entry_point": "double", "canonical_solution": body}])
    )
    (folder / "testcases.json").write_text(json.dumps({prompt: [{"input": [3], "output": [6]}]}))
    (folder / "stressful_testcases.json").write_text(json.dumps({prompt: [{"input": "[10 ** 5]", "output": None}]}))
    with ScriptedModel() as model:
        model.default = Reply(RIGHT)
        evaluate(
            tmp_path / "data", tmp_path / "out", "--actions", "optimize", "--arms", "single shot", url=model.base_url
        )
    (row,) = results(tmp_path / "out")
    assert "no edit" in row["message"]
    assert (row["offered"], row["passed"]) == (True, faster)


def first(xs: list[int]) -> int | bool:
    return xs[0] if xs[0] else 0


def emptied(xs: list[int]) -> int | bool:
    return xs.pop(0)


def truth(xs: list[int]) -> int | bool:
    return xs[0] or False


def fussy(xs: list[int]) -> int | bool:
    return xs[0] if xs[0] >= 0 else -1


def endless(xs: list[int]) -> int | bool:
    while xs:
        pass
    return 0


@pytest.mark.parametrize(("new", "alike"), [(first, True), (emptied, False), (truth, False), (fussy, False)])
def test_a_rewriting_returns_the_same_and_leaves_the_same(new: Any, alike: bool) -> None:
    with nullcontext() if alike else pytest.raises(AssertionError):
        same_behavior(new, first, [[[1]], [[0]], [[-2, 3]], [[]]])


def test_cases_on_which_references_disagree_are_ignored() -> None:
    same_result(fussy, [first, fussy], [[[2]], [[-2]], [[]]])
    same_result(first, [endless, first], [[[2]]])
    with pytest.raises(AssertionError, match="-2"):
        same_result(fussy, [first], [[[-2]]])


@pytest.mark.parametrize(("new", "is_another"), [("x + x", True), ("2*x  # the same", False)])
def test_a_change_of_layout_is_not_a_rewrite(new: str, is_another: bool) -> None:
    text = 'def double(x):\n    """Twice{}."""\n    return {}\n'
    with nullcontext() if is_another else pytest.raises(AssertionError, match="nothing changed"):
        rewritten(f"import os\n{text.format(' x', new)}", text.format("", "2 * x"), "double")


def test_an_interrupted_run_is_resumed_and_replayed_without_a_model(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ScriptedModel() as model:
        model.default = Reply(RIGHT)
        evaluate(data, out, "--arms", "single shot", url=model.base_url)
        asked = len(model.requests)
        evaluate(data, out, "--arms", "single shot", url=model.base_url)
        assert len(model.requests) == asked, "what was done is not done again"
    for file in out.glob("results-*.jsonl"):
        file.unlink()
    table = evaluate(data, out, "--arms", "single shot", "--recorded")
    assert "| debug | single shot | 1 | 100.0 % |" in table
    assert results(out)[0]["passed"] is True


def test_the_memory_holds_other_tasks_and_known_ones_are_asked_again(tmp_path: Path) -> None:
    """A twin of the case is found for it; the case's own solution only where it is asked for in other words."""
    pytest.importorskip("lancedb", reason="the extra memory is not installed")
    words = {"1": "the sum of the numbers of a list", "2": "the sum of all numbers in a list", "3": "roman numerals"}
    lines = [
        {
            "task_id": f"MBPP/{number}",
            "prompt": f'def task_{number}(xs):\n  """\n  Find {text}.\n  >>> task_{number}([1])\n  1\n  """\n',
            "canonical_solution": "  return sum(xs)",
            "entry_point": f"task_{number}",
            "test": f"def check(candidate):\n  assert candidate([2]) == 2, {number}\n",
            "description": f"Write a function to find {text}.",
        }
        for number, text in words.items()
    ]
    more = [
        {
            "task_id": line["task_id"].replace("MBPP", "Mbpp"),
            "entry_point": line["entry_point"],
            "canonical_solution": f"def {line['entry_point']}(xs):\n  return sum(xs)\n",
            "base_input": [[[1]]],
            "plus_input": [[[3, 4]]],
        }
        for line in lines
    ]
    for name, rows in {"mbxp/mbpp_release_v1.jsonl": lines, "evalplus/MbppPlus.jsonl": more}.items():
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True)
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (case,) = load(tmp_path / "data", ("generate",), 1, seed=2)
    with ScriptedModel() as model:
        model.default = Reply("I cannot.")
        arguments = ("--actions", "generate", "--cases", "1", "--seed", "2", "--arms", "with memory,again with memory")
        table = evaluate(tmp_path / "data", tmp_path / "out", *arguments, url=model.base_url)

    other, again = results(tmp_path / "out")
    assert case.unit in ("task_1", "task_2"), "another seed is needed: the third task has no twin"
    assert [each["own"] for each in other["remembered"]] == [False]
    assert again["remembered"][0]["own"] is True
    assert "*again with memory*: in 1 of 1 cases" in table


def test_the_table_counts_harm_and_pairs_cases() -> None:
    def row(case: str, arm: str, passed: bool, offered: bool = True) -> dict[str, object]:
        sums = {"calls": 1, "tokens": 10, "seconds": 1.0, "confidence": 0.5}
        return {"case": case, "action": "debug", "arm": arm, "passed": passed, "offered": offered, **sums}

    rows = [row("a", "single shot", True), row("b", "single shot", False), row("c", "single shot", True)]
    rows += [row("a", "stet", False), row("b", "stet", True), row("c", "stet", False, offered=False)]
    line = markdown(rows).splitlines()[-1].split(" | ")
    assert line[2:4] == ["3", "33.3 %"]
    assert line[5].startswith("-33.3")
    assert line[6] == "33.3 %", "right before, now wrong and offered: one of three; an abstention is no harm"
    assert line[7] == "33.3 %"


def test_the_interval_of_a_share() -> None:
    low, high = wilson(8, 10)
    assert 0.48 < low < 0.50
    assert 0.94 < high < 0.95


def test_a_reply_comes_piece_by_piece_and_one_that_is_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    rest = threading.Event()
    with ScriptedModel() as model:
        model.default = Reply("one two three", hold=rest, hold_at=2)
        asyncio.run(_read(tmp_path, model.base_url, until="two"))
        model.wait_disconnect()
        assert not list(tmp_path.rglob("*.json"))
        rest.set()
        asyncio.run(_read(tmp_path, model.base_url, until="three"))
        assert len(model.requests) == 2
    (kept,) = tmp_path.rglob("*.json")
    seconds = [second for second, _ in json.loads(kept.read_text())["pieces"]]
    assert len(seconds) > 1
    assert seconds == sorted(seconds)
    asyncio.run(_read(tmp_path, None, until="three"))


async def _read(folder: Path, upstream: str | None, *, until: str) -> None:
    """Reads a reply through the recorder up to a word, and then hangs up or, if it was the last, reads to the end."""
    recorder = Recorder(folder, upstream)
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": True}
    async with (
        recorder.open(),
        asyncio.timeout(60),
        httpx2.AsyncClient(timeout=60) as client,
        client.stream("POST", f"{recorder.base_url}/chat/completions", json=body) as response,
    ):
        text = ""
        async for piece in response.aiter_text():
            text += piece
            if until in text and until != "three":
                return
    assert until in text
