"""Reads what a harness reports from the sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stet_ls.engine.execution.harness_run import CallOutcome, HarnessReport, HarnessRun, NotRunnable, VersionOutcomes


def read_report(data: bytes, nonce: str, trial: HarnessRun) -> HarnessReport | NotRunnable:
    """The report of a run. The sandbox's output is not trusted to be complete or well formed."""
    try:
        report: dict[str, Any] = json.loads(data)
        if report.get("nonce") != nonce:
            return NotRunnable("the run's report is forged, so it proves nothing")
        if trial.rounds:
            return _timing(report["timing"])
        texts = tuple(_version_outcomes(each) for each in report["texts"])
        left_out: dict[str, int] = {}
        for each in report["left_out"]:
            reason = str(each["message"] or _LEFT_OUT.get(each["kind"], each["kind"]))
            left_out[reason] = left_out.get(reason, 0) + 1
        built = tuple(str(each.get("built", "")) for each in report["texts"])
        unseen, alike = (_unseen(report.get(key), len(trial.probed)) for key in ("unseen", "unseen_alike"))
        growth = tuple(tuple(map(float, row)) for row in report.get("growth") or () if len(row) == _GROWTH)
        return HarnessReport(
            texts, left_out, built=built if all(built) else (), unseen=unseen, unseen_alike=alike, growth=growth
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return NotRunnable("the run ended before it reported its results")


def _unseen(numbers: Any, texts: int) -> tuple[frozenset[int], frozenset[int]] | None:
    """The numbers of the probes that no call reached, for each of two texts; None if they are unknown."""
    found = [frozenset(map(int, each)) for each in numbers or ()]
    return (found[0], found[1]) if len(found) == texts > 1 else None


_GROWTH = 5
"""The columns of a row of growth: the call's number, and two times of the old and of the new text."""
_LEFT_OUT = {
    "late": "it does not finish in time",
    "limit": "it needs too much memory or depth",
    "died": "it ends the process",
    "flaky": "its result varies between runs",
}


def _version_outcomes(row: Mapping[str, Any]) -> VersionOutcomes:
    side_effects, lacks = str(row.get("side_effects", "")), str(row.get("lacks", ""))
    is_late = bool(row.get("gave_up"))
    return VersionOutcomes(str(row["load"]), _outcomes(row["outcomes"]), side_effects, lacks, is_late)


def _outcomes(rows: Mapping[str, Mapping[str, Any]]) -> dict[int, CallOutcome]:
    return {int(number): _outcome(row) for number, row in rows.items()}


def _outcome(row: Mapping[str, Any]) -> CallOutcome:
    return CallOutcome(
        kind=str(row["kind"]),
        digest=str(row["digest"]),
        error=str(row.get("error", "")),
        message=str(row.get("message", "")),
        results=tuple(map(str, row.get("results", ()))),
        variables=str(row.get("variables", "")),
        printed=str(row.get("printed", "")),
        opaque=bool(row.get("opaque", False)),
        partial=bool(row.get("partial", False)),
        broken_by=str(row.get("broken_by", "")),
        order=str(row.get("order", "")),
        aliases=str(row.get("shared", "")),
        lacks=str(row.get("lacks", "")),
        leaks=int(row.get("leaks", 0)),
        bases=tuple(map(str, row.get("bases", ()))),
        uses={str(path): tuple(map(str, kinds)) for path, kinds in dict(row.get("uses", {})).items()},
    )


def _timing(row: Mapping[str, Any]) -> HarnessReport | NotRunnable:
    if row["load"]:
        return NotRunnable(f"cannot load the code to time it ({row['load']})")
    rounds, again = (tuple((float(old), float(new)) for old, new in row[name]) for name in ("rounds", "again"))
    return HarnessReport((), rounds=rounds, again=again, inputs=int(row["inputs"]), warm=bool(row["warm"]))
