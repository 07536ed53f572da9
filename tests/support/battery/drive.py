"""Attacks one box and writes down what went through: `python -m support.battery.drive KIND BOX FOLDER`.

KIND is `attacks` or `bombs`. A process of its own, so that it can be another user's, has an editor on its standard
input and output that someone might steal from, a variable with a secret, and an open descriptor. The result is JSON in
FOLDER/KIND.json: by name of the attack what it reached ("" for nothing), and what stopped it. Where the box cannot be
built it exits with NO_BOX.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from support.battery import bombs
from support.battery.boxes import Bare, Box, boxes
from support.battery.outside import Outside

from stet_ls.engine.sandbox import isolation_probe
from stet_ls.engine.sandbox.env_vars import ENVIRONMENT
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.inside import attack
from stet_ls.engine.sandbox.spec import BoxError, Limits, RunSpec

HERE = Path(__file__).parent
INSIDE = ("inside", "honest", "attack_files", "attack_processes", "attack_network", "attack_kernel")
UNSAFE = ("kill_all",)
"""Without a box it would reach every process of the user's."""
PLANTED = "STET_PLANTED_SECRET"
NO_BOX = 77


def names() -> list[str]:
    """Every attack, as the box will know it."""
    sys.path[:0] = [str(HERE), str(Path(attack.__file__).parent)]
    import inside

    return list(inside.attacks())


async def attacks(box: Box, folder: Path) -> dict[str, Any]:
    """Tries them all in one run."""
    with ExitStack() as stack:
        outside = Outside(folder, names(), stack)
        secret = os.open(folder / "home" / ".ssh" / "id_ed25519", os.O_RDONLY)
        stack.callback(os.close, secret)
        os.set_inheritable(secret, True)
        allowed = {*ENVIRONMENT, *isolation_probe._SHELL, "USER", "LOGNAME", "NODE_OPTIONS"}
        common = {**outside.common, "variables": sorted(allowed), "planted": PLANTED}
        files = {f"{name}.py": (HERE / f"{name}.py").read_bytes() for name in INSIDE}
        files["attack.py"] = Path(attack.__file__).read_bytes()
        files["targets.json"] = json.dumps({"common": common, "own": outside.own}).encode()
        left_out = UNSAFE if isinstance(box, Bare) else ()
        spec = RunSpec(
            (sys.executable, "-E", "-s", "-S", "inside.py", *left_out),
            files=files,
            binds=(*mounts.interpreter(), outside.shown),
            limits=Limits(seconds=60),
        )
        result = await box.run(spec)
        try:
            outcomes = json.loads(result.stdout)
        except ValueError:
            raise SystemExit(f"{result.status}: {result.stderr.decode('utf-8', 'replace')[-2000:]}") from None
        found = {name: {"reached": reached or "", "why": why} for name, (reached, why) in outcomes.items()}
        for name, how in outside.reached():
            found[name]["reached"] += f" outside: {how}"
        return found


def main() -> None:
    """Writes the result; what the editor sent to this process is repeated at the end, whole if nothing stole it."""
    kind, name, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    own = folder / "sandbox"
    own.mkdir(mode=0o700)
    box = boxes(own)[name]()
    try:
        asyncio.run(box.run(RunSpec(("true",))))
    except BoxError as error:
        print(error, file=sys.stderr)
        sys.exit(NO_BOX)
    place = folder / "world"
    place.mkdir()
    found = asyncio.run(attacks(box, place) if kind == "attacks" else bombs.all_of(box, place, own))
    (folder / f"{kind}.json").write_text(json.dumps(found), encoding="utf-8")
    sys.stdout.write(sys.stdin.read())


if __name__ == "__main__":
    main()
