"""Kate with the configuration as `stet editor kate` prints it: it starts the server and opens its file there.

Its menus cannot be driven without a screen, so no more is seen here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60

MISSING = [name for name in ("kate", "dbus-run-session", "tee") if shutil.which(name) is None]

pytestmark = [pytest.mark.editor, pytest.mark.skipif(bool(MISSING), reason=f"not on PATH: {', '.join(MISSING)}")]


def test_kate_starts_the_server_and_opens_its_file(tmp_path: Path, environment: Mapping[str, str]) -> None:
    sent = tmp_path / "sent"
    command = listening_stet(tmp_path, sent, environment)
    configuration = tmp_path / "config"
    settings = configuration / "kate" / "lspclient" / "settings.json"
    settings.parent.mkdir(parents=True)
    shutil.copy(ROOT / "editors" / "configs" / "kate.json", settings)
    # Kate asks its user before it first runs a server's command; here the answer is already yes.
    allowed = f"[Kate Plugins]\nlspclientplugin=true\n\n[lspclient]\nAllowedServerCommandLines={command} --stdio\n"
    (configuration / "katerc").write_text(f"[General]\nStartup Session=new\n\n{allowed}")
    file = tmp_path / "signs.py"
    file.write_text("def sign(x):\n    return x\n")
    variables = {
        **environment,
        "PATH": os.pathsep.join([str(command.parent), environment["PATH"]]),
        "XDG_CONFIG_HOME": str(configuration),
        "XDG_RUNTIME_DIR": str(tmp_path),
        "QT_QPA_PLATFORM": "offscreen",
    }
    log = tmp_path / "kate.log"
    with log.open("wb") as output:
        kate = subprocess.Popen(
            ["dbus-run-session", "kate", "--startanon", str(file)],
            env=variables, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + SECONDS
        while not (sent.exists() and b'"textDocument/didOpen"' in sent.read_bytes()):
            assert kate.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
    finally:
        os.killpg(kate.pid, signal.SIGTERM)
        kate.wait(SECONDS)
    assert file.as_uri().encode() in sent.read_bytes()


def listening_stet(folder: Path, sent: Path, environment: Mapping[str, str]) -> Path:
    """A command `stet` that also writes what its client sends to a file."""
    command = folder / "bin" / "stet"
    command.parent.mkdir()
    stet = shutil.which("stet", path=environment["PATH"])
    command.write_text(f'#!/bin/sh\ntee "{sent}" | "{stet}" "$@"\n')
    command.chmod(0o755)
    return command
