"""What tests of judges share."""

from __future__ import annotations

from collections.abc import Callable

from stet_ls.engine.judges.case import Case

MakeCase = Callable[..., Case]
"""Makes a case of two texts and a unit's name; see `make` in the judges' conftest."""
