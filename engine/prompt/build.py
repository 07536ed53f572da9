"""Builds the prompt: constant parts first, then the context, the target and the task, and the reply's form last.

system   role, data rule, language card, conventions      the same bytes for all requests of a kind
         for some kinds an example of a reply, as two turns
user     <data-id> the project's notes </data-id>         the same bytes too: this id is a hash of the notes
         <data-id> context, target </data-id>             redacted, template words neutralized
         task, instruction, constraints
         the reply's form
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stet_ls.engine.api.message import Message
from stet_ls.engine.api.request import Request, Target, TargetKind
from stet_ls.engine.errors import UsageError
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.privacy.ignored_files import left_out as left_out_files
from stet_ls.engine.privacy.redact import Redaction
from stet_ls.engine.prompt import wording
from stet_ls.engine.prompt.begun import reply_start
from stet_ls.engine.prompt.code_view import CodeView, stub_lines, view
from stet_ls.engine.prompt.context.conventions import conventions
from stet_ls.engine.prompt.context.gather import gather_context
from stet_ls.engine.prompt.context.project_notes import FILE, notes
from stet_ls.engine.prompt.context_items import ContextItem, Priority, RememberedItem
from stet_ls.engine.prompt.fence import code_fence, data, ident_for, stable
from stet_ls.engine.prompt.instruction import Instruction, beyond_doc
from stet_ls.engine.prompt.languages.language_table import for_language
from stet_ls.engine.prompt.layout import ContextChoice, Layout, choose
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt, seal, seal_more
from stet_ls.engine.prompt.task_spec import ModelTier, ReplyKind, TaskSpec
from stet_ls.engine.prompt.token_breakdown import PromptPart, parts_of
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.workspace.symbol_index import SymbolIndex
from stet_ls.validators.languages import PLAIN, language
from stet_ls.validators.source import Span
from stet_ls.validators.structure import is_stub, units

__all__ = ["ModelTier", "Prompt", "RejectionReason", "RememberedItem", "TaskSpec", "build", "refine", "repair"]

_TOO_MUCH_CONTEXT: dict[ModelTier, frozenset[Priority]] = {
    "tiny": frozenset({Priority.DEFINITION, Priority.CALLER}), "mid": frozenset(), "strong": frozenset(),
}  # fmt: skip
_LEAST_SPEC = 5
"""A docstring of fewer words is too short to write tests from."""
_LEAST_REPLY = 400
"""The fewest tokens of its own reply that a model is shown when it is asked to repair it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt to be sent. `tokens` is an estimate, as are those of its `parts`, which add up to it.

    `left_out` lists what did not fit or is never shown, with the reason and its size.

    `begun` is the start of the reply, for endpoints that can continue one. `unit` is the name of the unit that it is
    to hold, "" for code of any name, None if it is no single block of code.

    `secrets` maps the placeholders that a reply may contain to their values, see `redact.restore`.
    `remembered` are the remembered solutions that fit.
    """

    messages: tuple[Message, ...]
    tokens: int
    left_out: tuple[str, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    parts: tuple[PromptPart, ...] = ()
    budget: int = 0
    form: str = ""
    begun: str = ""
    unit: str | None = None
    sealed: SealedPrompt = field(default=UNSEALED, repr=False)
    remembered: tuple[RememberedItem, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The prompt for display to a person; lines count from 0."""
        return {
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "tokens": self.tokens,
            "parts": [{"name": part.name, "tokens": part.tokens} for part in self.parts],
            "redactions": [{"line": each.line, "kind": each.kind} for each in self.redactions],
            "left_out": list(self.left_out),
        }

    @property
    def ident(self) -> str:
        """The id of its data fence."""
        return self.sealed.ident


def build(
    request: Request,
    target: Target,
    instruction: Instruction | None,
    task: TaskSpec,
    *,
    budget_tokens: int,
    tier: ModelTier = "strong",
    ignore: tuple[str, ...] = (),
    index: SymbolIndex | None = None,
    remembered: tuple[RememberedItem, ...] = (),
    begins: bool = False,
) -> Prompt:
    """The first prompt of a job, of at most about `budget_tokens`. `ignore` are the user's patterns of hidden files.

    `begins`: the endpoint gets the start of the reply, so that its form needs fewer words.

    If it does not all fit, parts are dropped in this order: notes and conventions of the project, remembered solutions,
    callers, bodies, signatures, the frame, context from the user, the reported problems. Raises UsageError with the
    size if the target and the task alone are too large, and for a binary document; PolicyError if a secret could not
    be removed. Reads the project's files: not for an event loop.
    """
    if "\0" in request.source.text:
        raise UsageError("the document is binary, and a model is shown text alone")
    ignored = IgnoredFiles(request.workspace, ignore)
    hidden_files = left_out_files(request.context, ignored)
    request = replace(request, context={k: v for k, v in request.context.items() if k not in hidden_files})
    spec = _body_below_doc(request, target) if task.spec_first and tier != "tiny" else ()
    done = (instruction.replaces,) if instruction is not None and instruction.replaces is not None else ()
    stub = _stub(request, target) if tier == "tiny" else ()
    shown = view(request.source, target.span, request.language, indent=target.indent, hidden=(*done, *stub, *spec))
    gathered = gather_context(request, target, shown, hidden=done, index=index, remembered=remembered)
    pieces = [piece for piece in gathered.pieces if piece.worth not in _TOO_MUCH_CONTEXT[tier]]
    layout = _layout(request, target, instruction, task, tier, shown, pieces, unwritten=bool(stub), begins=begins)
    frame = _frame(request, layout, task, pieces, budget_tokens, ignored, tier)
    if frame.room < 0:
        raise UsageError(
            f"{target.name or 'The target'} and its task are about {budget_tokens - frame.room:,} tokens and the model "
            f"can take {budget_tokens:,} at once: select a smaller part"
        )
    idents = (layout.ident, *([stable(frame.notes)] if frame.notes else []))
    opening = f"{layout.fence}{layout.tag}"
    start = reply_start(request, target, task, instruction, shown, opening) if begins else ""
    messages = _messages(frame.system, frame.layout, frame.choice.pieces, task.reply_kind)
    sealed = seal(request, (*messages, Message("assistant", start)), *idents)
    sealed, start = replace(sealed, messages=sealed.messages[:-1]), sealed.messages[-1].content
    tokens = _tokens(sealed.messages)
    never = tuple(f"context {name!r} ({reason})" for name, reason in hidden_files.items())
    too_large = (*(PromptPart(each.name, estimate(each.text)) for each in frame.choice.left_out), *frame.dropped)
    no_room = tuple(f"{part.name} (no room for {part.tokens:,} tokens)" for part in too_large)
    return Prompt(
        messages=sealed.messages,
        tokens=tokens,
        left_out=(*never, *gathered.gaps, *no_room),
        redactions=sealed.redactions,
        secrets=sealed.restorable,
        parts=parts_of(sealed, frame.system, frame.layout, frame.choice.pieces, frame.notes, tokens),
        budget=budget_tokens,
        form=layout.form,
        begun=start,
        unit=(target.name if target.kind is TargetKind.UNIT else "") if task.reply_kind == "unit" else None,
        sealed=sealed,
        remembered=tuple(piece.remembered for piece in frame.choice.pieces if piece.remembered is not None),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """A choice of pieces, and the parts around them; `dropped` are those of the parts that did not fit."""

    system: str
    layout: Layout
    notes: str
    choice: ContextChoice
    room: int
    dropped: tuple[PromptPart, ...] = ()


def _frame(
    request: Request,
    layout: Layout,
    task: TaskSpec,
    pieces: Sequence[ContextItem],
    budget: int,
    ignored: IgnoredFiles,
    tier: ModelTier,
) -> _Frame:
    """The pieces that fit. Notes and conventions, the same for all jobs, are dropped only to make room for a piece."""
    facts = conventions(request, ignored)
    words = "" if tier == "tiny" else notes(request, ignored)
    best: _Frame | None = None
    dropped: tuple[PromptPart, ...] = ()
    for with_facts, with_notes in dict.fromkeys([(facts, words), (facts, ""), ((), "")]):
        system = wording.system(task.reply_kind, request.language, with_facts)
        if words and not with_notes:
            dropped = (PromptPart("the project's notes", estimate(words)),)
        if facts and not with_facts:
            dropped = (*dropped, PromptPart("the project's conventions", estimate("; ".join(facts))))
        block = data(f"From the project's {FILE}:\n{with_notes}", stable(with_notes)) if with_notes else ""
        around = replace(layout, notes=block)
        room = budget - _tokens(_messages(system, around, (), task.reply_kind))
        choice = choose(pieces, room)
        if best is None or best.room < 0 or choice.rank > best.choice.rank:
            best = _Frame(system, around, with_notes, choice, room, dropped)
        if not choice.left_out and room >= 0:
            break
    assert best is not None
    return best


@dataclass(frozen=True, slots=True)
class RejectionReason:
    """The reason why a reply was rejected, which every repair needs. Raises ValueError if it is empty."""

    text: str

    def __post_init__(self) -> None:
        """Rejects an empty reason."""
        if not self.text.strip():
            raise ValueError("a repair needs its reason")

    @classmethod
    def of(cls, text: str, *, by: str) -> RejectionReason:
        """The reason `text`; if it is empty, one that names the check `by` which rejected the reply."""
        return cls(text if text.strip() else f"It was refused by the check `{by}`, which said no more.")


def repair(prompt: Prompt, reply_text: str, problem: RejectionReason) -> Prompt:
    """The prompt plus an unusable reply (its head if long) and a turn about it; `problem` is fenced as data."""
    return _followed(prompt, reply_text, wording.retry_message(data(problem.text, prompt.ident), prompt.form))


def refine(prompt: Prompt, reply_text: str, remarks: str) -> Prompt:
    """The prompt plus its reply and a turn with a reviewer's `remarks`, fenced as data: they may be wrong."""
    return _followed(prompt, reply_text, wording.refine_message(data(remarks, prompt.ident), prompt.form))


def further(prompt: Prompt, tests: str, gaps: str) -> Prompt:
    """The prompt that requests more tests after `tests` were kept; `gaps` describes what these leave untested."""
    reply = code_fence(tests)
    turn = wording.further(data(gaps, prompt.ident), prompt.form)
    return _followed(prompt, f"TESTS:\n{reply}\n{tests.rstrip()}\n{reply}", turn)


def _followed(prompt: Prompt, reply_text: str, turn: str) -> Prompt:
    reply, turn, sealed = seal_more(prompt.sealed, reply_text, turn)
    messages = (
        *prompt.messages,
        Message("assistant", _head(reply, max(_LEAST_REPLY, prompt.budget - prompt.tokens)) or "(nothing)"),
        Message("user", turn),
    )
    return replace(prompt, messages=messages, tokens=_tokens(messages), secrets=sealed.restorable, sealed=sealed)


def _stub(request: Request, target: Target) -> tuple[Span, ...]:
    """The lines of a stub that a small model would return as its answer."""
    if target.kind is TargetKind.UNIT:
        for unit in units(request.source, request.language):
            if unit.qualified == target.name and target.span.contains(unit.span):
                return stub_lines(request.source, request.language, unit)
    return ()


def _body_below_doc(request: Request, target: Target) -> tuple[Span, ...]:
    """The lines of a documented function's body: a model that sees them tests what they do, right or wrong."""
    if target.kind is not TargetKind.UNIT:
        return ()
    unit = next((u for u in units(request.source, request.language) if u.qualified == target.name), None)
    if unit is None or unit.body is None or unit.kind == "class" or len(unit.doc.split()) < _LEAST_SPEC:
        return ()
    body, doc = unit.body, unit.doc_span
    if doc is None or not body.contains(doc):
        return ()
    first, last = request.source.line_of(doc.end) + 1, request.source.line_of(body.end)
    return tuple(request.source.line_span(number) for number in range(first, last + 1))


def _layout(
    request: Request,
    target: Target,
    instruction: Instruction | None,
    task: TaskSpec,
    tier: ModelTier,
    shown: CodeView,
    pieces: Sequence[ContextItem],
    *,
    unwritten: bool,
    begins: bool,
) -> Layout:
    row = language(request.language)
    tag = for_language(request.language).tag or (request.language if row and row.id != PLAIN else "")
    instruction_text = instruction.text if instruction else ""
    fence = code_fence(shown.text, instruction_text, *(piece.text for piece in pieces))
    given = (shown.text, instruction_text, *request.constraints, *(piece.text for piece in pieces))
    opening = wording.opening(task.reply_kind, target, request.language, _header(shown.text, target.name))
    title = wording.title(target, empty=unwritten or not shown.text.strip())
    return Layout(
        heading=f"File: {request.path.name}\n{title}" if request.path else title,
        target=shown.text,
        order=wording.order(task, _described(request, target, instruction), request.constraints),
        form=wording.form_begun(target)
        if begins and task.reply_kind == "unit"
        else wording.form(task.reply_kind, f"{fence}{tag}\n{opening}\n{fence}", tier),
        fence=fence,
        tag=tag,
        ident=ident_for(str(request.path or ""), *given),
    )


def _described(request: Request, target: Target, instruction: Instruction | None) -> str:
    """The words of the instruction. What the documentation of a stub says stands in the code already."""
    text = instruction.text if instruction else ""
    if not text or target.kind is not TargetKind.UNIT:
        return text
    found = (unit for unit in units(request.source, request.language) if target.span.contains(unit.span))
    unit = next((unit for unit in found if unit.qualified == target.name), None)
    if unit is None or beyond_doc(instruction, unit) or not is_stub(request.source, request.language, unit):
        return text
    return wording.as_documented(target)


def _header(text: str, name: str) -> str:
    """The line that names a unit: its first one that is no decorator or comment."""
    simple = name.rpartition(".")[2]
    naming = (line for line in text.split("\n") if re.search(rf"\b{re.escape(simple)}\b", line))
    code = (line for line in naming if line.lstrip()[:1] not in tuple("@#/*"))
    return next(code, "").rstrip() if simple else ""


def _messages(system: str, layout: Layout, chosen: Sequence[ContextItem], reply_kind: ReplyKind) -> tuple[Message, ...]:
    return Message("system", system), *wording.example(reply_kind), Message("user", layout.user(chosen))


def _head(reply: str, tokens: int) -> str:
    lines = reply.split("\n")
    while len(lines) > 1 and estimate("\n".join(lines)) > tokens:
        lines = lines[: max(1, len(lines) * 3 // 4)]
    return "\n".join(lines)


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate(message.content) + 4 for message in messages)
