"""Here checkers, formatters and writers of records are real, and not waited for in haste."""

from __future__ import annotations

import pytest
from support.patience import patient_with_tools

from stet_ls.engine.trace import store

__all__ = ["patient_with_tools"]


@pytest.fixture(autouse=True)
def patient_with_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is closed has its records written, however busy the machine is."""
    monkeypatch.setattr(store, "_CLOSING_SECONDS", 60.0)
