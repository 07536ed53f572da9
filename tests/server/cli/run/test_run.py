"""`stet run`: one job from the command line, and what becomes of its edit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.engine import asks_for_tests, code_reply, reply_of_tests
from support.processes.command import Stet
from support.projects.sums import BROKEN, FIXED, reply
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint


def test_run_prints_a_diff_with_its_evidence_by_default(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply(reply(FIXED))

    ran = stet("run", "debug", "sums.py:3")

    assert ran.status == 0
    assert ran.out.startswith("--- a/sums.py\n+++ b/sums.py\n")
    assert "-    return resutl\n+    return result\n" in ran.out
    assert "✓ syntax: " in ran.out
    assert "– tests: no project test uses `total`" in ran.out
    assert "\x1b" not in ran.out, "no colours in a pipe"
    assert file.read_text() == BROKEN
    assert "Undefined name `resutl`" in scripted.requests[0].prompt, "what the linter says takes the editor's place"


def test_diff_output_is_a_patch_that_git_applies(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    """A last line without an end, and carriage returns, are where patches go wrong."""
    file.write_bytes(BROKEN.replace("\n", "\r\n").encode().removesuffix(b"\r\n"))
    scripted.reply(reply(FIXED))

    ran = stet("run", "debug", "sums.py", "--diff")

    assert ran.status == 0, ran.err
    patch = file.parent / "edit.patch"
    patch.write_bytes(ran.out.encode())
    subprocess.run(["git", "apply", "edit.patch"], cwd=file.parent, check=True, capture_output=True)
    assert file.read_bytes() == FIXED.replace("\n", "\r\n").encode().removesuffix(b"\r\n")


def test_json_output_is_the_answer(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply(reply(FIXED))

    ran = stet("run", "debug", "sums.py", "--json")

    answer = json.loads(ran.out)
    assert ran.status == 0
    assert answer["success"] is True
    assert answer["edits"][0]["path"] == str(file)
    assert answer["metadata"]["model"] == "scripted-7b"
    assert {item["check"] for item in answer["evidence"]} >= {"syntax", "tests"}


def test_instruction_constraints_and_context_reach_the_model(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply(reply(FIXED))

    stet(
        "run", "refactor", "sums.py:3", "--instruction", "Shorten it.", "--constraint", "No imports.",
        "--context", "version=the answer is 42",
    )  # fmt: skip

    for text in ("Shorten it.", "No imports.", "the answer is 42"):
        assert text in scripted.requests[0].prompt


def test_standard_input_is_a_target(stet: Stet, scripted: ScriptedModel) -> None:
    scripted.reply(reply(FIXED))

    ran = stet("run", "debug", "-", "--language", "py", stdin=BROKEN)

    assert ran.status == 0, ran.err
    assert ran.out.startswith("--- a/stdin\n+++ b/stdin\n")


def test_a_shebang_sets_the_language_of_a_name_without_suffix(
    stet: Stet, scripted: ScriptedModel, folder: Path
) -> None:  # fmt: skip
    (folder / "sums").write_text(f"#!/usr/bin/env python3\n{BROKEN}")
    scripted.reply(reply(f"#!/usr/bin/env python3\n{FIXED}"))

    ran = stet("run", "debug", "sums", "--json")

    assert json.loads(ran.out)["language"] == "python", ran.err
    assert "Undefined name `resutl`" in scripted.requests[0].prompt


def test_an_edit_that_does_not_parse_is_never_offered(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply(reply(FIXED.replace("items:", "items")))

    ran = stet("run", "debug", "sums.py", "--apply")

    assert (ran.status, ran.out) == (1, "")
    assert file.read_text() == BROKEN


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_refuted_edit_is_shown_as_refuted(
    stet: Stet, scripted: ScriptedModel, file: Path, option: tuple[str, ...]
) -> None:
    scripted.default = Reply(reply(BROKEN.replace("return resutl", "return rsult")))

    ran = stet("run", "debug", "sums.py", *option)

    assert ran.status == 1
    assert "+    return rsult" in ran.out or '"edits": [' in ran.out, "it is shown all the same"
    said = (
        '"message": "REFUTED \u00b7 Tried to fix `total` \u00b7 '
        if option
        else "REFUTED \u00b7 10 % sure \u00b7 Tried to fix `total`\n"
    )
    assert said in (ran.out if option else ran.err)
    assert "Fixed" not in ran.out + ran.err
    head, line = stet("stats", "--by", "action").out.splitlines()[:2]
    output = dict(zip(head.split(), line.split(), strict=False))
    assert (output["offered"], output["refuted"]) == ("0", "1")
    assert " refuted " in stet("trace", "list").out.splitlines()[1]


def test_failing_tests_are_shown_even_if_none_is_kept(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    file.write_text(FIXED)
    tests = "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 4\n"
    scripted.default = Reply(f"PLAN: one test\nTESTS:\n```python\n{tests}```\n")

    ran = stet("run", "test", "sums.py:1")

    assert ran.status == 1
    assert "assert total([1, 2]) == 4" in ran.out, ran.err
    assert stet("run", "test", "sums.py:1", "--diff").out == ""


def test_an_explanation_is_markdown(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply("It adds the items up, then returns a **misspelt** name, which raises a NameError.")

    ran = stet("run", "explain", "sums.py:3")

    assert ran.status == 0, ran.err
    assert "a **misspelt** name" in ran.out


def test_show_prompt_sends_no_request(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    plain = stet("run", "debug", "sums.py", "--show-prompt")
    as_json = stet("run", "debug", "sums.py", "--show-prompt", "--json")

    assert plain.status == as_json.status == 0
    assert plain.out.startswith("[system]\n")
    prompt = json.loads(as_json.out)
    assert [message["role"] for message in prompt["messages"]] == ["system", "user"]
    assert set(prompt) == {"messages", "tokens", "parts", "redactions", "left_out", "endpoint"}
    assert scripted.requests == []


def test_a_dead_endpoint_exits_with_3_without_trying_another_model(stet: Stet, file: Path) -> None:
    with dead_endpoint() as address:
        ran = stet("run", "explain", "sums.py", STET_BASE_URL=address)

    assert (ran.status, ran.out) == (3, "")
    assert len(ran.err.splitlines()) == 1
    assert address in ran.err


@pytest.mark.parametrize("level", ["partial", "strong", "full"])
def test_an_unavailable_isolation_level_exits_with_4(
    stet: Stet, scripted: ScriptedModel, file: Path, level: str
) -> None:
    Path(stet.environment["STET_HOME"], "config.toml").write_text('[sandbox]\nbackend = "podman:nowhere"\n')

    ran = stet("run", "debug", "sums.py", "--sandbox-level", level)

    assert (ran.status, ran.out) == (4, "")
    assert f"isolation {level} is required, and only none is available here" in ran.err
    assert scripted.requests == []


def test_a_refusal_names_the_target_and_what_to_do(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply("I am sorry, I cannot.")

    ran = stet("run", "refactor", "sums.py:3")

    assert (ran.status, ran.out) == (1, "")
    *_, said, ways = ran.err.splitlines()
    assert said.startswith("error: sums.py:3: Refactor: no edit. ")
    assert ways.startswith(
        "hint: try again, add details with `--instruction`, select fewer lines (FILE:LINE-LINE), or "
    )


def test_an_unusable_target_is_named(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / "large.py").write_text("".join(f"x{number} = {number} * {number}\n" for number in range(9000)))

    ran = stet("run", "refactor", "large.py")

    assert (ran.status, ran.out) == (2, "")
    *_, said, ways = ran.err.splitlines()
    assert said.startswith("error: large.py: the document is about ")
    assert ways.startswith("hint: select a part of a file with FILE:LINE-LINE or FILE::NAME")
    assert stet("run", "generate", "large.py").err.startswith("error: large.py: Generate needs an instruction: ")
    assert scripted.requests == []


def test_paths_in_a_patch_have_no_dot_segments(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply(reply(FIXED))

    ran = stet("run", "debug", f"../{file.parent.name}/sums.py", "--diff")

    assert ran.out.startswith("--- a/sums.py\n+++ b/sums.py\n")


def test_an_addition_to_a_whole_file_removes_nothing(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    before = "class Basket:\n    pass\n\n\nclass Shelf:\n    pass\n"
    words = "def words(text):\n    return len(text.split())\n"
    (folder / "shop.py").write_text(before)
    scripted.reply(reply(words))

    asked = ("run", "generate", "shop.py", "--instruction", "add a function words", "--apply", "--budget", "quick")
    ran = stet(*asked, "--accept-risk", "not-run")

    assert ran.status == 0, ran.err
    assert (folder / "shop.py").read_text() == f"{before}\n\n{words}"


@pytest.mark.parametrize("replies", ["the same test", "no code"])
def test_a_task_continues_after_a_test_step_that_adds_nothing(
    stet: Stet, scripted: ScriptedModel, file: Path, folder: Path, replies: str
) -> None:
    file.write_text(FIXED)
    test = "def test_total():\n    assert total([1, 2]) == 3\n"
    (folder / "test_sums.py").write_text(f"from sums import total\n\n\n{test}")
    again = test.replace("test_total", "test_total_of_two")
    scripted.on(asks_for_tests, "I write none.")
    step = reply_of_tests(again) if replies == "the same test" else "The tests are there already."
    scripted.on(lambda body: "Now do step 1 alone" in str(body["messages"]), step)
    mean = "def mean(items):\n    return total(items) / len(items)\n"
    scripted.replies(["1. test | sums.py | total | cover it\n2. generate | sums.py | new | add a mean"])
    scripted.default = Reply(reply(mean))

    ran = stet("run", "task", "sums.py", "--instruction", "add a mean, and see that the sum is tested", "--apply")

    assert ran.status == 0, ran.err
    assert "Did 1 of 2 steps" in ran.err, ran.err
    assert "skipped test `total` in sums.py: " in ran.err
    assert "def mean(items):" in file.read_text()
    assert (folder / "test_sums.py").read_text().count("def test_") == 1


def test_the_same_request_is_answered_from_the_cache_in_the_next_process(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    (folder / "signs.py").write_text("def double(n):\n    result = n + n\n    return result\n")
    scripted.default = code_reply("def double(n):\n    return n + n")
    words = ("run", "refactor", "signs.py::double", "--budget", "quick", "--json")
    first, second = (json.loads(stet(*words, STET_MODEL_CACHE="true").out) for _ in range(2))
    assert len(scripted.requests) == 1
    assert (second["metadata"]["cached"], second["metadata"]["calls"]) == (1, 0)
    assert second["code"] == first["code"]
    json.loads(stet(*words, "--no-cache", STET_MODEL_CACHE="true").out)
    assert len(scripted.requests) == 2
