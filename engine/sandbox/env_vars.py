"""What a program in a box finds in its environment: the little that programs need, and nothing of Stet's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - the box's own
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def environment(extra: Mapping[str, str], binds: Iterable[Path]) -> dict[str, str]:
    """The variables of a run: the programs of `binds` come first on the path."""
    folders = [str(bind / "bin") for bind in binds if (bind / "bin").is_dir()]
    variables = {**ENVIRONMENT, **extra}
    return {**variables, "PATH": ":".join([*folders, variables["PATH"]])}
