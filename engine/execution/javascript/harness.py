"""Runs JavaScript and TypeScript: Node in the sandbox, with a builder for texts that Node cannot read."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.execution.harness_run import HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.javascript.inputs.values.value_draws import METHODS
from stet_ls.engine.execution.javascript.strip_types import without_types
from stet_ls.engine.execution.launch import LEAST_SECONDS, TOO_LATE, launch
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE, esbuild
from stet_ls.engine.runners.toolchain import BoxProgram, MissingToolError
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

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
        hidden=_private_fields(trial.texts) if language.startswith("typescript") else {},
        methods=METHODS,
        untyped=await asyncio.to_thread(_untyped, trial, language),
        records=await asyncio.to_thread(_records, trial.texts[0], trial.target, language),
        says=await asyncio.to_thread(_promises_messages, trial.texts[0], trial.target, language),
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


_PRIVATE = re.compile(r"\bprivate\s+(?:(?:static|readonly|override)\s+)*([A-Za-z_$][\w$]*)")
_CLASS = re.compile(r"\bclass\s+([A-Za-z_$][\w$]*)")


def _private_fields(texts: Sequence[str]) -> dict[str, list[str]]:
    """By class the members that TypeScript keeps to it: no part of what an object shows."""
    found: dict[str, set[str]] = {}
    for text in texts:
        _, *classes = _CLASS.split(text)
        for name, body in zip(classes[::2], classes[1::2], strict=True):
            found.setdefault(name, set()).update(_PRIVATE.findall(body))
    return {name: sorted(fields) for name, fields in found.items() if fields}


def _untyped(trial: HarnessRun, language: str) -> dict[str, str]:
    """The texts without their types, for a project without a builder."""
    if not language.startswith("typescript"):
        return {}
    texts = (*trial.texts, *(text for text, _ in trial.probed))
    return {text: plain for text in texts if (plain := without_types(text, language)) is not None}


_TAKEN = re.compile(r"\bfunction\b[^()]*\(([^()]*)|\(([^()]*)\)(?:: \w+)? =>")
"""What functions within take: one that is returned is called, too."""
_ASYNCHRONOUS = re.compile(r"\basync\b|\bawait\b|\.then\(")


def _records(text: str, target: str, language: str) -> str:
    """Which calls of callbacks count: "async" and "calls" for all, "" for none.

    How often a pure function is called is an implementation's own affair; one whose result is dropped has an effect.
    """
    for unit in units(Source(text), language):
        if unit.qualified == target:
            own = Source(text).slice(unit.span)
            if _ASYNCHRONOUS.search(own):
                return "async"
            taken = " ".join((unit.signature.partition("(")[2], *map("".join, _TAKEN.findall(own))))
            names = "|".join(dict.fromkeys(re.findall(r"[A-Za-z_$][\w$]*", taken)))
            alone = re.search(rf"(?m)(?:^|[;{{)])\s*(?:{names})\([^;]*\);?\s*(?:\}}|$)", own) if names else None
            return "calls" if alone else ""
    return ""


_MESSAGES = re.compile(r"(?i)\b(throws?|rejects?|messages?|errors?)\b.*[\"'`]")


def _promises_messages(text: str, target: str, language: str) -> bool:
    """Whether the documentation of a unit quotes what its errors say. Otherwise a better message is no difference."""
    docs = (unit.doc for unit in units(Source(text), language) if unit.qualified == target)
    return any(_MESSAGES.search(doc) for doc in docs)


def _programs(overlay: Overlay | None) -> tuple[BoxProgram, BoxProgram | None]:
    """Node, and esbuild if there is one. Raises MissingToolError."""
    node = toolchain.find("node", install=NODE)
    try:
        return node, esbuild(overlay.root if overlay else None)
    except MissingToolError:
        return node, None
