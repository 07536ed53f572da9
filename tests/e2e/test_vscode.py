"""The extension in VS Code's real workbench: installed without a server, asked, shown, kept, refused, killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import zipfile
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

DIFF = '.tab:has-text("Stet: Refactor `sign`")'
CHANGED = ".monaco-diff-editor .modified .view-line"
WRONG = "def sign(x):\n    return (x > 0) + (x < 0)\n"
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
    path = os.pathsep.join([str(tools), *rest])
    # The editor takes its PATH from a login shell.
    (Path(environment["HOME"]) / ".profile").write_text(f"export PATH='{path}'\n", encoding="utf-8")
    # A job that stalls must outlive a busy machine's way to its button.
    env = {**environment, "PATH": path, "SHELL": "/bin/sh", "UV_OFFLINE": "1", "STET_DEADLINE": "600"}
    settings = {"stet.server.package": str(starter_wheel(folder)), "stet.editor.preview": "auto"}
    with VSCode(folder, env, settings) as editor:
        editor.open("signs.py", BEFORE)
        editor.text(f'{NOTIFICATION}:has-text("the server is not installed")')
        assert len(editor.messages()) == 1, "one message for one cause"
        editor.text(f'{STATUS}:has-text("Stet ✗ not installed")')
        editor.picture("not-installed")
        editor.click(f'{NOTIFICATION} .monaco-button:has-text("Install")')
        editor.text(f'{STATUS}:has-text("Stet ✓ scripted")')
        editor.gone(NOTIFICATION)
        yield editor


def starter_wheel(folder: Path) -> Path:
    """A package of the server's name that starts the server of this tree: its installation needs no index."""
    name, about = "stet_ls-0.1.0", "stet_ls-0.1.0.dist-info"
    wheel = folder / f"{name}-py3-none-any.whl"
    argv = [*stet_argv()]
    texts = {
        "stet_starter.py": "import os, sys\n\n\ndef main():\n"
        f"    argv = {argv!r} + sys.argv[1:]\n    os.execv(argv[0], argv)\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: stet-ls\nVersion: 0.1.0\nProvides-Extra: full\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\nstet = stet_starter:main\n",
    }
    record = f"{about}/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**texts, record: "".join(f"{row},,\n" for row in (*texts, record))}.items():
            archive.writestr(path, text)
    return wheel


@pytest.fixture
def file(workbench: VSCode, scripted: ScriptedModel) -> Path:
    """A file that is open in the workbench, with the cursor on its first line."""
    scripted.default = Reply(REPLY)
    return opened(workbench, "signs.py", BEFORE)


def opened(workbench: VSCode, name: str, text: str) -> Path:
    """Opens a file in a new workbench, whose keys work once its server runs."""
    file = workbench.open(name, text)
    workbench.text(f'{STATUS}:has-text("Stet ✓")')
    return file


def act(workbench: VSCode, title: str) -> None:
    """Presses a button above the diff."""
    workbench.click(f'.editor-actions .action-label:has-text("{title}")')


def test_an_edit_is_asked_for_applied_and_undone_in_one_step(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    workbench.press("Control+Shift+J")
    workbench.press("r")
    assert workbench.text(f"{INPUT} .quick-input-title") == "Stet: Refactor — `sign`, lines 1–7"
    workbench.text(f'{INPUT}:has-text("How?")')
    workbench.type("make it one line")
    workbench.picture("ask")
    workbench.press("Enter")
    assert "make it one line" in scripted.wait_request(timeout=SECONDS).prompt
    workbench.text(f'{NOTIFICATION}:has-text("Stet: Refactor: asking {scripted.models[0]}, ")')
    workbench.text(f'{STATUS}:has-text("Stet 1 running")')
    workbench.picture("running")
    release.set()
    workbench.text(f'{LENS}:has-text("Keep")')
    assert "same behavior on" in workbench.text(f'{LENS}:has-text("stet:")')
    workbench.picture("applied")
    workbench.press("Control+S")
    wait_saved(file, AFTER)
    workbench.press("Control+Z")
    workbench.press("Control+S")
    wait_saved(file, BEFORE)


def test_cancel_stops_the_reply_from_the_notification_and_from_the_menu(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    notification = f'{NOTIFICATION}:has-text("Stet: Refactor")'
    for way in ("notification", "menu"):
        scripted.reset()
        scripted.default = Reply(REPLY, stall_after=2)
        workbench.palette("Stet: Refactor…")
        workbench.text(f'{INPUT}:has-text("How?")')
        workbench.press("Enter")
        scripted.wait_request(timeout=SECONDS)
        if way == "notification":
            workbench.click(f'{notification} .monaco-button:has-text("Cancel")')
        else:
            workbench.click(f'{STATUS}:has-text("Stet 1 running")')
            workbench.text('.quick-input-list .monaco-list-row.focused:has-text("Cancel Refactor")')
            workbench.picture("menu")
            workbench.press("Enter")
        scripted.wait_disconnect()
        workbench.gone(notification)
        workbench.text(f'{STATUS}:has-text("Stet ✓")')
    workbench.press("Control+S")
    wait_saved(file, BEFORE)


def test_a_refuted_edit_is_a_diff_below_its_verdict(workbench: VSCode, scripted: ScriptedModel, file: Path) -> None:
    scripted.default = Reply(f"CODE:\n```python\n{WRONG}```\n")
    workbench.choose("Refactor `sign`")
    workbench.text(f'{DIFF}:has-text("✗")')
    assert "✗ changes behavior: `sign(-" in workbench.text(VERDICT)
    workbench.text(f'{CHANGED}:has-text("(x > 0) + (x < 0)")')
    workbench.text(f'{STATUS}:has-text("Stet 1 edit to review")')
    workbench.gone(NOTIFICATION)
    workbench.picture("refuted")
    act(workbench, "Counter-example")
    workbench.text('.tab:has-text("counter_example_sign.py")')
    workbench.palette("Stet: Show Evidence")
    assert workbench.preview("Evidence").index("✗ differential") < workbench.preview("Evidence").index("✓ syntax")
    workbench.picture("evidence")
    act(workbench, "Discard")  # it is there only while the diff has the focus: the evidence did not take it
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
    workbench.text(f'{INPUT}:has-text("Try again")')
    workbench.type("subtract")
    workbench.press("Enter")
    workbench.text(f'{LENS}:has-text("Keep")')
    assert "subtract" in scripted.requests[-1].prompt
    workbench.click(f'{LENS} a:has-text("Undo")')
    workbench.gone(f'{LENS}:has-text("Keep")')
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
    file = opened(workbench, "total.py", TOTAL)
    scripted.default = Reply(f"CODE:\n```python\n{RENAMED}```\n")
    workbench.choose("Refactor `total`")
    workbench.text('.tab:has-text("Stet: Refactor `total` ✗")')
    workbench.text(f'{STATUS}:has-text("Ln 2, Col 1")')  # VS Code goes to the first change
    workbench.palette("Stet: Take This Change Back")
    workbench.text(f'{CHANGED}:has-text("s = 0")')
    act(workbench, "Apply")
    assert "amount" in workbench.text(f'{VERDICT}:has-text("✗ in the part you kept, a name does not resolve")')
    workbench.picture("part")
    act(workbench, "Apply")  # the user knows, and wants it
    workbench.text(f'{LENS}:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(file, RENAMED.replace("amount = 1", "s = 0"))


def test_a_killed_server_starts_again_and_offers_the_job(
    workbench: VSCode, scripted: ScriptedModel, file: Path, environment: Mapping[str, str]
) -> None:
    scripted.default = Reply(REPLY, stall_after=0)
    workbench.palette("Stet: Refactor…")
    workbench.text(f'{INPUT}:has-text("How?")')
    workbench.press("Enter")
    scripted.wait_request(timeout=SECONDS)
    workbench.text(f'{STATUS}:has-text("Stet 1 running")')
    os.kill(server_of(environment["STET_HOME"]), signal.SIGKILL)
    workbench.text(f'{NOTIFICATION}:has-text("the server ended (SIGKILL); no text was changed. It was started again.")')
    workbench.gone(f'{NOTIFICATION}:has-text("Stet: Refactor")')
    assert len(workbench.messages()) == 1, "one message for one cause"
    workbench.picture("killed")
    scripted.default = Reply(REPLY)
    workbench.click(f'{NOTIFICATION} .monaco-button:has-text("Run Refactor Again")')
    workbench.text(f'{LENS}:has-text("Keep")')
    workbench.press("Control+S")
    wait_saved(file, AFTER)


def test_a_model_that_fails_is_named_once_and_the_job_is_offered_again(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply.failure(401, "no such key")
    workbench.palette("Stet: Refactor…")
    workbench.text(f'{INPUT}:has-text("How?")')
    workbench.press("Enter")
    again = f'{NOTIFICATION}:has-text("rejected the key") .monaco-button:has-text("Run Again")'
    workbench.text(again)
    workbench.gone(f'{NOTIFICATION}:has-text("Stet: Refactor")')
    assert len(workbench.messages()) == 1, "one message for one cause"
    workbench.picture("model-failed")
    scripted.default = Reply(REPLY)
    workbench.click(again)
    workbench.text(f'{LENS}:has-text("Keep")')
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


def test_explanations_open_next_to_the_code_one_after_the_other(
    workbench: VSCode, scripted: ScriptedModel, file: Path
) -> None:
    workbench.palette("Stet: Refactor…")
    workbench.text(f'{INPUT}:has-text("How?")')
    workbench.press("Escape")  # starts nothing
    workbench.gone(INPUT)
    for words in ("It gives the sign of x.", "It compares x with zero, twice."):
        scripted.default = Reply(words)
        workbench.palette("Stet: Explain")
        workbench.preview(words)
    assert len(scripted.requests) == 2
    workbench.gone(NOTIFICATION)  # neither the start nor the jobs asked for attention
    workbench.picture("explain")


MEAN = """\
def mean(values: list[float]) -> float:
    return sum(values) / len(values)
"""


def test_analyze_leads_with_what_is_broken_and_folds_its_measures(workbench: VSCode, scripted: ScriptedModel) -> None:
    opened(workbench, "mean.py", MEAN)
    scripted.default = Reply("- `return sum(values) / len(values)` | bug | values = [] raises ZeroDivisionError")
    workbench.palette("Stet: Analyze")
    report = workbench.preview("Confirmed by a run")
    assert "confirmed: mean([]) raises ZeroDivisionError" in report
    assert "Measured" in report
    assert "Complexity" not in report, "a click opens the table"
    workbench.text(".monaco-editor .squiggly-warning")
    workbench.picture("analyze")


CLAMP = "def clamp(x, low, high):\n    return max(low, min(x, high))\n"
HALF = '''\
def half(x):
    """Half of x.

    >>> half(3)
    1.5
    """
    return x / 2
'''
DOCUMENTED = AFTER.replace("\n", '\n    """The sign of x: 1, 0 or -1."""\n', 1)
TESTED = """\
from sign import sign


def test_sign():
    assert sign(5) == 1
    assert sign(0) == 0
    assert sign(-5) == -1
"""
TOTAL_OF = """\
def total(n: int) -> int:
    found = 0
    for each in range(n + 1):
        found += int(str(each))
    return found
"""
FORMULA = "def total(n: int) -> int:\n    return n * (n + 1) // 2 if n > 0 else 0\n"


@pytest.mark.parametrize(
    ("name", "title", "before", "after"),
    [
        ("generate", "Generate code with Stet", "# stet: clamp(x, low, high); clamp(7, 0, 5) == 5\n", CLAMP),
        ("fix", "Fix with Stet: ", HALF.replace(":", ""), HALF),
        ("document", "Document `sign`", AFTER, DOCUMENTED),
        ("test", "Write tests for `sign`", AFTER, TESTED),
        ("optimize", "Optimize `total`", TOTAL_OF, FORMULA),
    ],
)
def test_an_action_from_the_light_bulb(
    workbench: VSCode, scripted: ScriptedModel, name: str, title: str, before: str, after: str
) -> None:
    file = opened(workbench, f"{'sign' if name == 'test' else name}.py", before)
    scripted.default = Reply(f"CODE:\n```python\n{after}```\n")
    workbench.press("End")
    workbench.choose(title)
    diff, written = '.tab:has-text("Stet: ")', '.tab:has-text("test_sign.py")'
    found = workbench.text(f'{diff}, {written}, {LENS}:has-text("Keep")')
    workbench.picture(name)
    if name == "test":  # it opened next to the code, which keeps the focus
        workbench.click(written)
    if found.startswith("Stet: "):  # nothing ran it: it waits for a decision
        act(workbench, "Apply")
        workbench.gone(diff)
    workbench.press("Control+S")
    wait_saved(next(workbench.work.rglob("test_sign.py")) if name == "test" else file, after)


def test_a_syntax_error_is_underlined_once_while_typing(workbench: VSCode, scripted: ScriptedModel) -> None:
    opened(workbench, "sum.py", "x = 1\n")
    workbench.press("End")
    workbench.type(" +")
    workbench.text(".monaco-editor .squiggly-error")
    workbench.type(" 1")
    workbench.gone(".monaco-editor .squiggly-error")


def test_errors_that_vs_code_reports_are_not_repeated(workbench: VSCode, scripted: ScriptedModel) -> None:
    opened(workbench, "data.json", '{"a": 1,, "b": 2}\n')
    workbench.text(".monaco-editor .squiggly-error")
    workbench.press("Control+Shift+M")
    workbench.text('.markers-panel .monaco-list-row:has-text("json")')
    rows = workbench.call("texts", selector=".markers-panel .monaco-list-row")
    assert not any("stet" in row for row in rows), rows
