"""The user's instruction: passed, selected, or left in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from stet_ls.engine.api.request import Request, Target, TargetKind
from stet_ls.engine.prompt.stet_comments import comment_words
from stet_ls.engine.prompt.target import comment_for, selected_span
from stet_ls.validators.source import Span
from stet_ls.validators.structure import Unit, is_stub, unit_at, units

_STRING = re.compile(r"""^[rRuUbB]{0,2}(?P<quote>\"{3}|'{3}|["'])(?P<text>.*)(?P=quote)$""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Instruction:
    """What to do. `replaces` is the span of the `stet:` comment, which the edit removes."""

    text: str
    origin: Literal["argument", "selection", "comment", "stub"]
    replaces: Span | None = None


def find_instruction(request: Request, target: Target) -> Instruction | None:
    """The instruction of a request, from the first place that has one; None if none does.

    The places, in order: the argument; a selected comment or docstring; a `stet:` comment in the selection, at the
    cursor or above it; the docstring or the signature of a stub.
    """
    if text := request.instruction.strip():
        return Instruction(text, "argument")
    comment = comment_for(request)
    selection = selected_span(request)
    if comment is not None:
        return Instruction(comment.text, "comment", comment.span)
    if selection is not None and request.spec.comment_instructs and (text := _prose(request, selection.span)):
        return Instruction(text, "selection")
    return _of_stub(request, target) if request.spec.inserts else None


def beyond_doc(instruction: Instruction | None, unit: Unit) -> str:
    """An instruction's text; "" if the unit's own header and documentation say all of it."""
    if instruction is None or (instruction.origin == "stub" and unit.doc):
        return ""
    return "" if " ".join(instruction.text.split()) in " ".join(unit.doc.split()) else instruction.text


def _prose(request: Request, span: Span) -> str:
    """The text of a selected comment or docstring (not of other strings); "" for anything else."""
    text = request.source.slice(span).strip()
    if words := comment_words(text, request.language):
        return words
    string = _STRING.match(text)
    unit = unit_at(request.source, request.language, span)
    if string is None or unit is None or not unit.doc:
        return ""
    words = " ".join(string.group("text").split())
    return words if words and words in " ".join(unit.doc.split()) else ""


def _of_stub(request: Request, target: Target) -> Instruction | None:
    if target.kind is not TargetKind.UNIT:
        return None
    for unit in units(request.source, request.language):
        if unit.qualified == target.name and target.span.contains(unit.span):
            if unit.kind == "class" or not is_stub(request.source, request.language, unit):
                return None
            return Instruction(f"Implement `{unit.signature}`{f': {unit.doc}' if unit.doc else ''}", "stub")
    return None
