"""The encoding that a text declares, as in Python, Ruby and Emacs: `# -*- coding: latin-1 -*-`."""

from __future__ import annotations

import codecs
import re

_COOKIE = re.compile(rb"^[ \t\f]*(?:#|//|;|--|/\*|%).*?coding[:=][ \t]*([-\w.]+)")
"""PEP 263: in a comment of the first or the second line."""


class UnknownEncodingError(ValueError):
    """A text declares an unknown encoding."""


def declared(data: bytes) -> str | None:
    """The codec that a comment of the text declares, None without one or for UTF-8. UnknownEncodingError if unknown."""
    for line in data[:1000].splitlines()[:2]:
        match = _COOKIE.match(line)
        if match is None:
            if line.strip() and not line.lstrip().startswith((b"#", b"//", b";", b"--", b"/*", b"%")):
                return None
            continue
        name = match[1].decode("ascii")
        try:
            codec = codecs.lookup(re.sub(r"-(?:unix|dos|mac)$", "", name))
        except LookupError:
            raise UnknownEncodingError(name) from None
        if not codec._is_text_encoding or b"a".decode(codec.name, "replace") != "a":
            raise UnknownEncodingError(name)
        return None if codec.name == "utf-8" else codec.name
    return None
