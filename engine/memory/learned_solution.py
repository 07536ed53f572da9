"""The solution learned from an edit: remembered if the edit is kept, updated by the user's changes."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Request
from stet_ls.engine.memory.request_scope import request_wording, root_of, scope_for, squeezed
from stet_ls.engine.memory.solution import GLOBAL, Solution
from stet_ls.engine.privacy.redact import redact
from stet_ls.engine.privacy.secrets.dotenv import workspace_values
from stet_ls.validators import structure
from stet_ls.validators.source import Source

Places = tuple[tuple[Path, ...], Path | None]
"""The roots of a workspace, and a document's path."""


def solution_from_edit(request: Request, answer: Answer, scope: str) -> Solution | None:
    """The solution in an answer; None if it has no words, is no whole unit, was refuted, or contains a secret."""
    words, _ = request_wording(request)
    if not request.spec.learns or not (answer.success and answer.edits and words) or answer.refuted:
        return None
    code = textwrap.dedent(answer.code).strip("\n")
    units = structure.units(Source(code), request.language)
    buffers = [(each.path, each.text) for each in request.workspace.buffers]
    if not units or _holds_secret("\n".join([words, code, answer.tests or ""]), places_of(request), buffers):
        return None
    root = root_of(request)
    place = request.path.resolve() if request.path is not None else None
    return Solution(
        instruction=words,
        code=code,
        language=request.language,
        tests=answer.tests or "",
        evidence=tuple(f"{each.label}: {each.verdict}, {each.detail}" for each in answer.evidence),
        outcome="proven" if any(map(_proves, answer.evidence)) else "kept",
        scope=GLOBAL if scope == GLOBAL else scope_for(request),
        kind=request.action,
        signature=units[0].signature,
        unit=units[0].qualified,
        path=place.relative_to(root).as_posix() if place and root and place.is_relative_to(root) else "",
        model=answer.metadata.model,
    )


def _proves(evidence: Evidence) -> bool:
    """True for trusted tests that pass; they count only where they executed the change, see `Evidence.count`."""
    return bool(
        evidence.check is Check.TESTS and evidence.verdict is Ruling.PASS and evidence.trusted and evidence.count
    )


def with_edited_unit(solution: Solution, text: str, places: Places) -> Solution | None:
    """The solution with the unit as the user left it; None if it is gone, or now contains a secret."""
    unit = with_present_unit(solution, text)
    return None if unit is None or _holds_secret(unit.code, places) else unit


def places_of(request: Request) -> Places:
    """The places that may contain a request's secrets."""
    return request.workspace.roots, request.path


def _holds_secret(text: str, places: Places, buffers: Sequence[tuple[Path, str]] = ()) -> bool:
    """True if a text contains an apparent secret, or a value of the project's `.env`."""
    return bool(redact(text, values=workspace_values(*places, buffers)).redactions)


def digest(code: str) -> str:
    """Identifies code, ignoring white space."""
    return hashlib.sha256(squeezed(code).encode("utf-8", "replace")).hexdigest()


def with_present_unit(solution: Solution, text: str) -> Solution | None:
    """The solution with its unit from a text; None if it is not there."""
    source = Source(text)
    unit = next((each for each in structure.units(source, solution.language) if each.qualified == solution.unit), None)
    if unit is None:
        name = solution.unit.rpartition(".")[2]
        named = [each for each in structure.units(source, solution.language) if each.name == name]
        unit = named[0] if len(named) == 1 else None
    if unit is None:
        return None
    code = textwrap.dedent(source.slice(unit.span))
    # The tests and the evidence were for another text.
    return replace(solution, code=code, signature=unit.signature, tests="", evidence=())
