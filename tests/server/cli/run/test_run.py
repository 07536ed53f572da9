"""`stet run`: one job from the command line, and what becomes of its edit."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.editors.terminal import on_terminal
from support.engine import asks_for_tests, reply_of_tests
from support.processes.command import Stet
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint

BROKEN = '''\
def total(items):
    """The sum."""
    result = 0
    for item in items:
        result += item
    return resutl
'''
FIXED = BROKEN.replace("resutl", "result")


def reply(code: str) -> str:
    return f"PLAN: the name is misspelt\nCODE:\n```python\n{code}```\n"


@pytest.fixture
def file(folder: Path) -> Path:
    file = folder / "sums.py"
    file.write_text(BROKEN)
    return file


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


def test_apply_writes_the_file_and_nothing_else_changes(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    """Byte order mark, line ends and mode are the file's own, and a link stays a link."""
    real = file.rename(file.with_name("real.py"))
    real.write_bytes(b"\xef\xbb\xbf" + BROKEN.replace("\n", "\r\n").encode())
    real.chmod(0o751)
    file.symlink_to(real)
    scripted.reply(reply(FIXED))

    ran = stet("run", "debug", "sums.py", "--apply")

    assert ran.status == 0, ran.err
    assert ran.out.startswith("wrote sums.py\n")
    assert real.read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert real.stat().st_mode & 0o777 == 0o751
    assert file.is_symlink()
    assert {each.name for each in file.parent.iterdir()} == {"real.py", "sums.py"}, "no temporary file is left"


def test_a_file_that_changed_during_the_run_is_not_written(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    """The model's answer and the person's save cross."""

    def save(body: object) -> str:
        file.write_text("# saved meanwhile\n" + BROKEN)
        return reply(FIXED)

    scripted.replies([save])

    ran = stet("run", "debug", "sums.py", "--apply")

    assert (ran.status, ran.out) == (2, "")
    assert "sums.py changed while the job ran; nothing was written" in ran.err
    assert file.read_text() == "# saved meanwhile\n" + BROKEN


def test_an_edit_that_does_not_parse_is_never_offered(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply(reply(FIXED.replace("items:", "items")))

    ran = stet("run", "debug", "sums.py", "--apply")

    assert (ran.status, ran.out) == (1, "")
    assert file.read_text() == BROKEN


@pytest.mark.parametrize("option", ["--apply", "--diff"])
def test_a_refuted_edit_is_neither_written_nor_printed_as_a_patch(
    stet: Stet, scripted: ScriptedModel, file: Path, option: str
) -> None:
    """It parses, but it uses a name that does not exist."""
    scripted.default = Reply(reply(BROKEN.replace("return resutl", "return rsult")))

    ran = stet("run", "debug", "sums.py", option)

    assert (ran.status, ran.out) == (1, "")
    assert "✗ " in ran.err
    assert f"run without `{option}` to see it" in ran.err
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
    told = dict(zip(head.split(), line.split(), strict=False))
    assert (told["offered"], told["refuted"]) == ("0", "1")
    assert " refuted " in stet("trace", "list").out.splitlines()[1]


def test_a_new_test_file_is_shown_then_written(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    file.write_text(FIXED)
    tests = "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    scripted.default = Reply(f"PLAN: one test\nTESTS:\n```python\n{tests}```\n")

    shown = stet("run", "test", "sums.py:1")
    written = stet("run", "test", "sums.py:1", "--apply")

    assert shown.status == 0, shown.err
    assert "--- /dev/null\n" in shown.out
    assert "+    assert total([1, 2]) == 3\n" in shown.out
    assert written.status == 0, written.err
    name = written.out.splitlines()[0].removeprefix("wrote ")
    assert "assert total([1, 2]) == 3" in (file.parent / name).read_text()
    assert file.read_text() == FIXED


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


def test_a_task_writes_all_its_files_or_none_of_them(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.on(asks_for_tests, "I write none.")
    plan = "debug | sums.py | total | the name\ngenerate | means.py | mean | the mean"
    for asked, said in {"steps": plan, "Find the bug": reply(FIXED), "Write the code": reply("MEAN = 0\n")}.items():
        scripted.on(lambda body, asked=asked: asked in str(body["messages"]), said)
    words = ("run", "task", "sums.py", "--instruction", "Fix the sum and add the mean.", "--apply")

    unasked = stet(*words)

    assert unasked.status == 4, "a new file that nothing ran is seen first"
    assert "means.py, which nothing executed" in unasked.err
    assert file.read_text() != FIXED
    assert not (file.parent / "means.py").exists()

    (file.parent / "means.py").write_text("")
    ran = stet(*words)

    assert ran.status == 0, ran.err
    assert file.read_text() == FIXED
    assert (file.parent / "means.py").read_text() == "MEAN = 0\n"
    assert "Did 2 steps" in ran.out + ran.err


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


Scripting = Callable[[ScriptedModel], object]


@pytest.mark.parametrize(
    "script",
    [
        lambda model: model.reply(""),
        lambda model: model.reply("I am sorry, I cannot."),
        lambda model: model.reply(mode="html"),
    ],
)
def test_unusable_replies_change_no_file(stet: Stet, scripted: ScriptedModel, file: Path, script: Scripting) -> None:
    for _ in range(4):
        script(scripted)

    ran = stet("run", "debug", "sums.py", "--apply")

    assert ran.status in (1, 3)
    assert ran.out == ""
    assert len(ran.err.splitlines()) >= 1
    assert "Traceback" not in ran.err
    assert file.read_text() == BROKEN


def test_a_new_file_that_no_check_ran_is_not_written_without_a_flag(
    stet: Stet, scripted: ScriptedModel, file: Path
) -> None:
    scripted.on(asks_for_tests, "I write none.")
    scripted.replies(["generate | more.py | new | a mean"])
    scripted.default = Reply(reply("def mean(values):\n    return sum(values) / len(values)\n"))

    ran = stet("run", "task", "sums.py", "--instruction", "add a mean", "--apply")

    assert ran.status == 4
    assert ran.err.splitlines()[-2] == "hint: to write it anyway, add --accept-risk new-file"
    assert "nothing was written: the edit creates more.py, which nothing executed" in ran.err
    assert [each.name for each in file.parent.iterdir()] == ["sums.py"]

    scripted.replies(["generate | more.py | new | a mean"])
    shown = stet("run", "task", "sums.py", "--instruction", "add a mean")
    assert shown.err.splitlines()[-2].startswith("New file more.py · "), "what is new is said first"


MEAN = "def mean(values):\n    {}\n"


def test_an_edit_that_no_check_ran_is_not_written_without_an_example_or_a_flag(
    stet: Stet, scripted: ScriptedModel, folder: Path
) -> None:
    stub = MEAN.format("...")
    (folder / "means.py").write_text(stub)
    scripted.models = ("gpt-5",)
    scripted.default = Reply(reply(MEAN.format("return sum(values) / len(values)")))
    asked = ("run", "generate", "means.py::mean", "--apply", "--instruction")

    refused = stet(*asked, "the mean")
    assert (refused.status, (folder / "means.py").read_text()) == (1, stub), refused.err
    assert "error: nothing was written: no check ran it; give an example: mean(...) == ..." in refused.err

    proven = stet(*asked, "the mean; mean([1, 3]) gives 2.0")
    assert proven.status == 0, proven.err
    assert "sum(values)" in (folder / "means.py").read_text()


def test_an_example_given_on_the_terminal_proves_the_edit_without_another_call(
    scripted: ScriptedModel, folder: Path, stet: Stet
) -> None:
    (folder / "means.py").write_text(MEAN.format("..."))
    scripted.models = ("gpt-5",)
    scripted.default = Reply(reply(MEAN.format("return sum(values) / len(values)")))
    words = ("run", "generate", "means.py::mean", "--apply", "--instruction", "the mean")
    status, drawn = on_terminal(stet_argv(*words), folder, stet.environment, "mean([1, 3]) == 2.0\n")

    assert "No check ran this edit. Apply it, or give an example: mean(...) == ...? [y/N/example]" in drawn
    assert status == 0, drawn
    assert "sum(values)" in (folder / "means.py").read_text()
    assert not any("mean([1, 3])" in each.prompt for each in scripted.requests), "the edit is not made again"


def test_an_addition_to_a_whole_file_removes_nothing(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    before = "class Basket:\n    pass\n\n\nclass Shelf:\n    pass\n"
    words = "def words(text):\n    return len(text.split())\n"
    (folder / "shop.py").write_text(before)
    scripted.reply(reply(words))

    asked = ("run", "generate", "shop.py", "--instruction", "add a function words", "--apply", "--budget", "quick")
    ran = stet(*asked, "--accept-risk", "not-run")

    assert ran.status == 0, ran.err
    assert (folder / "shop.py").read_text() == f"{before}\n\n{words}"


def test_an_edit_that_loses_a_class_is_not_written(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    before = "class Basket:\n    pass\n\n\nclass Shelf:\n    pass\n"
    (folder / "shop.py").write_text(before)
    scripted.default = Reply(reply("class Basket:\n    size = 1\n"))

    ran = stet("run", "refactor", "shop.py", "--apply", "--budget", "quick")

    assert ran.status == 1
    assert "`Shelf` is gone" in ran.err
    assert (folder / "shop.py").read_text() == before


DANGEROUS = FIXED.replace(
    "    result = 0\n",
    '    with open("/etc/profile.d/x.sh", "a") as file:\n        file.write("true")\n    result = 0\n',
)


def test_a_dangerous_edit_is_written_only_if_the_danger_is_accepted_by_name(
    stet: Stet, scripted: ScriptedModel, file: Path
) -> None:
    before = file.read_text()
    scripted.default = Reply(reply(DANGEROUS))
    asked = ("run", "debug", "sums.py:3", "--apply")

    refused = stet(*asked)
    assert (refused.status, file.read_text()) == (4, before), refused.err
    assert "nothing was written: the edit adds `/etc/profile.d/x.sh`" in refused.err
    *_, way = refused.err.splitlines()
    assert way == "hint: to write it anyway, add --accept-risk persistence --accept-risk outside-files"

    assert stet(*asked, "--accept-risk", "network").status == 4
    assert stet(*asked, "--accept-risk", "persistence").status == 4
    accepted = stet(*asked, "--accept-risk", "persistence", "--accept-risk", "outside-files")
    assert (accepted.status, "profile.d" in file.read_text()) == (0, True), accepted.err


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
