"""The specification of a search in a reply, and its results."""

from __future__ import annotations

from dataclasses import dataclass, field

from stet_ls.engine.reply.parsing.snippet import Snippet

LONGEST_REPLY = 1_000_000
"""The most characters of a reply that is read: four times what the largest limit of tokens allows."""

LONGEST = 400_000
"""The most characters of code in a reply that is parsed: no unit is that long, and each candidate costs a parse."""

ONLY_REASONED = "The code is only in the model's reasoning, and no run confirms it."
NO_CODE = "The reply contains no code."
STOPPED = "The reply ends in the middle of the code."
ENDLESS = "The reply did not end, so Stet stopped it."
REPEATED = "The reply repeated itself."
TOO_LONG = "The reply is too long for the requested code."


@dataclass(frozen=True, slots=True)
class ReplySpec:
    """Language, name and present text of the wanted unit ("" for none); `truncated`: the model was stopped."""

    language: str
    symbol: str = ""
    current: str = ""
    truncated: bool = False

    def snippet(self, text: str) -> Snippet:
        """A piece of the reply, read in the requested language."""
        return Snippet(text, self.language)

    def accepts(self, snippet: Snippet) -> bool:
        """True if the code could be the requested one: it defines the symbol, or none is required."""
        if not snippet.text.strip() or snippet.is_prose:
            return False
        return snippet.defines(self.symbol) if self.symbol else True

    def unchanged(self, code: str) -> bool:
        """True if the code is the present text except for white space."""
        return bool(self.current) and code.split() == self.current.split()


@dataclass(frozen=True, slots=True)
class FoundCode:
    """The code found, and the corrections that were needed, as text for the log."""

    text: str
    repairs: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class NoCode:
    """Why no code was found, in one sentence."""

    problem: str


SearchResult = FoundCode | NoCode
