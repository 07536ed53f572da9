"""The user's own interpreter for a workspace: the first candidate that works, with reasons against the others."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.engine.sandbox.environments.installation import Installation, UnfitError, installation
from stet_ls.engine.sandbox.environments.interpreter import Interpreter
from stet_ls.engine.sandbox.environments.interpreter_candidates import candidates
from stet_ls.engine.sandbox.environments.probe_cache import ProbeCache
from stet_ls.engine.sandbox.spec import Box, Limits, RunSpec

_SCRIPT = Path(__file__).parents[1] / "inside" / "interpreter_probe.py"
_LIMITS = Limits(seconds=30.0, output=4 * 1024 * 1024)
_NAME = 200
"""Characters accepted of a reported name; no installed package has a longer one."""


@dataclass(frozen=True, slots=True)
class RejectedInterpreter:
    """A rejected candidate: its label, its program and the reason."""

    source: str
    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class DetectionResult:
    """The result; `interpreter` is None if none works, and `tried` then holds all reasons."""

    interpreter: Interpreter | None
    tried: tuple[RejectedInterpreter, ...] = ()

    def why_none(self) -> str:
        """One sentence for a user whose Pythons all fail."""
        reasons = "; ".join(f"{each.source} ({each.path}): {each.why}" for each in self.tried[:5])
        return f"No usable Python for the sandbox: {reasons or 'none found'}. Set `sandbox.python`."


class Detector:
    """Finds interpreters and caches the results while their folders do not change.

    `proofs` caches successes beyond this process; each process checks failures again.
    """

    def __init__(self, runner: Box, proofs: ProbeCache | None = None) -> None:
        self._runner = runner
        self._proofs = proofs
        self._proven: dict[tuple[Path, str, tuple[str, ...]], Interpreter | str] = {}
        self._locks: dict[Path, asyncio.Lock] = {}

    async def find(
        self, root: Path, modules: Sequence[str] = (), *, setting: str = "", environ: Mapping[str, str] | None = None
    ) -> DetectionResult:
        """The first Python for a workspace in which every one of `modules` can be imported."""
        tried: list[RejectedInterpreter] = []
        places = await asyncio.to_thread(list, candidates(root, os.environ if environ is None else environ, setting))
        seen: set[Path] = set()
        for source, path in places:
            if path in seen:
                continue
            seen.add(path)
            try:
                found = await self.prove(path, modules)
            except UnfitError as error:
                tried.append(RejectedInterpreter(source, path, str(error)))
                continue
            return DetectionResult(found, tuple(tried))
        return DetectionResult(None, tuple(tried))

    async def prove(self, path: Path, modules: Sequence[str] = ()) -> Interpreter:
        """The interpreter of a program. Raises UnfitError if it or a module does not start in the sandbox."""
        place = await asyncio.to_thread(installation, path)
        key = (path, place.stamp, tuple(sorted(modules)))
        async with self._locks.setdefault(path, asyncio.Lock()):
            if key not in self._proven:
                try:
                    self._proven[key] = await self._known(place, sorted(modules))
                except UnfitError as error:
                    self._proven[key] = str(error)
        known = self._proven[key]
        if isinstance(known, str):
            raise UnfitError(known)
        return known

    async def _known(self, place: Installation, modules: list[str]) -> Interpreter:
        """Stored facts are checked like new ones."""
        script = _SCRIPT.read_bytes()
        if self._proofs is None:
            return _interpreter(place, await self._ask(place, modules, script))
        key = await self._proofs.key(place, modules, script)
        if (report := await self._proofs.get(key)) is not None:
            with contextlib.suppress(UnfitError):
                return _interpreter(place, report)
        report = await self._ask(place, modules, script)
        found = _interpreter(place, report)
        await self._proofs.keep(key, report)
        return found

    async def _ask(self, place: Installation, modules: list[str], script: bytes) -> Any:
        result = await self._runner.run(
            RunSpec(
                (str(place.path), "-I", _SCRIPT.name, *modules),
                files={_SCRIPT.name: script},
                binds=place.binds,
                limits=_LIMITS,
            )
        )
        try:
            return json.loads(result.stdout)
        except (ValueError, RecursionError):
            last_line = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise UnfitError(
                f"it does not start in the sandbox ({result.status}{': ' if last_line else ''}{last_line})"
            ) from None


def _interpreter(place: Installation, report: Any) -> Interpreter:
    """The checked report from inside the sandbox."""
    try:
        if report["implementation"] != "cpython":
            raise UnfitError(f"{report['implementation']} is not CPython")
        major, minor, micro = (int(part) for part in report["version"])
        failed = {str(name): str(why) for name, why in report["failures"].items()}
        found = Interpreter(
            path=place.path,
            version=(major, minor, micro),
            binds=place.binds,
            base=place.base,
            modules=_names(report["modules"]),
            standard=_names(report["standard"]),
            distributions={
                str(top): (str(name), str(number)) for top, (name, number) in report["distributions"].items()
            },
            packages=tuple(Path(str(folder)) for folder in report["packages"]),
            stamp=place.stamp,
            free_threaded=bool(report["free_threaded"]),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise UnfitError("its version information is invalid") from None
    if found.version < (3, 8):
        raise UnfitError(f"Python {found.short} is too old; Stet needs 3.8 or newer")
    if failed:
        raise UnfitError("; ".join(f"{name} cannot be imported ({why})" for name, why in sorted(failed.items())))
    return found


def _names(values: Any) -> frozenset[str]:
    return frozenset(name for name in values if isinstance(name, str) and len(name) < _NAME)
