"""The prompt: what never changes first, then the context, the target and the task, and the reply's form last.

system   role, data rule, language card, conventions      the same bytes for all requests of a kind
user     <data-id> context, target </data-id>             redacted, template words neutralized
         task, instruction, constraints
         the reply's form
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.models import Message, Request, Target, TargetKind
from stet_ls.engine.prompt import wording
from stet_ls.engine.prompt.context import Piece, Worth, gather
from stet_ls.engine.prompt.conventions import conventions
from stet_ls.engine.prompt.fence import code_fence, data, neutralize, nonce
from stet_ls.engine.prompt.instruction import Instruction
from stet_ls.engine.prompt.redact import Redaction, redact
from stet_ls.engine.prompt.task import Task, Tier, Wants
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.prompt.view import View, stub_lines, view
from stet_ls.validators.languages import language
from stet_ls.validators.structure import units

__all__ = ["Prompt", "Task", "Tier", "Wants", "build", "repair"]

_BEARABLE: dict[Tier, Worth] = {"tiny": Worth.SIGNATURE, "mid": Worth.CALLER, "strong": Worth.CALLER}
_LEAST_REPLY = 400
"""Tokens of its own reply that a model sees again at least when it is asked to mend it."""

# What the tag of the reply's code block is where the language's id would puzzle a model.
_TAGS = {"shellscript": "bash", "csharp": "cs", "javascriptreact": "jsx", "typescriptreact": "tsx", "plaintext": ""}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent. `tokens` is an estimate, `left_out` says what did not fit.

    `secrets` maps the placeholders in it to what they stand for: `redact.restore` puts them back into a reply.
    """

    messages: tuple[Message, ...]
    tokens: int
    left_out: tuple[str, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    budget: int = 0
    form: str = ""
    ident: str = ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of one user message that are always sent."""

    heading: str
    shown: View
    order: str
    form: str
    fence: str
    tag: str

    def user(self, ident: str, pieces: Sequence[Piece]) -> str:
        """The user message with the given pieces of context."""
        blocks = [self._section(title, list(group)) for title, group in groupby(pieces, key=lambda piece: piece.title)]
        target = self._block(self.shown.text) if self.shown.text.strip() else ""
        blocks.append("\n".join(filter(None, (self.heading, target))))
        return "\n\n".join([data("\n\n".join(blocks), ident), self.order, self.form])

    def _section(self, title: str, pieces: Sequence[Piece]) -> str:
        text = "\n\n".join(piece.text for piece in pieces)
        return f"{title}\n{self._block(text) if pieces[0].code else text}"

    def _block(self, text: str) -> str:
        return f"{self.fence}{self.tag}\n{text}\n{self.fence}"


def build(
    request: Request,
    target: Target,
    instruction: Instruction | None,
    task: Task,
    *,
    budget_tokens: int,
    tier: Tier = "strong",
) -> Prompt:
    """The first prompt of a job, of at most about `budget_tokens`.

    What does not fit goes by its worth: conventions, callers, bodies, signatures, the frame, what the user gave, the
    reported problems. Raises UsageError with the size if the target and the task alone are too much, and PolicyError
    if a secret could not be taken out. Reads the project's settings files: not for an event loop.
    """
    ident = nonce()
    shown = _shown(request, target, instruction, tier)
    pieces = [piece for piece in gather(request, target, shown) if piece.worth <= _BEARABLE[tier]]
    parts = _parts(request, target, instruction, task, shown, pieces)
    facts = conventions(request)
    system = wording.system(task.wants, request.language, facts)
    chosen, left_out = _choose(parts, pieces, budget_tokens - estimate(system + parts.user(ident, ())))
    if left_out and facts:
        system = wording.system(task.wants, request.language, ())
        chosen, left_out = _choose(parts, pieces, budget_tokens - estimate(system + parts.user(ident, ())))
        left_out = (*left_out, "the project's conventions")
    needed = estimate(system + parts.user(ident, ()))
    if needed > budget_tokens:
        raise UsageError(
            f"{target.name or 'The target'} and its task are about {needed:,} tokens and the model can take "
            f"{budget_tokens:,} at once: select a smaller part"
        )
    return _sealed(request, Prompt(
        (Message("system", system), Message("user", parts.user(ident, chosen))),
        0, left_out, budget=budget_tokens, form=parts.form, ident=ident,
    ))  # fmt: skip


def repair(prompt: Prompt, reply_text: str, problem: str) -> Prompt:
    """The prompt that follows a reply of no use: all before stays as it is, the reply and a turn about it are added.

    `problem` may hold messages of tools and is fenced as data. A reply too long for the budget is shown by its head.
    """
    redacted = redact(problem, prompt.secrets)
    text, secrets = neutralize(redacted.text, redacted.secrets)
    turn = wording.again(data(text, prompt.ident), prompt.form)
    reply, secrets = neutralize(redact(reply_text, secrets).text, secrets)
    messages = (
        *prompt.messages,
        Message("assistant", _head(reply, max(_LEAST_REPLY, prompt.budget - prompt.tokens)) or "(nothing)"),
        Message("user", turn),
    )
    return replace(prompt, messages=messages, tokens=_tokens(messages), secrets=secrets)


def _shown(request: Request, target: Target, instruction: Instruction | None, tier: Tier) -> View:
    hidden = [instruction.replaces] if instruction is not None and instruction.replaces is not None else []
    if tier == "tiny" and target.kind is TargetKind.UNIT:
        for unit in units(request.source, request.language):
            if unit.qualified == target.name and target.span.contains(unit.span):
                hidden += stub_lines(request.source, request.language, unit)
    return view(request.source, target.span, request.language, indent=target.indent, hidden=hidden)


def _parts(
    request: Request,
    target: Target,
    instruction: Instruction | None,
    task: Task,
    shown: View,
    pieces: Sequence[Piece],
) -> _Parts:
    row = language(request.language)
    tag = _TAGS.get(request.language, request.language if row else "")
    wish = instruction.text if instruction else ""
    fence = code_fence(shown.text, wish, *(piece.text for piece in pieces))
    name = request.path.name if request.path else ""
    heading = "\n".join(filter(None, (f"File: {name}" if name else "", wording.title(target, not shown.text.strip()))))
    order = wording.order(task, wish, request.constraints)
    return _Parts(heading, shown, order, wording.form(task, target, tag, fence), fence, tag)


def _choose(parts: _Parts, pieces: Sequence[Piece], room: int) -> tuple[list[Piece], tuple[str, ...]]:
    """The pieces that fit into `room` tokens, in reading order, and the names of the others."""
    costs = {piece.name: estimate(f"{piece.title}\n\n{piece.text}\n") + 4 for piece in pieces}
    taken: set[str] = set()
    for piece in sorted(pieces, key=lambda piece: piece.worth):
        cost = costs[piece.name] - (costs[piece.instead_of] if piece.instead_of in taken else 0)
        if cost <= room:
            room -= cost
            taken = (taken - {piece.instead_of}) | {piece.name}
    replaced = {piece.instead_of for piece in pieces if piece.name in taken}
    left_out = tuple(piece.name for piece in pieces if piece.name not in taken | replaced)
    return [piece for piece in pieces if piece.name in taken], left_out


def _sealed(request: Request, prompt: Prompt) -> Prompt:
    """The prompt without secrets and without words that a chat template obeys."""
    document = redact(request.source.text.replace("\r\n", "\n"))
    secrets: Mapping[str, str] = document.secrets
    messages: list[Message] = []
    found: list[Redaction] = []
    for message in prompt.messages:
        redacted = redact(message.content, secrets)
        if redact(redacted.text).redactions:
            raise PolicyError("The prompt holds a secret that could not be replaced, so it was not sent.")
        text, secrets = neutralize(redacted.text, redacted.secrets)
        messages.append(Message(message.role, text))
        found += redacted.redactions
    used = {redaction.placeholder for redaction in found}
    redactions = [one for one in document.redactions if one.placeholder in used]
    redactions += [replace(one, line=None) for one in found if one.placeholder not in document.secrets]
    kept = {name: value for name, value in secrets.items() if name in used or name not in document.secrets}
    return replace(
        prompt, messages=tuple(messages), tokens=_tokens(messages), secrets=kept, redactions=tuple(redactions)
    )


def _head(reply: str, tokens: int) -> str:
    lines = reply.split("\n")
    while len(lines) > 1 and estimate("\n".join(lines)) > tokens:
        lines = lines[: max(1, len(lines) * 3 // 4)]
    return "\n".join(lines)


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate(message.content) + 4 for message in messages)
