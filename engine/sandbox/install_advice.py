"""Why a sandbox cannot be built here, and the command that would help, from the tools' error output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.sandbox import machine_state
from stet_ls.validators.install_hints import install_command


@dataclass(frozen=True, slots=True)
class InstallAdvice:
    """One sentence with the reason, and a command to run ("" if there is none)."""

    why: str
    command: str = ""


APPARMOR_PROFILE = """abi <abi/4.0>,
include <tunables/global>
profile stet-bwrap {program} flags=(unconfined) {{
  userns,
}}
"""
"""Lets this one program create user namespaces, where the distribution allows them to listed programs only."""


def without_any(system: str) -> InstallAdvice:
    """Advice for a machine without any way to build a full sandbox."""
    if system == "Linux":
        return InstallAdvice(
            "bubblewrap is not installed", f"sudo apt install bubblewrap  # or: {install_command('full')}"
        )
    if system == "Windows":
        return InstallAdvice("Windows has no sandbox without administrator rights; use WSL", "wsl --install")
    return InstallAdvice(f"there is no sandbox for {system}", "")


def advice_from_error(name: str) -> Callable[[str], InstallAdvice]:
    """The tool's error output, for failures without a known remedy."""
    return lambda output: InstallAdvice(f"{name} does not work here: {_last_line(output)}")


def for_failure(program: Path, output: str) -> InstallAdvice:
    """The cause on this machine of `said`, the error output of bwrap or of a probe."""
    if _switched_on(machine_state.APPARMOR):
        profile = APPARMOR_PROFILE.format(program=program)
        return InstallAdvice(
            "AppArmor does not let ordinary programs create user namespaces",
            f"printf '%s' '{profile}' | sudo tee /etc/apparmor.d/stet-bwrap && sudo apparmor_parser -r "
            "/etc/apparmor.d/stet-bwrap",
        )
    if machine_state.CLONE.exists() and not _switched_on(machine_state.CLONE):
        return InstallAdvice("user namespaces are disabled", "sudo sysctl -w kernel.unprivileged_userns_clone=1")
    if machine_state.MOST.exists() and not _switched_on(machine_state.MOST):
        return InstallAdvice("user namespaces are disabled", "sudo sysctl -w user.max_user_namespaces=15000")
    return InstallAdvice(f"bubblewrap does not work here: {_last_line(output)}")


def _last_line(output: str) -> str:
    return output.strip().rpartition("\n")[2] or "no output"


def _switched_on(file: Path) -> bool:
    return _read(file) not in ("", "0")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""
