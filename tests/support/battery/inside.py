"""Runs the battery's attacks, in the box or on the bare machine: each in a process of its own, one after the other.

The files of this folder that a sandbox needs are next to this one, with `attack.py` of the product and `targets.json`. Prints
one JSON object: for each attack what it reached, or null, and what stopped it. Standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

import attack
import attack_files
import attack_kernel
import attack_network
import attack_processes
import honest

SECONDS = 10.0


def attacks() -> dict[str, Any]:
    """By name. What the product's own probe tries is a part of it."""
    found = {name.__name__: name for _, name in attack.ATTACKS}
    for module in (attack_files, attack_processes, attack_network, attack_kernel):
        found.update((function.__name__, function) for function in module.ATTACKS)
    found.update((f"honest_{function.__name__}", function) for function in honest.DEEDS)
    return found


def tried(name: str, targets: dict[str, Any], inherited: list[int]) -> tuple[str | None, str]:
    """What an attack reached and what stopped it, whatever it did to its process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(int(SECONDS) + 1)
        os.close(reading)
        outcome: tuple[str | None, str]
        try:
            outcome = attacks()[name]({**targets, "inherited": inherited}), ""
        except BaseException as error:
            outcome = None, f"{type(error).__name__}: {error}"
        with contextlib.suppress(OSError):
            os.write(writing, json.dumps(outcome).encode()[:4000])
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], SECONDS)
    data = os.read(reading, 8000) if ready else b""
    os.close(reading)
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        reached, why = json.loads(data)
    except ValueError:
        return None, "it died, or said nothing in time"
    return reached, why


def main() -> None:
    """The names of the attacks to leave out are arguments."""
    inherited = []
    for number in range(3, 1024):
        with contextlib.suppress(OSError):
            os.fstat(number)
            inherited.append(number)
    targets = json.loads(Path("targets.json").read_text(encoding="utf-8"))
    common, own = targets["common"], targets["own"]
    found = {}
    for name in attacks():
        if name not in sys.argv[1:]:
            found[name] = tried(name, {**common, **own.get(name, {})}, inherited)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
