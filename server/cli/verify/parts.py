"""The report of one of several machines, as `--shard I/N --json` prints it and `--merge` reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored.stored_report import ReportPart
from stet_ls.engine.verify.verify import part

KEY = "part"
"""The field of the JSON that holds what `--merge` needs."""
_ADAPTER = TypeAdapter(ReportPart)


def part_json(change: Change, report: Report, shard: tuple[int, int]) -> dict[str, Any]:
    """The field to add to the report's JSON."""
    return {KEY: _ADAPTER.dump_python(part(change, report, shard), mode="json")}


def read_part(data: bytes, path: Path) -> ReportPart:
    """A part from such JSON. UsageError if it is none."""
    try:
        return _ADAPTER.validate_python(json.loads(data)[KEY])
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError):
        raise UsageError(f"{path} is not the output of `stet verify --shard I/N --json`") from None
