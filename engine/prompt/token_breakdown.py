"""The size of each part of a prompt in tokens, for display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stet_ls.engine.prompt.context_items import ContextItem
from stet_ls.engine.prompt.layout import Layout
from stet_ls.engine.prompt.seal import SealedPrompt
from stet_ls.engine.prompt.tokens import estimate


@dataclass(frozen=True, slots=True)
class PromptPart:
    """The name of a part of a prompt, and its approximate size in tokens."""

    name: str
    tokens: int


def parts_of(
    sealed: SealedPrompt, system: str, layout: Layout, pieces: Sequence[ContextItem], notes: str, tokens: int
) -> tuple[PromptPart, ...]:
    """The parts in the order in which they are sent. They add up to `tokens`: the last part is the remaining markup."""
    names = {value: name for name, value in sealed.secrets.items()}
    parts = [
        PromptPart(name, estimate(_sent(text, names))) for name, text in _texts(sealed, system, layout, pieces, notes)
    ]
    return (*parts, PromptPart("titles, fences and turns", tokens - sum(part.tokens for part in parts)))


def _texts(
    sealed: SealedPrompt, system: str, layout: Layout, pieces: Sequence[ContextItem], notes: str
) -> Iterator[tuple[str, str]]:
    rules, _, facts = system.partition("\nConventions: ")
    yield "the rules", rules
    if facts:
        yield "the project's conventions", facts
    if example := "\n".join(message.content for message in sealed.messages[1:-1]):
        yield "an example of a reply", example
    if notes:
        yield "the project's notes", notes
    for piece in pieces:
        yield piece.name, piece.text
    yield "the target", layout.target
    yield "the task", layout.order
    yield "the reply's form", layout.form


def _sent(text: str, names: Mapping[str, str]) -> str:
    """A text with its secrets replaced by placeholders, as it is sent."""
    for value, name in names.items():
        text = text.replace(value, name)
    return text
