"""What a request asks to rename or to move, by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

_QUOTE = r"[`'\"]?"
_NAME = rf"{_QUOTE}(?P<{{0}}>[A-Za-z_]\w*){_QUOTE}"
_FILE = rf"{_QUOTE}(?P<{{0}}>[\w./-]+\.\w+){_QUOTE}"
_KIND = r"(?:function|class|constant|variable|name|symbol)\s+"
_OF_NAME = re.compile(
    rf"^\s*(?:please\s+)?rename\s+(?:the\s+)?(?:{_KIND})?{_NAME.format('old')}\s*(?:in\s+{_FILE.format('file')}\s*)?"
    rf"(?:to|into|as|->|→)\s*{_NAME.format('new')}(?:\s+(?:in|through|throughout|across)\b.*|\s+everywhere.*)?[.\s]*$",
    re.I,
)
_OF_FILE = re.compile(
    rf"^\s*(?:please\s+)?(?:rename|move)\s+(?:the\s+)?(?:file\s+|module\s+)?{_FILE.format('old')}\s*"
    rf"(?:to|into|->|→)\s*{_QUOTE}(?P<new>[\w./-]+){_QUOTE}(?:\s+.*)?[.\s]*$",
    re.I | re.S,
)


@dataclass(frozen=True, slots=True)
class NameRequest:
    """A name to rename; `file` is the file that defines it, "" if the request does not say."""

    old: str
    new: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """A file to rename or to move, both as the request names them."""

    old: str
    new: str


def rename_request(goal: str) -> NameRequest | MoveRequest | None:
    """The rename that a sentence asks for, if it asks for nothing else."""
    if (match := _OF_FILE.match(goal)) is not None:
        old, new = PurePosixPath(match["old"]), match["new"].rstrip(".")
        if new.endswith("/") or not PurePosixPath(new).suffix:
            new = f"{new.rstrip('/')}/{old.name}"
        return MoveRequest(str(old), new)
    if (match := _OF_NAME.match(goal)) is not None and match["old"] != match["new"]:
        return NameRequest(match["old"], match["new"], match["file"] or "")
    return None
