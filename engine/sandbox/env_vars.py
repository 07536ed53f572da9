"""The environment variables of a sandboxed program: the few that programs need, and none of Stet's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - the sandbox's own
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def environment(extra: Mapping[str, str], binds: Iterable[Path]) -> dict[str, str]:
    """The variables of a run; the programs of `binds` come first on PATH."""
    folders = [str(bind / "bin") for bind in binds if (bind / "bin").is_dir()]
    variables = {**ENVIRONMENT, **extra}
    return {**variables, "PATH": ":".join([*folders, variables["PATH"]])}
