"""The extension in VS Code's real workbench: palette, input box, light bulb, cancel, reports."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support import vscode
from support.scripted import Reply, ScriptedModel
from support.signs import AFTER, BEFORE, REPLY
from support.stet import stet_argv
from support.vscode import SECONDS, VSCode

pytestmark = [
    pytest.mark.editor,
    pytest.mark.timeout(600),
    pytest.mark.skipif(vscode.missing() is not None, reason=str(vscode.missing())),
]

NOTIFICATION = ".notification-toast"


TOOLS = ("uv", "python3")
"""What an installation needs, from the environment of the tests."""


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Iterator[VSCode]:
    """A workbench that has found no server, and has installed one into an environment of its own."""
    folder = tmp_path_factory.mktemp("vscode")
    tools = folder / "tools"
    tools.mkdir()
    own = Path(sys.executable).parent
    for name in TOOLS:
        (tools / name).symlink_to(own / name)
    rest = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "stet").exists()]
    env = {**environment, "PATH": os.pathsep.join([str(tools), *rest]), "SHELL": "/bin/sh", "UV_OFFLINE": "1"}
    settings = {"stet.server.package": str(starter_wheel(folder)), "stet.editor.preview": "auto"}
    with VSCode(folder, env, settings) as editor:
        editor.open("first.py", BEFORE)
        editor.text(f'{NOTIFICATION}:has-text("the server is not installed")')
        assert len(editor.call("texts", selector=NOTIFICATION)) == 1, "one message for one cause"
        editor.text('.statusbar-item:has-text("Stet ✗ not installed")')
        editor.click(f'{NOTIFICATION} .monaco-button:has-text("Install")')
        editor.text('.statusbar-item:has-text("Stet ✓ scripted")')
        editor.gone(NOTIFICATION)
        yield editor


def starter_wheel(folder: Path) -> Path:
    """A package of the server's name that starts the server of this tree: its installation needs no index."""
    name, about = "stet_ls-0.1.0", "stet_ls-0.1.0.dist-info"
    wheel = folder / f"{name}-py3-none-any.whl"
    start = (
        f"import os, sys\n\n\ndef main():\n    argv = {[*stet_argv()]!r} + sys.argv[1:]\n    os.execv(argv[0], argv)\n"
    )
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("stet_starter.py", start)
        archive.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: stet-ls\nVersion: 0.1.0\nProvides-Extra: full\n"
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/entry_points.txt", "[console_scripts]\nstet = stet_starter:main\n")
        rows = (
            "stet_starter.py",
            f"{about}/METADATA",
            f"{about}/WHEEL",
            f"{about}/entry_points.txt",
            f"{about}/RECORD",
        )
        archive.writestr(f"{about}/RECORD", "".join(f"{row},,\n" for row in rows))
    return wheel


@pytest.fixture
def file(workbench: VSCode, scripted: ScriptedModel) -> Path:
    """A file that is open in the workbench, with the cursor on its first line."""
    scripted.default = Reply(REPLY)
    return workbench.open("signs.py", BEFORE)


def wait_saved(file: Path, text: str) -> None:
    deadline = time.monotonic() + SECONDS
    while (saved := file.read_text(encoding="utf-8")) != text and time.monotonic() < deadline:
        time.sleep(0.05)
    assert saved == text


def test_refactor_from_the_palette_is_applied_and_undone_in_one_step(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    workbench.palette("Stet: Refactor…")
    workbench.text('.quick-input-widget:has-text("How?")')
    workbench.type("make it one line")
    workbench.press("Enter")
    assert "make it one line" in scripted.wait_request().prompt
    workbench.text('.statusbar-item:has-text("offered"), .statusbar-item .codicon-check')
    workbench.press("Control+S")
    wait_saved(file, AFTER)
    workbench.press("Control+Z")
    workbench.press("Control+S")
    wait_saved(file, BEFORE)


def test_cancel_in_the_notification_stops_the_reply(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    workbench.palette("Stet: Refactor…")
    workbench.text('.quick-input-widget:has-text("How?")')
    workbench.press("Enter")
    scripted.wait_request()
    notification = f'{NOTIFICATION}:has-text("Stet: Refactor")'
    workbench.text(notification)
    workbench.click(f'{notification} .monaco-button:has-text("Cancel")')
    scripted.wait_disconnect()
    workbench.gone(notification)
    workbench.press("Control+S")
    wait_saved(file, BEFORE)


def test_the_notification_shows_the_model_and_the_seconds(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply(REPLY, stall_after=0)
    workbench.palette("Stet: Refactor…")
    workbench.text('.quick-input-widget:has-text("How?")')
    workbench.press("Enter")
    notification = f'{NOTIFICATION}:has-text("Stet: Refactor: asking {scripted.models[0]}, ")'
    assert re.search(r"asking [\w-]+, \d+ s", workbench.text(notification))
    workbench.click(f'{notification} .monaco-button:has-text("Cancel")')
    workbench.gone(NOTIFICATION)


DIFF = '.tab:has-text("Stet: Refactor `sign`")'
VERDICT = ".breadcrumbs-control"
CHANGED = ".monaco-diff-editor .modified .view-line"
WRONG = "def sign(x):\n    return (x > 0) + (x < 0)\n"


def act(workbench: VSCode, title: str) -> None:
    """Presses a button above the diff."""
    workbench.click(f'.editor-actions .action-label[aria-label^="{title}"]')


def test_a_refuted_edit_is_a_diff_below_its_verdict(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply(f"CODE:\n```python\n{WRONG}```\n")
    workbench.choose("Refactor `sign`")
    workbench.text(f'{DIFF}:has-text("✗")')
    assert "✗ changes behavior: `print(sign(-" in workbench.text(VERDICT)
    workbench.text(f'{CHANGED}:has-text("(x > 0) + (x < 0)")')
    workbench.gone(NOTIFICATION)
    workbench.picture(workbench.pictures / "refuted.png")
    act(workbench, "Counter-example")
    workbench.text('.tab:has-text("counter_example_sign.py")')
    workbench.click(DIFF)
    act(workbench, "Discard")
    workbench.gone(DIFF)
    workbench.gone(NOTIFICATION)
    assert file.read_text(encoding="utf-8") == BEFORE


def test_another_instruction_replaces_the_diff_and_its_edit_is_kept(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply(f"CODE:\n```python\n{WRONG}```\n")
    workbench.choose("Refactor `sign`")
    workbench.text(DIFF)
    scripted.default = Reply(REPLY)
    act(workbench, "Try Again…")
    workbench.text('.quick-input-widget:has-text("Try again")')
    workbench.type("subtract")
    workbench.press("Enter")
    workbench.text('.codelens-decoration:has-text("Keep")')
    assert "subtract" in scripted.requests[-1].prompt
    workbench.click('.codelens-decoration a:has-text("Undo")')
    workbench.gone('.codelens-decoration:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(file, BEFORE)


TOTAL = """\
def total(items):
    s = 0
    for item in items:
        s = s + item
    return s
"""
RENAMED = (
    TOTAL.replace("s = 0", "amount = 1")
    .replace("s = s + item", "amount = amount + item")
    .replace("return s", "return amount")
)


def test_a_part_of_an_edit_is_judged_before_it_is_applied(workbench: VSCode, scripted: ScriptedModel) -> None:
    file = workbench.open("total.py", TOTAL)
    scripted.default = Reply(f"CODE:\n```python\n{RENAMED}```\n")
    workbench.choose("Refactor `total`")
    workbench.text('.tab:has-text("Stet: Refactor `total` ✗")')
    workbench.press("Control+Home")
    workbench.press("ArrowDown")
    workbench.palette("Stet: Take This Change Back")
    workbench.text(f'{CHANGED}:has-text("s = 0")')
    act(workbench, "Apply")
    assert "amount" in workbench.text(f'{VERDICT}:has-text("✗ the part you kept")')
    act(workbench, "Apply")  # the user knows, and wants it
    workbench.text(".statusbar-item .codicon-check")
    workbench.press("Control+S")
    wait_saved(file, RENAMED.replace("amount = 1", "s = 0"))


def test_a_killed_server_starts_again_and_offers_the_job(
    workbench: VSCode, scripted: ScriptedModel, file: Path, environment: Mapping[str, str]
) -> None:
    scripted.default = Reply(REPLY, stall_after=0)
    workbench.palette("Stet: Refactor…")
    workbench.text('.quick-input-widget:has-text("How?")')
    workbench.press("Enter")
    scripted.wait_request()
    workbench.text('.statusbar-item:has-text("Stet 1 running")')
    os.kill(server_of(environment["STET_HOME"]), signal.SIGKILL)
    workbench.text(f'{NOTIFICATION}:has-text("the server ended (SIGKILL); no text was changed. It was started again.")')
    assert len(workbench.call("texts", selector=NOTIFICATION)) == 1, "one message for one cause"
    scripted.default = Reply(REPLY)
    workbench.click(f'{NOTIFICATION} .monaco-button:has-text("Run Refactor Again")')
    workbench.text(".statusbar-item .codicon-check")
    workbench.press("Control+S")
    wait_saved(file, AFTER)


def server_of(home: str) -> int:
    """The process of the server that has this home."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            argv, env = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if argv.rstrip(b"\0").endswith(b"--stdio") and f"STET_HOME={home}".encode() in env.split(b"\0"):
            return int(folder.name)
    raise AssertionError("no server runs")


def test_the_menu_of_the_status_cancels_a_job(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply(REPLY, stall_after=0)
    workbench.press("Control+Shift+J")
    workbench.press("r")
    title = workbench.text(".quick-input-widget .quick-input-title")
    assert title == "Stet: Refactor — `sign`, lines 1–7"
    workbench.press("Enter")
    scripted.wait_request()
    workbench.click('.statusbar-item:has-text("Stet 1 running")')
    workbench.text('.quick-input-list .monaco-list-row.focused:has-text("Cancel Refactor")')
    workbench.press("Enter")
    scripted.wait_disconnect()
    workbench.text('.statusbar-item:has-text("Stet ✓")')


def test_escape_in_the_input_box_starts_nothing(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    workbench.palette("Stet: Refactor…")
    workbench.text('.quick-input-widget:has-text("How?")')
    workbench.press("Escape")
    workbench.gone(".quick-input-widget")
    scripted.default = Reply("It gives the sign of x.")
    workbench.palette("Stet: Explain")
    workbench.text('.tab:has-text("Preview explain-")')
    assert len(scripted.requests) == 1


def test_an_action_of_the_light_bulb_is_applied(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)  # the notification goes with the job
    workbench.choose("Refactor `sign`")
    workbench.text(f'{NOTIFICATION}:has-text("Stet: Refactor")')
    release.set()
    workbench.text(".statusbar-item .codicon-check")
    workbench.press("Control+S")
    wait_saved(file, AFTER)


def test_an_explanation_opens_as_a_document_next_to_the_code(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply("It gives the sign of x.")
    workbench.palette("Stet: Explain")
    workbench.text('.tab:has-text("Preview explain-")')
    workbench.preview("It gives the sign of x.")
    workbench.gone(NOTIFICATION)  # neither the start nor the job asked for attention


def test_a_syntax_error_is_underlined_once_while_typing(workbench: VSCode, scripted: ScriptedModel) -> None:
    workbench.open("sum.py", "x = 1\n")
    workbench.press("End")
    workbench.type(" +")
    workbench.text(".monaco-editor .squiggly-error")
    workbench.type(" 1")
    workbench.gone(".monaco-editor .squiggly-error")


def test_errors_that_vs_code_reports_are_not_repeated(workbench: VSCode, scripted: ScriptedModel) -> None:
    workbench.open("data.json", '{"a": 1,, "b": 2}\n')
    workbench.text(".monaco-editor .squiggly-error")
    workbench.press("Control+Shift+M")
    workbench.text('.markers-panel .monaco-list-row:has-text("json")')
    rows = workbench.call("texts", selector=".markers-panel .monaco-list-row")
    assert not any("stet" in row for row in rows), rows


def test_the_evidence_is_shown_above_the_code_and_can_be_opened(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    workbench.choose("Refactor `sign`")
    scripted.wait_request()
    assert "same behavior on" in workbench.text('.codelens-decoration:has-text("stet:")')
    workbench.palette("Stet: Show Evidence")
    workbench.text('.tab:has-text("Preview evidence-")')
    workbench.preview("same behavior on")
