"""Restores documentation that a reply dropped: small models often reply with the statements alone."""

from __future__ import annotations

import re

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.indent import margin_of
from stet_ls.validators import structure
from stet_ls.validators.languages import for_language
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import Unit

_DOCSTRING = re.compile(r"""[rRuU]?("{3}|'{3}).*?(?<!\\)\1|[rRuU]?(["'])[^\n]*?(?<!\\)\2""", re.DOTALL)
_HEAD = re.compile(r"\ufeff?(?:[ \t]*(?:#.*)?\r?\n)*")
"""The comments above the first statement of a module."""
_COMMENT = re.compile(r"\s*(//|/\*|\*|#(?!\[)|--)")
"""The start of a line of a documentation comment; `#[` is an attribute in Rust."""


def keep_documentation(code: str, *, source: Source, target: Target, language: str) -> str:
    """The code with the documentation restored that the target, or units in it, had and the code lacks.

    Also restores it if the code's documentation lacks `>>>` examples (they are the user's tests), or is the old one
    with lines missing.

    A docstring goes to the head of the body, a comment above the unit. Code is unchanged if the unit is not found, or
    if its body is on the line of its header.
    """
    if target.kind is TargetKind.INSERTION:
        return code
    reply = Source(code)
    present = structure.units(reply, language)
    docstrings = for_language(language).docstrings
    splices = [_heading(source, target, reply)] if docstrings else []
    for old in structure.units(source, language):
        if not target.span.contains(old.span) or not old.doc.strip():
            continue
        new = _same(present, old, target)
        if new is None or (new.doc.strip() and not (docstrings and _loses(old, new))):
            continue
        splices.append(_docstring(source, old, reply, new) if docstrings else _comment(source, old, reply, new))
    return reply.splice(sorted({splice for splice in splices if splice is not None}, key=lambda each: each.span)).text


def _same(units: tuple[Unit, ...], old: Unit, target: Target) -> Unit | None:
    """The unit of the reply that replaces one of the document; the target itself also matches by its simple name."""
    exact = [unit for unit in units if unit.qualified == old.qualified]
    if old.qualified == target.name:
        named = [unit for unit in units if unit.name == old.name]
        exact = [unit for unit in named if unit.kind != "class"] or named
        return exact[0] if exact else None
    return exact[0] if len(exact) == 1 else None


def _heading(source: Source, target: Target, reply: Source) -> Splice | None:
    """Inserts the docstring of the module, if that is the target, above the reply's first statement."""
    if target.kind is not TargetKind.DOCUMENT:
        return None
    old, new = (_HEAD.match(text) for text in (source.text, reply.text))
    assert old is not None
    assert new is not None
    text = _DOCSTRING.match(source.text, old.end())
    if text is None or _DOCSTRING.match(reply.text, new.end()):
        return None
    at = len(reply.text[: new.end()].encode())
    return Splice(Span(at, at), f"{_moved(text[0], '', '')}\n\n" if reply.text[new.end() :].strip() else text[0])


def _docstring(source: Source, old: Unit, reply: Source, new: Unit) -> Splice | None:
    if old.body is None or new.body is None:
        return None
    text = _DOCSTRING.match(source.slice(Span(old.body.start, old.span.end)))
    margin = _before(reply, new.body.start)
    if text is None or margin.strip():
        return None
    lines = _moved(text[0], _before(source, old.body.start), margin)
    replaced = _DOCSTRING.match(reply.slice(Span(new.body.start, new.span.end)))
    if replaced is not None:
        return Splice(Span(new.body.start, new.body.start + len(replaced[0].encode())), lines)
    return Splice(Span(new.body.start, new.body.start), f"{lines}\n{margin}")


def _loses(old: Unit, new: Unit) -> bool:
    """Whether the new documentation lacks examples, or consists only of a part of the old one's lines."""
    had, has = ([line.strip() for line in unit.doc.splitlines() if line.strip()] for unit in (old, new))
    return bool(_examples(old) - _examples(new)) or (len(has) < len(had) and set(has) < set(had))


def _examples(unit: Unit) -> set[str]:
    return {line.strip() for line in unit.doc.splitlines() if line.strip().startswith(">>>")}


def _comment(source: Source, old: Unit, reply: Source, new: Unit) -> Splice | None:
    lines = source.slice(old.span).splitlines()
    count = next((number for number, line in enumerate(lines) if not _COMMENT.match(line)), 0)
    if not count:
        return None
    margin = margin_of(reply.slice(new.span))
    text = _moved("\n".join(lines[:count]).lstrip(), margin_of(lines[0]), margin)
    return Splice(Span(new.span.start, new.span.start), f"{margin}{text}\n")


def _before(source: Source, offset: int) -> str:
    """The part of a line before an offset."""
    return source.slice(Span(source.starts[source.line_of(offset)], offset))


def _moved(text: str, margin: str, to: str) -> str:
    """The lines after the first moved from one margin to another; the first is unchanged."""
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return "\n".join([first, *(to + line.removeprefix(margin) if line.strip() else line for line in rest)])
