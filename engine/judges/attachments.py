"""Attachments to evidence: runnable files that show how code behaves, with secrets removed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from stet_ls.engine.api.evidence import Attachment, Evidence
from stet_ls.engine.privacy.placeholders import hide_secrets
from stet_ls.engine.privacy.redact import redact

_ROOM_FOR_WORDS = 100
"""Bytes reserved for what a title may have to add."""


class FittedRows(NamedTuple):
    """Rows as one text, and the title of the file that holds them; the title says if some rows are left out."""

    rows: str
    title: str


def fitting(rows: Sequence[str], title: str, *around: str) -> FittedRows | None:
    """As many rows as fit into an attachment with its title and the texts around them; None if not even one does."""
    room = Attachment.MOST_BYTES - sum(map(_size, (title, *around))) - _ROOM_FOR_WORDS
    ends = itertools.accumulate(map(_size, rows))
    kept = [row for row, end in zip(rows, ends, strict=True) if end <= room]
    if not kept:
        return None
    left_out = f" ({len(kept)} of {len(rows)} calls; the others are too long)" if len(kept) < len(rows) else ""
    return FittedRows("".join(kept), title + left_out)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def without_secrets(item: Evidence, secrets: Mapping[str, str]) -> Evidence:
    """The evidence without the values that were hidden from the model, and with attachments free of anything else that
    looks like a secret: people share such files. What a prompt or a record takes of the detail is redacted there.
    """
    attachments = tuple(replace(each, text=_hidden(each.text, secrets)) for each in item.attachments)
    return replace(item, detail=hide_secrets(item.detail, secrets), attachments=attachments)


def _hidden(text: str, secrets: Mapping[str, str]) -> str:
    found = redact(hide_secrets(text, secrets), secrets)
    return "(not shown: contains a secret that cannot be removed)\n" if found.left else found.text
