"""Podman or Docker, if the user's settings name one with an image: `backend = "podman:docker.io/library/python:3"`.

Not run by its authors yet: only the text of the command line is tested. An engine is used only if named: access to
Docker's socket equals root access, and images take gigabytes. Nothing is pulled; the image has to exist.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from stet_ls.engine.sandbox.backends import plain_run
from stet_ls.engine.sandbox.env_vars import environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.files.workspace_copy import ShownFolder
from stet_ls.engine.sandbox.isolation import IsolationReport
from stet_ls.engine.sandbox.spec import RunResult, RunSpec

ENGINES = ("podman", "docker")
_KILL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Container:
    """One engine and its image; `folder` holds scratch folders and workspace copies."""

    program: Path
    image: str
    folder: Path
    report: IsolationReport
    overlays: ClassVar = False

    @property
    def name(self) -> str:
        """Name used in reports."""
        return self.program.name

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`. Raises ValueError for a bind that shows too much, or without an image."""
        if not self.image:
            raise ValueError(f'{self.name} needs an image: set `backend = "{self.name}:IMAGE"` in your settings')
        if spec.report:
            raise ValueError(f"{self.name} passes no descriptors, so runs in it cannot report")
        with ExitStack() as stack:
            place = await plain_run.prepare(spec, self.folder, stack, mounted=True)
            name = f"stet-{secrets.token_hex(8)}"
            argv = self.command(spec, place, name)
            # The engine's client reads its settings in the user's home; none of this goes into the container.
            outside = {key: os.environ[key] for key in ("HOME", "PATH", "XDG_RUNTIME_DIR") if key in os.environ}
            return await plain_run.run(
                argv, spec, place, self.report, env=outside, stop=lambda _: self._kill(name)
            )  # fmt: skip

    def command(self, spec: RunSpec, place: plain_run.RunFolders, name: str) -> list[str]:
        """The command line."""
        work = str(spec.overlay.root) if spec.overlay else mounts.BOX
        limits = spec.limits
        argv = [
            *(str(self.program), "run", "--rm", "--pull", "never", "--name", name, "--init", "--log-driver", "none"),
            *("--network", "none", "--ipc", "none", "--read-only", "--cap-drop", "ALL"),
            *("--security-opt", "no-new-privileges", "--user", f"{os.getuid()}:{os.getgid()}", "--hostname", "box"),
            *("--pids-limit", str(limits.processes), "--memory", str(limits.memory)),
            *("--memory-swap", str(limits.memory), "--ulimit", f"fsize={limits.file}", "--ulimit", "core=0"),
            *("--ulimit", f"nofile={limits.open_files}", "--workdir", work),
            *("--tmpfs", f"/tmp:rw,size={limits.scratch}"),  # noqa: S108 - the container's own
            *("--mount", _mount(place.work, work)),
        ]
        binds = mounts.outermost_paths(real for path in spec.binds if (real := mounts.bindable(path)))
        for shown in [*(ShownFolder(path, path) for path in binds), *place.shown]:
            argv += ["--mount", _mount(shown.folder, str(shown.at), ",readonly")]
        for key, value in environment(spec.env, spec.binds).items():
            argv += ["--env", f"{key}={value}"]
        return [*argv, "--", self.image, *spec.argv]

    def _kill(self, name: str) -> None:
        """Ending the client does not end the container."""
        subprocess.run(
            [self.program, "kill", name], check=False, timeout=_KILL_SECONDS, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _mount(source: Path, target: str, options: str = "") -> str:
    """One mount. Raises ValueError for a path that would add mount options."""
    if "," in f"{source}{target}" or '"' in f"{source}{target}":
        raise ValueError(f"{source} has a comma or a quote in its name, so it cannot be mounted in a container")
    return f"type=bind,source={source},target={target}{options}"
