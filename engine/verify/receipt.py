"""A receipt of a conclusion: an in-toto statement, unsigned, with all that a second run needs to agree.

Format: in-toto Statement v1 with the predicate test-result v0.1. It is for the build to sign.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stet_ls import __version__
from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.tree import tree_id
from stet_ls.engine.verify.report import Conclusion, Report

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
_RESULTS = {Conclusion.OK: "PASSED", Conclusion.UNPROVEN: "WARNED", Conclusion.REFUTED: "FAILED"}
_SEED = 0
"""Tests run with this hash seed, and the inputs of comparisons are drawn with fixed ones."""


def receipt(change: Change, report: Report, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The statement about a verified change. `settings` are those that change conclusions, and what code ran with."""
    configuration = {
        "baseTree": tree_id(change.base), "version": __version__, "settings": dict(settings), "seed": _SEED,
        "intent": {"kind": report.intent.kind.value, "source": report.intent.source}, "partial": report.partial,
    }  # fmt: skip
    return {
        "_type": STATEMENT,
        "subject": [{"name": report.head, "digest": {"gitTree": tree_id(change.head)}}],
        "predicateType": PREDICATE,
        "predicate": {
            "result": _RESULTS[report.conclusion],
            "configuration": [{"name": "stet", "annotations": configuration}],
            **{key: list(names) for key, names in _lists(report)},
        },
    }


def _lists(report: Report) -> Iterator[tuple[str, list[str]]]:
    """The units and tests by their result."""
    names = {
        kind: [f"{each.unit.path}::{each.unit.label}" for each in report.units if each.conclusion is kind]
        for kind in Conclusion
    }
    yield "passedTests", sorted(names[Conclusion.OK])
    yield "warnedTests", sorted(names[Conclusion.UNPROVEN])
    yield "failedTests", sorted([*names[Conclusion.REFUTED], *(each.id for each in report.tests if each.refutes)])


def read_receipt(data: bytes) -> dict[str, Any]:
    """A receipt that was read. UsageError if it is not a receipt."""
    try:
        found = json.loads(data)
        if (
            found["_type"] == STATEMENT
            and found["predicateType"] == PREDICATE
            and _trees(found)
            and _configuration(found)
        ):
            return dict(found)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError("the file is not a receipt of `stet verify`")


def intent_in(statement: Mapping[str, Any]) -> str:
    """The stated intent of a receipt, "" if it had none: the second run needs the same claim."""
    intent = _configuration(statement).get("intent", {})
    stated_by = intent.get("source") in ("option", "trailer")
    return str(intent.get("kind", "")) if stated_by else ""


def differences(known: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two receipts, a sentence each."""
    old, new = _configuration(known), _configuration(now)
    if _trees(known) != _trees(now) or old.get("baseTree") != new.get("baseTree"):
        yield "it is about other trees; repeat the range or the paths that it was written with"
        return
    yield from (f"`{key}` was {old.get(key)}, is {new[key]}" for key in new if old.get(key) != new[key])
    for key in ("result", "passedTests", "warnedTests", "failedTests"):
        before, after = known["predicate"].get(key), now["predicate"].get(key)
        if before != after:
            yield f"`{key}` was {before}, is {after}"


def _trees(statement: Mapping[str, Any]) -> list[Any]:
    """The ids of the trees that a receipt is about; their names depend on how they were asked for."""
    return [each.get("digest") for each in statement["subject"]]


def _configuration(statement: Mapping[str, Any]) -> dict[str, Any]:
    return dict(statement["predicate"]["configuration"][0].get("annotations", {}))
