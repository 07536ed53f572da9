"""Runs JavaScript and TypeScript: Node in the sandbox, with a builder for texts that Node cannot read."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.execution.harness_run import HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.launch import LEAST_SECONDS, TOO_LATE, launch
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE, esbuild
from stet_ls.engine.runners.toolchain import BoxProgram, MissingToolError
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec

_INSIDE = (
    "main.mjs", "loading.mjs", "worker.mjs", "determinism.mjs", "probes.mjs", "encode.mjs", "aliasing.mjs",
    "intrinsics.mjs",
)  # fmt: skip
_LIMITS = Limits(seconds=20.0, processes=128)


async def run(
    runtime: Runtime, trial: HarnessRun, language: str, overlay: Overlay | None = None
) -> HarnessReport | NotRunnable:
    """Runs calls in the sandbox. Cancelling ends all of its processes. NotRunnable, with the reason, if impossible.

    The trial's path is relative to the working folder.
    """
    left = runtime.left()
    if left < LEAST_SECONDS:
        return TOO_LATE
    try:
        node, builder = await asyncio.to_thread(_programs, overlay)
    except MissingToolError as missing:
        return NotRunnable(f"{missing} is not installed: {missing.install}")
    trial = replace(trial, seconds=min(trial.seconds, left))
    nonce = secrets.token_hex(8)
    folder, place = Path(__file__).parent / "inside", f".stet-{nonce}"
    job = trial.to_json(
        nonce,
        esbuild=str(builder.path) if builder else "",
        typescript=language.startswith("typescript"),
        builds=language != "javascript",
    )
    files = {f"{place}/{name}": (folder / name).read_bytes() for name in _INSIDE}
    spec = RunSpec(
        (str(node.path), "--no-warnings", f"{place}/main.mjs", f"{place}/job.json"),
        files={**files, f"{place}/job.json": job},
        binds=tuple(dict.fromkeys((*node.binds, *(builder.binds if builder else ())))),
        overlay=overlay,
        env={"TZ": "UTC", "NO_COLOR": "1", "PATH": f"{node.path.parent}:/usr/bin:/bin"},
        limits=_LIMITS,
        report=True,
    )
    return await launch(runtime, spec, nonce, trial)


def _programs(overlay: Overlay | None) -> tuple[BoxProgram, BoxProgram | None]:
    """Node, and esbuild if there is one. Raises Missing."""
    node = toolchain.find("node", install=NODE)
    try:
        return node, esbuild(overlay.root if overlay else None)
    except MissingToolError:
        return node, None
