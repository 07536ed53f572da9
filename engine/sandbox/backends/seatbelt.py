"""macOS: `sandbox-exec` with a profile that denies by default.

Not run by its authors yet: the profile is tested as text; the probe verifies the walls where it runs.
Sources: the profiles of Chromium and of codex (`seatbelt_base_policy.sbpl`). A profile that allows by default can be
escaped through launchd; a file rule does not cover a socket's path, which is a network rule (`network-outbound`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from stet_ls.engine.sandbox.backends import plain_run
from stet_ls.engine.sandbox.env_vars import environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationReport, Wall
from stet_ls.engine.sandbox.spec import Limits, RunResult, RunSpec

PROGRAM = Path("/usr/bin/sandbox-exec")

PARTLY: Mapping[Wall, str] = {
    Wall.TREE_KILL: "macOS does not find a process that leaves its session",
    Wall.MEMORY: "macOS does not limit the memory of processes",
    Wall.DISK: "scratch files are on the disk and measured several times a second",
}
"""What no probe can verify fully here."""

_SYSTEM = (
    "/usr/lib", "/usr/bin", "/usr/share", "/usr/libexec", "/bin", "/sbin", "/System/Library", "/Library/Apple",
    "/Library/Developer/CommandLineTools", "/Library/Frameworks", "/private/var/db/dyld", "/private/etc/ssl",
    "/opt/homebrew/Cellar", "/opt/homebrew/lib", "/opt/homebrew/opt", "/opt/homebrew/bin", "/usr/local",
)  # fmt: skip

_BASE = """(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "kern.os")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.version")
  (sysctl-name "vm.loadavg"))
(allow ipc-posix-sem)
(allow file-read-metadata (subpath "/"))
(allow file-read* (literal "/") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random")
  (literal "/dev/urandom"))
(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-ioctl (literal "/dev/null"))
"""


@dataclass(frozen=True, slots=True)
class Seatbelt:
    """The sandbox of macOS; `folder` holds scratch folders and workspace copies, private to the user."""

    folder: Path
    report: IsolationReport
    name: ClassVar = "sandbox-exec"
    overlays: ClassVar = False

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`. Raises ValueError for a bind that shows too much."""
        with ExitStack() as stack:
            place = await plain_run.prepare(spec, self.folder, stack)
            binds = [real.resolve() for path in spec.binds if (real := mounts.bindable(path))]
            text = profile([*binds, *(each.folder for each in place.shown)], [place.work, place.temporary])
            temporary = {"HOME": str(place.temporary), "TMPDIR": str(place.temporary)}
            variables = {**environment(spec.env, spec.binds), **temporary}
            argv = command(text, place.work, spec.limits, spec.argv)
            return await plain_run.run(argv, spec, place, self.report, env=variables)


def profile(read: Iterable[Path], write: Iterable[Path]) -> str:
    """The rules: the system and `read` are readable, `write` is writable too, and the network is denied."""
    readable = " ".join(f"(subpath {_quoted(path)})" for path in (*map(Path, _SYSTEM), *read))
    writable = " ".join(f"(subpath {_quoted(path)})" for path in write)
    return f"{_BASE}(allow file-read* {readable} {writable})\n(allow file-write* {writable})\n"


def command(text: str, work: Path, limits: Limits, argv: tuple[str, ...]) -> list[str]:
    """The command line: limits first, then the profile, then the command."""
    script = f'cd "$1" && shift && ulimit -c 0 && ulimit -f {limits.file // 512} && ulimit -n {limits.open_files}'
    return ["/bin/sh", "-c", f'{script}; exec "$@"', "sh", str(work), str(PROGRAM), "-p", text, "--", *argv]


def _quoted(path: Path) -> str:
    """A string of the profile's language. Raises ValueError for a path that would end it early."""
    text = str(path)
    if not text.isprintable() or text.encode(sys.getfilesystemencoding(), "replace") == b"":
        raise ValueError(f"{text!r} is not allowed in a profile")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
