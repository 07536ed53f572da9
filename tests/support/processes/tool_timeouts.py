"""Tools that have the time of a busy machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stet_ls.validators.checkers.formatters import FORMATTERS
from stet_ls.validators.checkers.table import CHECKERS

SECONDS = 60.0


@pytest.fixture(autouse=True)
def patient_with_tools() -> Iterator[None]:
    """No row's own limit ends a tool: what it says is tested here, and not how soon. The caller's deadline holds."""
    rows = (*CHECKERS, *FORMATTERS)
    usual = [row.seconds for row in rows]
    for row in rows:
        object.__setattr__(row, "seconds", SECONDS)  # in place: the tables are looked into by identity, too
    yield
    for row, seconds in zip(rows, usual, strict=True):
        object.__setattr__(row, "seconds", seconds)
