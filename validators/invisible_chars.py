"""Characters that are invisible or reorder others: Trojan Source, CVE-2021-42574."""

from __future__ import annotations

import re
from collections import Counter

HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b\x0e-\x1f\x7f-\x9f"  # control characters except tab, line ends and form feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # characters that change the text direction
    "\u200b\u2060-\u2064\ufeff"  # zero width; the joiners U+200C and U+200D belong to scripts and emoji
    "\U000e0000-\U000e007f"  # tags: ASCII for machines alone
    "]"
)

_PICTURES = {code: 0x2400 + code for code in range(32)} | {0x7F: 0x2421, 0x9B: 0x241B}
"""Unicode's pictures of control characters; U+009B starts a sequence like ESC [."""
_NOT_UTF_8 = re.compile("[\ud800-\udfff]")
"""How `os.fsdecode` writes such bytes: nothing can print or send them."""
_MOVING = {ord("\r"): 0x240D, ord("\f"): 0x240C}
"""Legitimate characters that let a line overwrite text on the screen."""


def invisible_in(text: str) -> Counter[str]:
    """The count of each hidden character. A leading byte order mark does not count."""
    return Counter(HIDDEN.findall(text.removeprefix("\ufeff")))


def escape_invisible(text: str) -> str:
    """The text with a visible character in place of each character that is hidden or moves others, and of each byte of
    a file's name that is not UTF-8.
    """
    shown = HIDDEN.sub(lambda match: chr(_PICTURES.get(ord(match.group()), 0xFFFD)), text)
    return _NOT_UTF_8.sub(_byte, shown).translate(_MOVING)


def _byte(match: re.Match[str]) -> str:
    r"""As a shell writes it: `\xff`."""
    code = ord(match.group())
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else "\N{REPLACEMENT CHARACTER}"
