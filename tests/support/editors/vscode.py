"""VS Code's real workbench: code-server with our extension in it, and a browser that is driven by keys."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from support.servers.scripted import held_port

ROOT = Path(__file__).resolve().parents[3]
VSIX = ROOT / "editors" / "vscode" / "stet.vsix"
INSTALLED = ROOT / ".cache" / "code-server"
DRIVER = ROOT / "tests" / "e2e" / "vscode" / "drive.mjs"

SECONDS = 90.0
"""How long anything may take; a loaded machine with two cores starts the workbench in ten."""

NOTIFICATION = ".notification-toast"
STATUS = ".statusbar-item"
INPUT = ".quick-input-widget"
LENS = ".codelens-decoration"
VERDICT = ".breadcrumbs-control"

_ENTRY = INSTALLED / "node_modules" / "code-server" / "out" / "node" / "entry.js"

_SETTINGS = {
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "remote.autoForwardPorts": False,  # it tells of ports that other processes open
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "extensions.autoCheckUpdates": False,
    "files.autoSave": "off",
}

_KEYS = [
    {
        "key": "ctrl+alt+shift+f9",  # `clear` in drive.mjs
        "command": "runCommands",
        "args": {
            "commands": [
                "workbench.action.closeAllGroups",
                "workbench.action.closePanel",
                "workbench.files.action.focusFilesExplorer",
                "notifications.clearAll",
            ]
        },
    }
]


def missing() -> str | None:
    """What is not there for these tests, as text; None if nothing."""
    programs = [name for name in ("node", "chromium") if shutil.which(name) is None]
    if programs:
        return f"not on PATH: {', '.join(programs)}"
    if not (INSTALLED / ".installed").exists():
        return "code-server is not installed: make code-server"
    return None if VSIX.exists() else "the extension is not built: make vsix"


def wait_saved(file: Path, text: str) -> None:
    """Waits until a file has this text."""
    deadline = time.monotonic() + SECONDS
    while (saved := file.read_text(encoding="utf-8")) != text and time.monotonic() < deadline:
        time.sleep(0.05)
    assert saved == text


class VSCode:
    """One workbench with one folder open."""

    def __init__(
        self, folder: Path, env: Mapping[str, str], settings: Mapping[str, Any], *, stet: Sequence[str] = ()
    ) -> None:
        """A workbench whose user has these settings besides those that keep it quiet.

        `stet` is the command that installs the extension; without one it is installed from its package.
        """
        self._folder = folder
        self._stet = stet
        self._env = dict(env)
        self._children: list[subprocess.Popen[str]] = []
        self._log: TextIO = (folder / "code-server.log").open("w+", encoding="utf-8")
        self.pictures = Path(os.environ.get("STET_TEST_PICTURES", folder))
        """Where a test leaves its pictures, those of the docs among them."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.work = folder / "work"
        self.work.mkdir()
        self._folder_query = f"folder={quote(str(self.work))}"
        self._where = ""
        # To the browser the machine is a remote one: a user's settings about programs count only as the machine's.
        own = {name: value for name, value in settings.items() if name.startswith("stet.server.")}
        self.configure("User", {**_SETTINGS, **settings})
        self.configure("Machine", own)
        keys = folder / "data" / "User" / "keybindings.json"
        keys.write_text(json.dumps(_KEYS), encoding="utf-8")
        self._held = ExitStack()
        self._port = self._held.enter_context(held_port())
        config = folder / "config.yaml"
        config.write_text(f"bind-addr: 127.0.0.1:{self._port}\nauth: none\ncert: false\n", encoding="utf-8")
        self._code_server = [
            "node", str(_ENTRY), "--config", str(config), "--user-data-dir", str(folder / "data"),
            "--extensions-dir", str(folder / "extensions"), "--disable-telemetry", "--disable-update-check",
        ]  # fmt: skip

    def __enter__(self) -> VSCode:
        try:
            self._install()
            self._start(self._code_server)
            self._wait_healthy()
            chromium = shutil.which("chromium")
            assert chromium is not None
            self._driver = self._start(["node", str(DRIVER), str(INSTALLED), chromium], piped=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for child in reversed(self._children):
            if child.stdin is not None:
                child.stdin.close()
            else:
                child.terminate()
        for child in self._children:
            try:
                child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout is not None:
                child.stdout.close()
        self._log.close()
        self._held.close()

    def configure(self, whose: str, settings: Mapping[str, Any]) -> None:
        """Replaces the settings of the `User` or of the `Machine`; an open window reads them at once."""
        file = self._folder / "data" / whose / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")

    def open(self, name: str, text: str) -> Path:
        """Writes a file and opens it as the only one, in the same window if no job runs there: a new one takes 8 s."""
        if self._where != self._folder_query or not self.call("clear"):
            return self.open_again(name, text)
        file = self.work / name
        file.write_text(text, encoding="utf-8")
        self.call("file", path=str(file))
        return file

    def open_again(self, name: str, text: str) -> Path:
        """Writes a file and opens the workbench again with it: a new window, extension and server."""
        file = self.work / name
        file.write_text(text, encoding="utf-8")
        self.show(file, self._folder_query)
        return file

    def show(self, file: Path, where: str) -> None:
        """Opens the workbench again with a file; `where` is the folder as a query, or `ew=true` for none."""
        self._where = where
        self.call("leave")
        # A page that is left right after a save may leave a copy of the text before, which VS Code would restore.
        shutil.rmtree(self._folder / "data" / "User" / "Backups", ignore_errors=True)
        payload = json.dumps([["openFile", f"vscode-remote://127.0.0.1:{self._port}{file}"]])
        self.call("open", url=f"http://127.0.0.1:{self._port}/?{where}&payload={quote(payload)}")

    def palette(self, title: str) -> None:
        """Runs a command by its title."""
        self.call("palette", title=title)

    def choose(self, title: str) -> None:
        """Picks a code action at the cursor by its title."""
        self.call("choose", title=title)

    def preview(self, words: str) -> str:
        """The text of the rendered markdown document with these words; its frame is there before what it shows."""
        deadline = time.monotonic() + SECONDS
        while True:
            text = str(self.call("framed", selector="iframe.webview", inner="iframe#active-frame", content="body"))
            if words in text:
                return text
            assert time.monotonic() < deadline, text
            time.sleep(0.1)

    def messages(self) -> list[str]:
        """The notifications that are shown."""
        return [str(text) for text in self.call("texts", selector=NOTIFICATION)]

    def press(self, key: str) -> None:
        """Presses a key, named as in "Control+S"."""
        self.call("press", key=key)

    def clock(self, key: str, selector: str, text: str, gone: str | None = None) -> tuple[float, float]:
        """When a key came, in milliseconds since 1970, and those until the text is drawn and none of `gone` is left."""
        pressed, took = self.call("clock", key=key, selector=selector, text=text, gone=gone)
        return float(pressed), float(took)

    def type(self, text: str) -> None:
        """Types a text."""
        self.call("type", text=text)

    def picture(self, name: str) -> None:
        """Takes a picture of the workbench for the docs, if they are wanted: each takes half a second."""
        if "STET_TEST_PICTURES" in os.environ:
            self.call("screenshot", path=str(self.pictures / f"vscode-{name}.png"))

    def click(self, selector: str) -> None:
        """Clicks on the first such element."""
        self.call("click", selector=selector)

    def text(self, selector: str, seconds: float = SECONDS) -> str:
        """Waits until such an element is visible; returns its text."""
        return str(self.call("text", selector=selector, timeout=seconds * 1000))

    def style(self, selector: str, property: str, pseudo: str | None = None) -> str:
        """A computed style of the first such element, or of its part `::before` or `::after`."""
        return str(self.call("style", selector=selector, property=property, pseudo=pseudo))

    def gone(self, selector: str) -> None:
        """Waits until no such element is visible."""
        self.call("gone", selector=selector)

    def call(self, name: str, **params: Any) -> Any:
        """Has the browser do something; a failure leaves a picture of the workbench behind."""
        answer = self._exchange(name, **params)
        if not answer["ok"]:
            picture = self.pictures / f"failed-{os.environ['PYTEST_CURRENT_TEST'].rpartition('::')[2].split()[0]}.png"
            self._exchange("screenshot", path=str(picture))
            shown = [self._exchange("texts", selector=each)["value"] for each in (STATUS, NOTIFICATION, ".tab")]
            raise AssertionError(
                f"{name} {params}: {answer['value']}\nshown: {shown}\nsee {picture} and {self._log.name}"
            )
        return answer["value"]

    def _exchange(self, name: str, **params: Any) -> Any:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps({"do": name, **params}) + "\n")
        self._driver.stdin.flush()
        line = self._driver.stdout.readline()
        assert line, f"the browser ended; see {self._log.name}"
        return json.loads(line)

    def _install(self) -> None:
        argv, env = [*self._code_server, "--install-extension", str(VSIX)], self._env
        if self._stet:
            program = self._folder / "bin" / "code-server"
            program.parent.mkdir()
            program.write_text(f'#!/bin/sh\nexec {shlex.join(self._code_server)} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
            argv = [*self._stet, "editor", "vscode", "--install"]
            env = {**env, "PATH": os.pathsep.join([str(program.parent), env["PATH"]])}
        done = subprocess.run(argv, env=env, stdout=self._log, stderr=self._log, timeout=2 * SECONDS)
        assert done.returncode == 0, f"the extension was not installed; see {self._log.name}"

    def _start(self, argv: Sequence[str], *, piped: bool = False) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE if piped else None
        child = subprocess.Popen(
            argv, env=self._env, stdin=pipe, stdout=pipe or self._log, stderr=self._log, text=True,
            cwd=self._folder,
        )  # fmt: skip
        self._children.append(child)
        return child

    def _wait_healthy(self) -> None:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/healthz", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError):
                assert time.monotonic() < deadline, f"code-server did not start; see {self._log.name}"
                time.sleep(0.1)
