"""The frames on the pipe: a header in JSON and a body, each with its length before it."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stet_ls.validators.findings import Finding, Related, Severity, Status, SyntaxResult
from stet_ls.validators.source import Source, Span

LENGTHS = struct.Struct(">4sII")
MARK = b"stet"
"""The start of every frame; anything else on the pipe is noise."""
LONGEST_HEADER = 4_000_000
"""Bytes. A result has a hundred findings at most."""


def frame(header: Mapping[str, object], body: bytes = b"") -> bytes:
    """A frame as sent."""
    text = json.dumps(header).encode()
    return LENGTHS.pack(MARK, len(text), len(body)) + text + body


def answer_of(result: SyntaxResult) -> dict[str, object]:
    """A result as a header."""
    return {"verdict": asdict(result)}


def verdict_of(answer: Any, source: Source) -> SyntaxResult:
    """The result in a header. Raises ValueError, TypeError, KeyError or AttributeError if invalid.

    The sending process ran untested code, so its spans are checked against the text.
    """
    data = answer["verdict"]
    status = Status(data["status"])
    findings = tuple(_finding(found, len(source.data)) for found in data["findings"])
    if status is Status.ERROR and not findings:
        raise ValueError("a result that contradicts itself")
    return SyntaxResult(status, str(data["language"]), findings, may_block=False, reason=str(data["reason"]))


def _finding(data: Any, size: int) -> Finding:
    return Finding(
        _span(data["span"], size),
        str(data["message"]),
        severity=Severity(data["severity"]),
        code=str(data["code"]),
        line=int(data["line"]),
        suggestions=tuple(map(str, data["suggestions"])),
        related=tuple(Related(_span(each["span"], size), str(each["message"])) for each in data["related"]),
        signature=str(data["signature"]),
    )


def _span(data: Any, size: int) -> Span:
    span = Span(int(data["start"]), int(data["end"]))
    if span.end > size:
        raise ValueError(f"outside of the text: {span}")
    return span
