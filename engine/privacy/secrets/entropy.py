"""Classifies a value by its form: random, chosen by a person, or no secret at all."""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from itertools import pairwise

# Values in a secret's place that are no secrets: variables, templates, calls, and the words of examples and forms.
_NOTHING = re.compile(
    r"(?i)^(?:\$[\w{(].*|%\(?\w+\)?s?%?|\{\{?[^}]*\}?\}|<[^>]*>|\[[^\]]*\]|[x*.#_-]{3,}|@\w+@|#\{.*"
    r"|(?:change|replace)[-_ ]?(?:me|this|it)?.*|example.*|placeholder.*|your[-_ ]?.*"
    r"|my[-_]?(?:password|secret|token|key)"
    r"|none|null|nil|true|false|undefined|default|string|str|text|bytes?|int|bool|object|any|unknown|optional|required"
    r"|password|passwd|passphrase|pwd|pass|secrets?|tokens?|keys?|api[-_]?key|credentials?|bearer|basic|digest|oauth2?|jwt"
    r"|hidden|invalid|missing|expired|disabled|enabled|redacted|masked|removed|forgot|login|user(?:name)?|admin|root|test"
    r"|os\.environ.*|process\.env.*|env\..*|getenv.*|secrets?\.\w+|vars?\.\w+|config\.\w+|self\.\w+|this\.\w+)$"
)
PLACEHOLDER = re.compile(r"STET_(?:SECRET|TOKEN)_\d+")
"""What stands in a text in place of a secret."""
_PATH = re.compile(r"^(?:\.{0,2}/|~/|[A-Za-z]:\\|file:|https?://|wss?://)|^[\w-]+(?:/[\w.*-]+)+\.\w{1,5}$")
# Names of fields, labels, headers: words joined as in programs, one of which names the thing.
_LABEL = re.compile(r"^[#.]?[A-Za-z]+(?:[-_.: ][A-Za-z]+){0,8}[:*?!]?$")
_LABEL_WORD = re.compile(
    r"(?i)pass(?!ion|age|enger|ive)|pwd|secret|token|key|auth|cred|login|user|name|field|input|label|header|param|type"
    r"|file|path|url|id$|code|hash|salt|reset|confirm|change|error|value|string|text|grant|scope|sign|cookie|session|csrf"
)
_KEY_LETTERS = re.compile(r"^[\w+/=.~:!@#%^&*-]+$")
_JOINT = re.compile(r"[-_./:]+")
_WORD = re.compile(r"^(?:[A-Za-z]?[a-z]+|[A-Z]+)\d{0,4}$")
_DIGEST = re.compile(r"^(?:sha|md)\d{1,3}[-:=]")
_UUID = re.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_HEX = re.compile(r"^(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)$")
_IDENTIFIER = re.compile(r"^[A-Za-z_]+\d{0,3}$|^[a-z]+(?:[-_.][a-z]+)*[-_.]?v?\d{0,4}$|^[A-Z]+(?:_[A-Z0-9]+)+$")


def is_nothing(value: str) -> bool:
    """True for a value in a secret's place that is no secret: a variable, a template, an example, a label, a path."""
    is_path = _PATH.search(value) is not None and not looks_random(value, least=3.9)
    if _NOTHING.match(value) or PLACEHOLDER.search(value) or is_path:
        return True
    if len(value) >= 12 and _is_alphabet(value):
        return True
    return bool(len(value) <= 60 and _LABEL.match(value) and _LABEL_WORD.search(value))


def is_mixed(value: str) -> bool:
    """True for a value made up to be hard to guess: eight characters or more of several kinds."""
    if len(value) < 8 or is_nothing(value) or _IDENTIFIER.match(value):
        return False
    return looks_random(value) or (
        any(char.isdigit() for char in value) and any(char.isalpha() for char in value) and " " not in value
    )


def is_drawn(value: str) -> bool:
    """True for a random key of letters and digits: no id, no path, no words, no encoded text."""
    if not _KEY_LETTERS.match(value) or _UUID.match(value) or _DIGEST.match(value) or not looks_random(value):
        return False
    parts = [part for part in _JOINT.split(value) if part]
    if len(parts) > 1 and sum(bool(_WORD.match(part)) for part in parts) > len(parts) // 2:
        return False
    return not _is_encoded_text(value)


def looks_random(value: str, *, least: float = 3.0) -> bool:
    """True for letters and digits as in keys and hashes; `least`: bits per character of long values."""
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    counts = Counter(value)
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return entropy >= min(least, math.log2(len(value)) * 0.75)


def is_token(value: str) -> bool:
    """True for a value that can only be a key, in any place: long, of three kinds of letters, and random.

    Hashes and ids are hexadecimal, words are not random, and encoded data is longer or has a prefix.
    """
    if not 24 <= len(value) <= 100 or _HEX.match(value) or _UUID.match(value) or is_nothing(value):
        return False
    kinds = (str.islower, str.isupper, str.isdigit)
    if not all(any(map(kind, value)) for kind in kinds) or not looks_random(value, least=4.2):
        return False
    return is_drawn(value) and _changes(value) >= len(value) * 0.4 and not _is_alphabet(value)


def _is_encoded_text(value: str) -> bool:
    """True for the base64 of something that a person wrote."""
    try:
        data = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False
    return len(data) > 6 and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in data)


def _changes(value: str) -> int:
    """How often the kind of character changes: rarely in words and names, at every other character in keys."""
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else "." for c in value]
    return sum(first != second for first, second in pairwise(kinds))


def _is_alphabet(value: str) -> bool:
    steps = sum(ord(second) - ord(first) == 1 for first, second in pairwise(value))
    return steps >= len(value) * 0.7
