"""Packages unpacked into a folder: only wheels, by uv, so that no package code runs outside a sandbox."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.environments.interpreter import Interpreter
from stet_ls.engine.sandbox.environments.package_index import uv_options
from stet_ls.engine.sandbox.processes.supervise import started_whole
from stet_ls.validators.checkers.programs import on_path
from stet_ls.validators.checkers.tool_process import kill_group
from stet_ls.validators.install_hints import install_command

_MOST_SECONDS = 600.0
_OFFLINE = ("failed to fetch", "error sending request", "dns error", "connect error", "network is", "timed out")
_UNKNOWN = (
    "because there are no versions of",
    "not found in the package registry",
    "not found in the provided package locations",
    "was not found in",
)
_NO_WHEEL = (
    "no usable wheels",
    "building source distributions is disabled",
    "has no wheels",
    "no wheels with a matching",
)

# Ends uv if the server is killed while uv works. The kernel sends the signal; it is set before uv starts.
_TETHER = (
    "import ctypes, os, signal, sys\n"
    "parent = int(sys.argv[1])\n"
    "if sys.platform == 'linux': ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
    "if os.getppid() == parent: os.execv(sys.argv[2], sys.argv[2:])"
)

_COMPILE = (sys.executable, "-I", "-S", "-m", "compileall", "-qq", "-j", "2", "-x", r"[/\\](tests?|testing)[/\\]")
"""Compiles packages without executing them. A run cannot write there, and would compile pandas for five seconds."""


class PackagesError(StetError):
    """Packages cannot be installed. The text says which, why, and the way out."""


@dataclass(frozen=True, slots=True)
class MinimumAge:
    """Minimum age of a file on the index: a malicious upload is usually discovered within a week.

    `trusted` are normalized names for which any age is accepted: the project's own dependencies.
    """

    days: int = 7
    trusted: Collection[str] = ()

    def options(self) -> list[str]:
        """The options for uv."""
        if self.days <= 0:
            return []
        now = datetime.now(UTC)
        options = ["--exclude-newer", _stamp(now - timedelta(days=self.days))]
        for name in sorted(self.trusted):
            options += ["--exclude-newer-package", f"{name}={_stamp(now + timedelta(days=1))}"]
        return options


WEEK = MinimumAge()
"""The default: nothing younger than a week."""


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


async def build(
    folder: Path, interpreter: Interpreter, requirements: Sequence[str], *, cache: Path, fresh: MinimumAge = WEEK
) -> None:
    """Makes `folder` a virtual environment of the interpreter with the packages. Neither is started for that.

    The interpreter's packages stay importable and their versions are pinned, so that both fit together. Raises
    PackagesError. On cancellation no process is left; the caller has to remove the folder.
    """
    if interpreter.free_threaded:
        raise PackagesError(
            f"{interpreter.path} is a free-threaded Python, for which Stet cannot install packages yet."
        )
    beginning = asyncio.ensure_future(asyncio.to_thread(_begun, folder, interpreter))
    try:
        site, held, config, variables = await asyncio.shield(beginning)
    except asyncio.CancelledError:
        await asyncio.wait({beginning})  # the thread continues; its files would be left
        raise
    argv = [
        *(str(uv()), "pip", "install", "--quiet", "--no-progress", "--color", "never", "--no-python-downloads"),
        *config,
        *("--cache-dir", str(cache), "--only-binary", ":all:", "--python", sys.executable),
        *("--target", str(site), "--python-version", interpreter.short, "--constraints", str(held)),
        *fresh.options(),
        *("--", *requirements),
    ]
    code, output = await _run(argv, variables, folder)
    if code != 0:
        raise PackagesError(_sentence(requirements, interpreter, output))
    for name in ("held.txt", "indexes.toml"):
        (folder / name).unlink(missing_ok=True)
    if interpreter.version[:2] == sys.version_info[:2]:
        await _run((*_COMPILE, str(site)), {"LC_ALL": "C.UTF-8"}, folder)


def _begun(folder: Path, interpreter: Interpreter) -> tuple[Path, Path, list[str], dict[str, str]]:
    """The empty environment: its package folder, the pinned versions, and uv's options and variables."""
    site = _skeleton(folder, interpreter)
    held = folder / "held.txt"
    installed = {f"{name}=={version}" for name, version in interpreter.distributions.values() if _plain(name, version)}
    held.write_text("\n".join(sorted(installed)), encoding="utf-8")
    return site, held, *uv_options(folder)


def uv() -> Path:
    """The uv program. Raises PackagesError if there is none."""
    try:
        from uv import find_uv_bin

        return Path(find_uv_bin())
    except (ImportError, FileNotFoundError):
        pass
    if found := on_path("uv"):
        return found
    raise PackagesError(f"uv is needed to install packages for the sandbox: {install_command('full')}")


def _skeleton(folder: Path, interpreter: Interpreter) -> Path:
    """Writes a virtual environment as PEP 405 describes it; returns the folder for its packages."""
    site = folder / "lib" / f"python{interpreter.short}" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(interpreter.path.resolve())
    version = ".".join(map(str, interpreter.version))
    config = f"home = {interpreter.base}\ninclude-system-site-packages = false\nversion = {version}\n"
    (folder / "pyvenv.cfg").write_text(config, encoding="utf-8")
    # The interpreter's packages come after those of this folder; like all of it they run in the sandbox only.
    below = "".join(f"import site; site.addsitedir({str(each)!r})\n" for each in interpreter.packages)
    (site / "_interpreter.pth").write_text(below, encoding="utf-8")
    return site


def _plain(name: str, version: str) -> bool:
    """True for a plain name and version: what an interpreter reports is written into a file for uv."""
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-!")
    return bool(name and version) and set(name) | set(version) <= allowed and name[0].isalnum() and version[0].isdigit()


async def _run(argv: Sequence[str], variables: dict[str, str], folder: Path) -> tuple[int, str]:
    process = await started_whole(
        (sys.executable, "-I", "-S", "-c", _TETHER, str(os.getpid()), *argv),
        kill_group,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=variables,
        cwd=folder,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            _, output = await process.communicate()
        return process.returncode or 0, output.decode("utf-8", "replace")
    except TimeoutError:
        raise PackagesError(f"Installing packages took more than {_MOST_SECONDS:g} s and was stopped.") from None
    finally:
        if process.returncode is None:
            kill_group(process.pid)
            await process.wait()


def _sentence(requirements: Sequence[str], interpreter: Interpreter, output: str) -> str:
    what = ", ".join(requirements)
    words = " ".join(output.split())
    lower = words.lower()
    if "filtered by `exclude-newer`" in lower:
        why = "the package is too new or has no upload date (setting `sandbox.package_days`)"
    elif any(word in lower for word in _OFFLINE):
        why = "the package index is not reachable; go online, or install them into the project's environment"
    elif any(word in lower for word in _NO_WHEEL):
        why = f"no wheel for Python {interpreter.short} on this machine, and Stet builds nothing from source"
    elif any(word in lower for word in _UNKNOWN):
        why = "the index has no such package"
    else:
        why = words[:300] or "uv gives no reason"
    return f"{what} could not be installed: {why}."
