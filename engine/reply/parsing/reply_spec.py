"""What a reply is searched for, and what a search may come to."""

from __future__ import annotations

from dataclasses import dataclass, field

from stet_ls.engine.reply.parsing.snippet import Snippet

LONGEST_REPLY = 1_000_000
"""Characters past which a reply is not read at all: four times what the most generous limit of tokens allows."""

LONGEST = 400_000
"""Characters of code past which a reply is not looked at: no unit is that long, and each look costs a parse."""

ONLY_REASONED = "The code is only in the model's reasoning, and no run confirms it."
NO_CODE = "The reply contains no code."
STOPPED = "The reply ends in the middle of the code."
REPEATED = "The reply repeated itself."
TOO_LONG = "The reply is too long for the requested code."


@dataclass(frozen=True, slots=True)
class ReplySpec:
    """The language, the (perhaps qualified) name of the unit, or "", and its present text, or "".

    `truncated` says that the model was stopped before it had ended.
    """

    language: str
    symbol: str = ""
    current: str = ""
    truncated: bool = False

    def snippet(self, text: str) -> Snippet:
        """A piece of the reply, seen in the wanted language."""
        return Snippet(text, self.language)

    def accepts(self, snippet: Snippet) -> bool:
        """True if the code could be what is wanted: it defines the symbol, or any code will do."""
        if not snippet.text.strip() or snippet.is_prose:
            return False
        return snippet.defines(self.symbol) if self.symbol else True

    def unchanged(self, code: str) -> bool:
        """True if the code is the present text but for white space."""
        return bool(self.current) and code.split() == self.current.split()


@dataclass(frozen=True, slots=True)
class FoundCode:
    """Code that was found, and what had to be done to find it, in words for the log."""

    text: str
    repairs: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class NoCode:
    """Why no code was found, in one sentence."""

    problem: str


SearchResult = FoundCode | NoCode
