"""A report as plain values, and back: without a library that takes longer to import than the answer may take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.api.evidence import Attachment, Ruling
from stet_ls.engine.verify.changes.intent import ChangeIntent, IntentKind
from stet_ls.engine.verify.changes.reported_unit import ReportedUnit
from stet_ls.engine.verify.report import CheckResult, Report, TestResult, UnitReport
from stet_ls.engine.verify.stored.records import read_record


def record_of(report: Report) -> str:
    """The text to keep."""
    return json.dumps(values_of(report))


def kept_report(folder: Path, key: str, names: tuple[str, str], seconds: float) -> Report | None:
    """The kept report on two trees, with what they are called now; None if there is none."""
    try:
        report = report_of(json.loads(read_record(folder, key)))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return replace(report, base=names[0], head=names[1], seconds=seconds)


def values_of(report: Report) -> dict[str, Any]:
    """The values for JSON."""
    return asdict(report)


def report_of(values: Mapping[str, Any]) -> Report:
    """The report of such values. Raises KeyError, TypeError or ValueError if they are none."""
    intent = ChangeIntent(IntentKind(values["intent"]["kind"]), str(values["intent"]["source"]))
    return Report(
        **{
            **values,
            "intent": intent,
            "units": tuple(map(_unit, values["units"])),
            "tests": tuple(TestResult(**each) for each in values["tests"]),
            "notes": tuple(values["notes"]),
            "unjudged": tuple(values["unjudged"]),
        }
    )


def _unit(values: Mapping[str, Any]) -> UnitReport:
    unit = values["unit"]
    first, last = unit["lines"]
    own = ReportedUnit(**{**unit, "lines": (first, last), "edited_lines": tuple(unit["edited_lines"])})
    return UnitReport(own, tuple(map(_check, values["checks"])))


def _check(values: Mapping[str, Any]) -> CheckResult:
    attachments = tuple(Attachment(**each) for each in values["attachments"])
    return CheckResult(**{**values, "status": Ruling(values["status"]), "attachments": attachments})
