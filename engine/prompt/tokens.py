"""Counting tokens without a tokenizer."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digit>[0-9])|(?P<gap>[\r\n][ \t]*|[ \t]{2,})"
    r"|(?P<mark>[!-/:-@\[-`{-~]+)|(?P<other>[^\x00-\x7f])"
)


def estimate(text: str) -> int:
    """The approximate number of tokens of `text` in a code model's tokenizer, rather too many than too few.

    Fitted to the Qwen vocabulary on source files of six languages: a word costs one token for every seven letters,
    digits go one by one, a line break takes its indentation with it, a single space costs nothing, punctuation goes
    in threes, and what is not ASCII costs one per character. On 280 files of eight languages this was 0.83 to 1.31
    times the count of Qwen2.5-Coder's own tokenizer (two outside of 0.9 to 1.3), 1.01 to 1.15 times in each language's
    sum. A model's deviation is learned from the counts that its endpoint reports (`model.profiles.token_calibration`).
    """
    total = 0
    for match in _PIECE.finditer(text):
        length = match.end() - match.start()
        if match.lastgroup == "word":
            total += max(1, (length + 5) // 7)
        elif match.lastgroup == "mark":
            total += max(1, length // 3)
        else:
            total += 1
    return total
