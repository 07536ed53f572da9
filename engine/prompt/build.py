"""The prompt: what never changes first, then the context, the target and the task, and the reply's form last.

system   role, data rule, language card, conventions      the same bytes for all requests of a kind
         for some kinds an example of a reply, as two turns
user     <data-id> context, target </data-id>             redacted, template words neutralized
         task, instruction, constraints
         the reply's form
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.errors import UsageError
from stet_ls.engine.models import Message, Request, Target, TargetKind
from stet_ls.engine.prompt import wording
from stet_ls.engine.prompt.context import Piece, Worth, gather
from stet_ls.engine.prompt.conventions import conventions
from stet_ls.engine.prompt.fence import code_fence, data, nonce
from stet_ls.engine.prompt.ignored import Ignored
from stet_ls.engine.prompt.ignored import left_out as left_out_files
from stet_ls.engine.prompt.instruction import Instruction
from stet_ls.engine.prompt.layout import Layout, choose
from stet_ls.engine.prompt.redact import Redaction
from stet_ls.engine.prompt.seal import UNSEALED, Sealed, seal, seal_more
from stet_ls.engine.prompt.task import Task, Tier, Wants
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.prompt.view import View, stub_lines, view
from stet_ls.validators.languages import language
from stet_ls.validators.source import Span
from stet_ls.validators.structure import units

__all__ = ["Prompt", "Task", "Tier", "Wants", "build", "repair"]

_BEARABLE: dict[Tier, Worth] = {"tiny": Worth.SIGNATURE, "mid": Worth.CALLER, "strong": Worth.CALLER}
_LEAST_REPLY = 400
"""Tokens of its own reply that a model sees again at least when it is asked to mend it."""

# What the tag of the reply's code block is where the language's id would puzzle a model.
_TAGS = {"shellscript": "bash", "csharp": "cs", "javascriptreact": "jsx", "typescriptreact": "tsx", "plaintext": ""}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent. `tokens` is an estimate, `left_out` says what did not fit or is never shown.

    `secrets` maps the placeholders that a reply may bring back to what they stand for, see `redact.restore`.
    """

    messages: tuple[Message, ...]
    tokens: int
    left_out: tuple[str, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    budget: int = 0
    form: str = ""
    sealed: Sealed = field(default=UNSEALED, repr=False)

    @property
    def ident(self) -> str:
        """The id of its data fence."""
        return self.sealed.ident


def build(
    request: Request,
    target: Target,
    instruction: Instruction | None,
    task: Task,
    *,
    budget_tokens: int,
    tier: Tier = "strong",
    ignore: tuple[str, ...] = (),
) -> Prompt:
    """The first prompt of a job, of at most about `budget_tokens`. `ignore` are the user's patterns of hidden files.

    What does not fit goes by its worth: conventions, callers, bodies, signatures, the frame, what the user gave, the
    reported problems. Raises UsageError with the size if the target and the task alone are too much, and PolicyError
    if a secret could not be taken out. Reads the project's settings files: not for an event loop.
    """
    hidden_files = left_out_files(request.context, Ignored(request.workspace, ignore))
    request = replace(request, context={k: v for k, v in request.context.items() if k not in hidden_files})
    never = tuple(f"context {name!r} ({reason})" for name, reason in hidden_files.items())
    done = (instruction.replaces,) if instruction is not None and instruction.replaces is not None else ()
    stub = _stub(request, target) if tier == "tiny" else ()
    shown = view(request.source, target.span, request.language, indent=target.indent, hidden=(*done, *stub))
    pieces = [piece for piece in gather(request, target, shown, hidden=done) if piece.worth <= _BEARABLE[tier]]
    layout = _layout(request, target, instruction, task, tier, shown, pieces, unwritten=bool(stub))
    facts = conventions(request)
    system = wording.system(task.wants, request.language, facts)
    room = budget_tokens - _tokens(_messages(system, layout, (), task.wants))
    chosen, left_out = choose(pieces, room)
    if left_out and facts:
        bare = wording.system(task.wants, request.language, ())
        room += estimate(system) - estimate(bare)
        system = bare
        chosen, left_out = choose(pieces, room)
        left_out = (*left_out, "the project's conventions")
    if room < 0:
        raise UsageError(
            f"{target.name or 'The target'} and its task are about {budget_tokens - room:,} tokens and the model can "
            f"take {budget_tokens:,} at once: select a smaller part"
        )
    sealed = seal(request, _messages(system, layout, chosen, task.wants), layout.ident)
    return Prompt(
        messages=sealed.messages,
        tokens=_tokens(sealed.messages),
        left_out=(*never, *left_out),
        redactions=sealed.redactions,
        secrets=sealed.restorable,
        budget=budget_tokens,
        form=layout.form,
        sealed=sealed,
    )


def repair(prompt: Prompt, reply_text: str, problem: str) -> Prompt:
    """The prompt that follows a reply of no use: all before stays as it is, the reply and a turn about it are added.

    `problem` may hold messages of tools and is fenced as data. A reply too long for the budget is shown by its head.
    """
    turn = wording.again(data(problem, prompt.ident), prompt.form)
    reply, turn, sealed = seal_more(prompt.sealed, reply_text, turn)
    messages = (
        *prompt.messages,
        Message("assistant", _head(reply, max(_LEAST_REPLY, prompt.budget - prompt.tokens)) or "(nothing)"),
        Message("user", turn),
    )
    return replace(prompt, messages=messages, tokens=_tokens(messages), secrets=sealed.restorable, sealed=sealed)


def _stub(request: Request, target: Target) -> tuple[Span, ...]:
    """The lines of a stub that a small model would hand back as its answer."""
    if target.kind is TargetKind.UNIT:
        for unit in units(request.source, request.language):
            if unit.qualified == target.name and target.span.contains(unit.span):
                return stub_lines(request.source, request.language, unit)
    return ()


def _layout(
    request: Request,
    target: Target,
    instruction: Instruction | None,
    task: Task,
    tier: Tier,
    shown: View,
    pieces: Sequence[Piece],
    *,
    unwritten: bool,
) -> Layout:
    row = language(request.language)
    tag = _TAGS.get(request.language, request.language if row else "")
    wish = instruction.text if instruction else ""
    fence = code_fence(shown.text, wish, *(piece.text for piece in pieces))
    opening = wording.opening(task.wants, target, request.language, _header(shown.text, target.name))
    title = wording.title(target, empty=unwritten or not shown.text.strip())
    return Layout(
        heading=f"File: {request.path.name}\n{title}" if request.path else title,
        target=shown.text,
        order=wording.order(task, wish, request.constraints),
        form=wording.form(task.wants, f"{fence}{tag}\n{opening}\n{fence}", tier),
        fence=fence,
        tag=tag,
        ident=nonce(),
    )


def _header(text: str, name: str) -> str:
    """The line that names a unit: its first one but for decorators and comments."""
    simple = name.rpartition(".")[2]
    naming = (line for line in text.split("\n") if re.search(rf"\b{re.escape(simple)}\b", line))
    code = (line for line in naming if line.lstrip()[:1] not in tuple("@#/*"))
    return next(code, "").rstrip() if simple else ""


def _messages(system: str, layout: Layout, chosen: Sequence[Piece], wants: Wants) -> tuple[Message, ...]:
    return Message("system", system), *wording.example(wants), Message("user", layout.user(chosen))


def _head(reply: str, tokens: int) -> str:
    lines = reply.split("\n")
    while len(lines) > 1 and estimate("\n".join(lines)) > tokens:
        lines = lines[: max(1, len(lines) * 3 // 4)]
    return "\n".join(lines)


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate(message.content) + 4 for message in messages)
