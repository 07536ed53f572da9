"""Which names are those of secrets, and which only speak about one."""

from __future__ import annotations

import re

NAMES = (
    "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "key", "credential", "bearer",
    "webhook", "signature", "auth", "salt", "dsn", "cookie",
)  # fmt: skip
"""The telling parts of names, in small letters. Looked for by these alone: what else a name holds has no bound."""

# `key` and `token` name a thousand harmless things; these words before them settle it.
_SURE = re.compile(
    r"passw(?:or)?d|passphrase|passcode|pwd|secret|bearer"
    r"|(?:api|private|access|secret|account|shared|encryption|signing|master|license|stripe|jwt)"
    r"[_-]?(?:access)?[_-]?key"
    r"|(?:api|auth|access|refresh|bot|session|bearer|id|deploy|github|gitlab|npm|slack|device|user|app|client)"
    r"[_-]?token",
    re.IGNORECASE,
)
_SURE_IN_CONFIG = ("token", "auth")

_THINGS = (
    "field", "input", "name", "path", "file", "dir", "url", "uri", "id", "type", "kind", "prefix", "suffix", "header",
    "label", "hint", "regex", "pattern", "length", "len", "size", "min", "max", "count", "env", "var", "error",
    "message", "msg", "policy", "reset", "change", "changed", "confirm", "expiry", "expires", "age", "ttl", "hasher",
    "hashing", "valid", "validator", "required", "requirements", "provider", "manager", "store", "service", "factory",
    "class", "format", "algorithm", "endpoint", "page", "view", "form", "column", "param", "code", "event",
)  # fmt: skip
_ABOUT = re.compile(
    "|".join(
        # password_field, passwordField, PASSWORD_FIELD
        rf"(?:s?[_.-]{thing}|s?{thing.capitalize()}|S?_{thing.upper()})(?![a-z])"
        for thing in _THINGS
    )
)
# One word with the part: keyword, tokenize, authors, authority.
_OTHER_WORD = re.compile(r"(?i:words?|board|stroke|ize|ise|or(?!iz)|enticat|down|up|press|frame|pair|set|ring)")


def says_secret(name: str, part: str, at: int, *, config: bool) -> bool:
    """True if the value of such a name can only be a secret. `part` of NAMES stands at `at` of the name."""
    rest = name[at + len(part) :]
    if _ABOUT.match(rest) or (part in ("key", "token", "auth") and _OTHER_WORD.match(rest)):
        return False
    return _SURE.search(name) is not None or (config and part in _SURE_IN_CONFIG)
