"""`stet run --apply`: what is written, whole or not at all, and what its user has to accept first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.editors.terminal import on_terminal
from support.engine import asks_for_tests
from support.processes.command import Stet
from support.processes.stet import stet_argv
from support.projects.sums import BROKEN, FIXED, reply
from support.servers.scripted import Reply, ScriptedModel


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


@pytest.mark.parametrize(
    ("option", "printed", "error"),
    [
        ("--apply", "+    return rsult", "nothing was written: a check refuted the edit"),
        ("--diff", "", "nothing was printed: a check refuted the edit; run without `--diff` to see it"),
    ],
)
def test_a_refuted_edit_is_neither_written_nor_printed_as_a_patch(
    stet: Stet, scripted: ScriptedModel, file: Path, option: str, printed: str, error: str
) -> None:
    """It parses, but it uses a name that does not exist."""
    scripted.default = Reply(reply(BROKEN.replace("return resutl", "return rsult")))

    ran = stet("run", "debug", "sums.py", option)

    assert ran.status == 1
    assert printed in ran.out if printed else not ran.out
    assert "✗ " in ran.err
    assert error in ran.err
    assert file.read_text() == BROKEN


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
