"""VS Code's real workbench where a window is an unusual one: untrusted, dark, large, without a folder, open twice."""

from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.editors import vscode
from support.editors.signs import AFTER, BEFORE, REPLY
from support.editors.vscode import INPUT, LENS, NOTIFICATION, SECONDS, STATUS, VERDICT, VSCode, wait_saved
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

pytestmark = [
    pytest.mark.editor,
    pytest.mark.timeout(900),
    pytest.mark.skipif(vscode.missing() is not None, reason=str(vscode.missing())),
]

READY = f'{STATUS}:has-text("Stet ✓")'
DIFF_OF_FILE = ".multiDiffEntry"
NUMBERS = itertools.count(1)
REFUTED = '.tab:has-text("Stet: Refactor `sign` ✗")'
REFUTED_LINE = ".monaco-diff-editor .modified .view-line"
SETTINGS = {
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.emptyWindow": False,
    "workbench.colorTheme": "Default Dark Modern",
    "stet.editor.preview": "auto",
}


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Iterator[VSCode]:
    """A dark workbench that trusts no folder, with the server that installed its extension, which is not on PATH."""
    folders = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if not Path(folder, "stet").exists())
    env = {**environment, "PATH": path, "SHELL": "/bin/false"}
    with VSCode(tmp_path_factory.mktemp("vscode"), env, SETTINGS, stet=stet_argv()) as editor:
        yield editor


@pytest.fixture
def file(workbench: VSCode, scripted: ScriptedModel) -> Path:
    """A file that is open in the workbench; its name is new, since VS Code restores unsaved text by name."""
    scripted.default = Reply(REPLY)
    file = workbench.open(f"signs{next(NUMBERS)}.py", BEFORE)
    workbench.text(READY)
    return file


def test_a_note_says_once_what_works_in_an_untrusted_folder(workbench: VSCode, file: Path) -> None:
    message = f'{NOTIFICATION}:has-text("in a folder that you do not trust, all actions work")'
    assert "its Python are ignored." in workbench.text(message)
    workbench.text(f'{message} .monaco-button:has-text("Manage Trust")')
    assert len(workbench.messages()) == 1
    workbench.picture("untrusted")
    workbench.choose("Refactor `sign`")
    workbench.text(f'{LENS}:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(file, AFTER)
    workbench.open_again("again.py", BEFORE)
    workbench.text(READY)
    workbench.choose("Refactor `sign`")
    workbench.text(f'{LENS}:has-text("Keep")')
    assert workbench.messages() == []


def test_an_edit_of_several_files_is_a_list_of_diffs(workbench: VSCode, file: Path) -> None:
    user = workbench.work / "user.py"
    uses = f"from {file.stem} import sign\n\nprint(sign(3))\n"
    user.write_text(uses, encoding="utf-8")
    workbench.palette("Stet: Do a Task…")
    workbench.text(INPUT)
    workbench.type("rename sign to signum")
    workbench.press("Enter")
    workbench.text(f'{DIFF_OF_FILE}:has-text("{file.name}")')
    workbench.text(f'{DIFF_OF_FILE}:has-text("user.py")')
    workbench.text('.editor-actions .action-label:has-text("Show Evidence")')  # there is no counter-example
    workbench.gone('.editor-actions .action-label:has-text("Counter-example")')
    workbench.picture("several")
    other = workbench.work / "other.py"
    other.write_text("x = 1\n", encoding="utf-8")
    workbench.click('.explorer-folders-view .monaco-list-row:has-text("other.py")')
    workbench.text('.tab.active:has-text("other.py")')
    workbench.click('.tab:has-text("Stet: Do a task")')  # it waits, whatever else is opened
    workbench.click('.editor-actions .action-label:has-text("Apply")')
    wait_saved(file, BEFORE.replace("sign", "signum"))
    wait_saved(user, uses.replace("sign(", "signum(").replace("import sign", "import signum"))


def test_a_plan_is_a_document_to_edit_and_run_and_its_task_is_listed(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    plan = f"refactor | {file.name} | sign | compare once\nguard | - | - | secrets\n"
    scripted.on(lambda body: "Plan the change" in str(body["messages"]), plan)
    workbench.palette("Stet: Plan a Task…")
    workbench.text(f'{INPUT}:has-text("What should be done?")')
    workbench.type("both at once")
    workbench.press("Enter")
    workbench.text('.view-line:has-text("compare once")')
    workbench.picture("plan")
    workbench.press("Control+Home")
    workbench.type("constraint: keep the name\n")
    workbench.palette("Stet: Run This Plan")
    assert "keep the name" in scripted.wait_request(2, SECONDS).prompt
    workbench.gone(f'{NOTIFICATION}:has-text("Do a Task")')
    workbench.palette("Stet: Tasks…")
    workbench.text(f'{INPUT}:has-text("both at once")')
    workbench.press("Enter")
    workbench.text(f'{INPUT}:has-text("Export")')
    workbench.press("Enter")
    workbench.text('.view-line:has-text("both at once")')


def test_light_and_dark_themes_color_what_is_shown(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply("CODE:\n```python\ndef sign(x):\n    return (x > 0) + (x < 0)\n```\n")
    workbench.choose("Refactor `sign`")
    workbench.text(REFUTED)
    workbench.picture("dark")
    seen = {}
    for theme in ("vs-dark", "vs"):
        workbench.text(f".monaco-workbench.{theme}")
        verdict = workbench.style(f"{REFUTED_LINE} span[class*=ced-]", "color", "::after")
        seen[theme] = verdict, workbench.style(".monaco-editor", "backgroundColor")
        workbench.palette("Preferences: Toggle between Light/Dark Themes")
    assert seen["vs-dark"] != seen["vs"]
    for theme, (verdict, paper) in seen.items():
        assert contrast(verdict, paper) >= 3, (theme, verdict, paper)


def contrast(*colors: str) -> float:
    """The contrast of two opaque colors, from 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    lights = []
    for color in colors:
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(lights) / min(lights)


TIDY = '[[actions]]\nname = "tidy"\ntitle = "Tidy"\ninstruction = "Tidy {name}."\nlanguages = ["python"]\n'


def test_a_question_is_found_again_after_vs_code_has_hidden_it(workbench: VSCode, file: Path) -> None:
    (workbench.work / ".stet.toml").write_text(TIDY, encoding="utf-8")
    workbench.text(READY)
    workbench.choose("Tidy (project action, asks first)")
    workbench.text(f'{NOTIFICATION}:has-text("Trust the actions of this project?")')
    workbench.text(f'{NOTIFICATION}:has-text("Stet: Tidy: waiting for your answer")')
    workbench.press("Escape")  # VS Code hides notifications by itself, too, after some seconds
    workbench.gone(f'{NOTIFICATION}:has-text("Trust the actions")')
    workbench.click(f'{STATUS}:has-text("Stet asks")')
    workbench.text('.quick-input-list .monaco-list-row.focused:has-text("Answer Stet\'s Question")')
    workbench.press("Enter")
    workbench.click('.notifications-center .monaco-button:has-text("Trust these actions")')
    workbench.text('.tab:has-text("Stet: Tidy `sign`")')
    workbench.click('.editor-actions .action-label:has-text("Discard")')
    workbench.text(READY)
    (workbench.work / ".stet.toml").unlink()


def test_an_action_on_another_scheme_is_refused_in_one_sentence(workbench: VSCode, file: Path) -> None:
    workbench.palette("Preferences: Open Default Settings (JSON)")
    workbench.text('.tab.active:has-text("defaultSettings.json")')
    workbench.palette("Stet: Explain")
    workbench.text(f'{NOTIFICATION}:has-text("documents are not files of this machine. Save a copy and open it.")')
    assert len(workbench.messages()) == 1


def test_two_windows_on_one_folder_work_next_to_each_other(workbench: VSCode, file: Path) -> None:
    workbench.call("window", number=1)
    try:
        workbench.show(file, f"folder={workbench.work}")
        workbench.text(READY)
        workbench.choose("Refactor `sign`")
        workbench.text(f'{LENS}:has-text("Keep")')
        workbench.press("Control+S")
        wait_saved(file, AFTER)
    finally:
        workbench.call("leave")
        workbench.call("window", number=0)
    workbench.text('.view-line:has-text("(x > 0) - (x < 0)")')
    workbench.palette("Stet: Explain")
    workbench.preview("compare once")
    assert workbench.messages() == []


def test_a_job_whose_file_is_renamed_is_offered_again(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    workbench.choose("Refactor `sign`")
    scripted.wait_request(timeout=SECONDS)
    workbench.palette("File: Reveal Active File in Explorer View")
    workbench.text(f'.explorer-folders-view .monaco-list-row.focused:has-text("{file.name}")')
    workbench.press("F2")
    workbench.text(".explorer-item input")
    workbench.press("Control+A")
    workbench.type("renamed.py")
    workbench.press("Enter")
    message = f'{NOTIFICATION}:has-text("Refactor was stopped: its file is renamed.py now. No text was changed.")'
    workbench.text(message)
    workbench.picture("renamed")
    others = [each for each in workbench.messages() if "do not trust" not in each]  # that note may still be there
    assert len(others) == 1
    release.set()
    scripted.default = Reply(REPLY)
    workbench.click(f'{message} .monaco-button:has-text("Run Refactor Again")')
    workbench.text(f'{LENS}:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(workbench.work / "renamed.py", AFTER)


def test_a_setting_that_changes_while_the_server_starts_counts(workbench: VSCode, file: Path) -> None:
    workbench.configure("Machine", {"stet.server.command": ["sleep", "600"]})
    workbench.gone(READY)
    workbench.configure("Machine", {"stet.server.command": [*stet_argv("--stdio")]})
    workbench.text(READY)
    assert [each for each in workbench.messages() if "do not trust" not in each] == []  # that note may still be there


def test_a_file_of_50_000_lines(workbench: VSCode, scripted: ScriptedModel) -> None:
    scripted.default = Reply(REPLY)
    rest = "".join(f"def f{n}(a, b):\n    return a + b * {n}\n\n\n" for n in range(12_500))
    large = workbench.open("large.py", f"{BEFORE}\n\n{rest}")
    workbench.text(READY)
    workbench.choose("Refactor `sign`")
    # Its module is too large to run: the edit waits for a decision, and the verdict says so.
    workbench.text(f'{VERDICT}:has-text("not executed")')
    workbench.click('.editor-actions .action-label:has-text("Apply")')
    workbench.text(f'{LENS}:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(large, f"{AFTER}\n\n{rest}")
    assert workbench.messages() == []


def test_a_window_without_a_folder(workbench: VSCode, file: Path) -> None:
    workbench.show(file, "ew=true")
    workbench.text(READY)
    workbench.choose("Refactor `sign`")
    workbench.text(f'{LENS}:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(file, AFTER)
    assert workbench.messages() == []
