"""Whether an edit is in its document: its lines are there, or what it deleted is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edits import NEW, OLD, TOP, URI

from stet_ls.server.documents.line_diff import minimal
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.edits.edit_plan import DocumentChange
from stet_ls.server.edits.edit_verification import is_applied
from stet_ls.validators.source import Source


def change(before: str, after: str) -> DocumentChange:
    document = Snapshot(URI, 1, "python", Source(before), Path("/w/a.py"))
    return DocumentChange(document, Source(after), minimal(Source(before), Source(after)))


@pytest.mark.parametrize(
    ("live", "seen"),
    [
        (TOP + NEW, True),
        (TOP + OLD, False),
        ((TOP + NEW).replace("\n", "\r\n"), True),
        ((TOP + NEW).rstrip("\n"), True),
        ("# typed above\n" + TOP + NEW, True),
        (TOP + NEW + "# typed below\n", True),
        ("# typed above\n" + TOP + OLD, False),
        (TOP + OLD + "# typed below\n", False),
        (TOP + NEW.replace("a + b", "a - b"), False),
        ("", False),
    ],
)
def test_an_edit_counts_as_applied_if_its_lines_are_present(live: str, seen: bool) -> None:
    assert is_applied(Source(live), change(TOP + OLD, TOP + NEW)) is seen


@pytest.mark.parametrize(("live", "seen"), [("aa = 1\ndbg()\nb = 2\n", False), ("aa = 1\nb = 2\n", True)])
def test_a_deletion_counts_as_applied_once_its_text_is_gone(live: str, seen: bool) -> None:
    assert is_applied(Source(live), change("a = 1\ndbg()\nb = 2\n", "a = 1\nb = 2\n")) is seen
