"""The report of one of several machines, as `--shard I/N --json` prints it and `--merge` reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored.report_parts import ReportPart, part_of
from stet_ls.engine.verify.stored.report_record import report_of, values_of

KEY = "part"
"""The field of the JSON that holds what `--merge` needs."""


def part_json(change: Change, report: Report, shard: tuple[int, int]) -> dict[str, Any]:
    """The field to add to the report's JSON."""
    part = part_of(change, report, shard)
    values = {"number": part.number, "count": part.count, "trees": part.trees, "report": values_of(part.report)}
    return {KEY: values}


def read_part(data: bytes, path: Path) -> ReportPart:
    """A part from such JSON. UsageError if it is none."""
    try:
        values = json.loads(data)[KEY]
        base, head = values["trees"]
        return ReportPart(int(values["number"]), int(values["count"]), (base, head), report_of(values["report"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path} is not the output of `stet verify --shard I/N --json`") from None
