"""Distinguishes names of secrets from names that only refer to one."""

from __future__ import annotations

import re

NAMES = (
    "pass", "pwd", "secret", "token", "key", "cred", "bearer", "webhook", "signature", "auth", "salt", "dsn", "cookie",
    "kennwort", "contrase", "senha", "wachtwoord", "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801",
)  # fmt: skip
"""Identifying parts of names, in lower case. Only these are searched: the rest of a name is unbounded."""

# `key` and `token` have many harmless uses; these words before them make a secret certain.
_SURE = re.compile(
    r"passw(?:or[dt]|d)|passphrase|passcode|pwd|secret|bearer|(?<![a-z])(?:pass|creds?|credentials?|passe)(?![a-z])"
    r"|kennwort|contrase[n\u00f1]a|senha|wachtwoord|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801"
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
# Words that continue the part: keyword, tokenize, authors, authority.
_OTHER_WORD = re.compile(r"(?i:words?|board|stroke|ize|ise|or(?!iz)|enticat|down|up|press|frame|pair|set|ring)")

_WORD_END = re.compile(r"^(?i:w(?:or[dt]s?|d)|phrases?|code|entials?|s(?![A-Za-z]))")


def says_secret(name: str, part: str, at: int, *, config: bool) -> bool:
    """True if the value of such a name can only be a secret. `part` of NAMES is at `at` of the name."""
    rest = _WORD_END.sub("", name[at + len(part) :], count=1)
    if _ABOUT.match(rest) or (part in ("key", "token", "auth") and _OTHER_WORD.match(rest)):
        return False
    return _SURE.search(name) is not None or (config and part in _SURE_IN_CONFIG)
