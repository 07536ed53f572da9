"""How code from a reply lands in a document: `«»` mark the target, `¦` a position, `⟦⟧` a `stet:` comment."""

from __future__ import annotations

import re
from textwrap import dedent

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.fitting.fit import Fitted, fit_code
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import units

MARKS = re.compile("[«»¦⟦⟧]")


def place(marked: str, language: str, name: str, kind: TargetKind | None) -> tuple[Source, Target, Span | None]:
    """The document without its marks, the target and the comment."""
    at: dict[str, int] = {}
    plain = ""
    for piece in re.split(f"({MARKS.pattern})", marked):
        if MARKS.fullmatch(piece):
            at[piece] = len(plain.encode())
        else:
            plain += piece
    source = Source(plain)
    replaces = Span(at["⟦"], at["⟧"]) if "⟦" in at else None
    if "¦" in at:
        line = source.line_text(source.line_of(at["¦"]))
        target = Target(TargetKind.INSERTION, Span(at["¦"], at["¦"]), indent=re.match(r"[ \t]*", line)[0])  # type: ignore[index]
    elif "«" in at:
        span = Span(at["«"], at["»"])
        indent = re.match(r"[ \t]*", source.slice(span))[0]  # type: ignore[index]
        target = Target(kind or TargetKind.UNIT, span, name, indent)
    elif name:
        unit = next(unit for unit in units(source, language) if unit.qualified == name)
        indent = re.match(r"[ \t]*", source.slice(unit.span))[0]  # type: ignore[index]
        target = Target(TargetKind.UNIT, unit.span, name, indent)
    else:
        target = Target(TargetKind.DOCUMENT, source.whole)
    return source, target, replaces


def fitted(
    marked: str, code: str, language: str = "python", name: str = "", kind: TargetKind | None = None
) -> tuple[str, Fitted]:
    source, target, replaces = place(marked, language, name, kind)
    result = fit_code(code, source=source, target=target, language=language, replaces=replaces)
    return source.splice(result.splices).text, result


def check(before: str, code: str, after: str, language: str = "python", name: str = "", **more: TargetKind) -> None:
    text, result = fitted(dedent(before), dedent(code), language, name, **more)
    assert result.problem is None
    assert text == dedent(after)
