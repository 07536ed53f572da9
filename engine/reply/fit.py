"""Stand-in until the real one is written (overwrite this file)."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from stet_ls.engine.models import Target, TargetKind
from stet_ls.validators.source import Source, Span, Splice


@dataclass(frozen=True, slots=True)
class Fitted:
    """How code goes into a document."""

    splices: tuple[Splice, ...]
    code: str
    problem: str | None = None


def fit(code: str, *, source: Source, target: Target, language: str, replaces: Span | None = None) -> Fitted:
    """Puts code in the place of the target."""
    text = textwrap.indent(textwrap.dedent(code).strip("\n"), target.indent).replace("\n", source.line_end)
    if target.kind is TargetKind.INSERTION:
        text = text + source.line_end
    return Fitted((Splice(target.span, text),), text)
