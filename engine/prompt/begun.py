"""The start of the reply, which some endpoints can be given: a fence, and the header and documentation if they stay."""

from __future__ import annotations

import re

from stet_ls.engine.api.request import Request, Target, TargetKind
from stet_ls.engine.prompt.code_view import CodeView
from stet_ls.engine.prompt.instruction import Instruction, beyond_doc
from stet_ls.engine.prompt.task_spec import TaskSpec
from stet_ls.validators.structure import Unit, is_stub, units

_ABOUT_HEADERS = re.compile(
    r"(?i)param|\barg|signatur|renam|\bname|\btype|annotat|hint|async|await|decorat|doc|comment|default|keyword|static"
    r"|\bclass|generic|overload|import|[^\x00-\x7f]"
)
"""An instruction with one of these may change the header; one in another language may say anything."""

_UNCERTAIN_HEADER = re.compile(r"[=@]|\basync\b")
"""A header with a default value, a decorator or `async` may be what is wrong."""


def reply_start(
    request: Request, target: Target, task: TaskSpec, instruction: Instruction | None, shown: CodeView, opening: str
) -> str:
    """The start of the reply after `opening`, its fence; "" for a task whose reply is no single block of code."""
    if task.reply_kind != "unit":
        return ""
    return f"{opening}\n{_kept(request, target, task, instruction, shown)}"


def _kept(request: Request, target: Target, task: TaskSpec, instruction: Instruction | None, shown: CodeView) -> str:
    """The lines of the target that the result begins with; "" if it is not certain that they stay."""
    if target.kind is not TargetKind.UNIT:
        return ""
    source = request.source
    found = (unit for unit in units(source, request.language) if target.span.contains(unit.span))
    unit = next((unit for unit in found if unit.qualified == target.name and unit.kind != "class"), None)
    if unit is None or (last := _last_line(request, unit)) is None:
        return ""
    is_written = request.spec.inserts and is_stub(source, request.language, unit)
    asked = "" if instruction is None or instruction.origin == "stub" else beyond_doc(instruction, unit)
    words = "\n".join((asked, *request.constraints))
    if not (task.keeps_header or is_written) or _ABOUT_HEADERS.search(words):
        return ""
    first = source.line_of(unit.span.start)
    numbers = tuple(range(first, last + 1))
    if shown.lines[: len(numbers)] != numbers or (len(shown.lines) == len(numbers) and not is_written):
        return ""  # something of it is hidden, or nothing would follow
    lines = shown.text.split("\n")[: len(numbers)]
    if request.spec.fixes and unit.body is not None:
        header = source.slice(type(unit.span)(unit.span.start, unit.body.start))
        if _UNCERTAIN_HEADER.search(header):
            return ""
    return "\n".join(lines) + "\n"


def _last_line(request: Request, unit: Unit) -> int | None:
    """The last line of the header, or of the documentation below it; None if the body starts in that line."""
    source, body, doc = request.source, unit.body, unit.doc_span
    if body is None:
        return None
    if doc is not None and body.contains(doc):
        last = source.line_of(max(doc.end - 1, doc.start))
        return last if not source.slice(type(doc)(doc.end, source.line_span(last).end)).strip() else None
    brace = source.slice(body)[:1] == "{"
    last = source.line_of(body.start) - (not brace)
    if brace and source.slice(type(body)(body.start, source.line_span(last).end)).strip() != "{":
        return None
    if not brace and source.line_text(last + 1)[:1].strip():
        return None
    return last if last >= source.line_of(unit.span.start) else None
