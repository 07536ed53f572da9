"""The extension in VS Code's real workbench: palette, input box, light bulb, cancel, reports."""

from __future__ import annotations

import re
import threading
import time
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


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Iterator[VSCode]:
    with VSCode(tmp_path_factory.mktemp("vscode"), environment, [*stet_argv(), "--stdio"]) as editor:
        yield editor


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


def test_a_refuted_edit_is_previewed_next_to_all_its_evidence(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    wrong = "def sign(x):\n    return (x > 0) + (x < 0)\n"
    scripted.default = Reply(f"CODE:\n```python\n{wrong}```\n")
    workbench.choose("Refactor `sign`")
    scripted.wait_request()
    workbench.text('.tab:has-text("Preview evidence-")')
    evidence = workbench.preview("differential: failed")
    assert "counter_example_sign.py" in evidence
    workbench.click('.monaco-button:has-text("Discard")')
    workbench.text(f'{NOTIFICATION}:has-text("did not apply")')
    assert file.read_text(encoding="utf-8") == BEFORE


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
