"""The part of the work that one of several machines does: `--shard I/N`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stet_ls.engine.errors import UsageError

_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `count`, from 1; machines that see the same files divide them in the same way."""

    number: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def read_shard(text: str) -> Shard:
    """Reads I/N. UsageError for anything else."""
    match = _SHARD.fullmatch(text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard {text}: expected I/N with 1 <= I <= N, such as 2/4")
    return Shard(int(match[1]), int(match[2]))
