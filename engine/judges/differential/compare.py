"""From the outcomes of two texts of a unit on the same inputs to their comparison."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from stet_ls.engine.execution.harness_run import Call, CallOutcome, HarnessReport, VersionOutcomes
from stet_ls.engine.execution.inputs.object_steps import without_steps
from stet_ls.engine.execution.inputs.rows import CAPTURED
from stet_ls.engine.execution.outcome_equality import OutcomeEquality, compare_outcomes
from stet_ls.engine.judges.differential.comparison import Comparison
from stet_ls.engine.judges.differential.difference import Difference
from stet_ls.engine.judges.differential.excuses.accidental_steps import accidental_steps, with_equal_accidents
from stet_ls.engine.judges.differential.excuses.excused_differences import (
    OTHER_FAILURE,
    ComparedCode,
    excuse_differences,
)
from stet_ls.engine.judges.differential.excuses.taken_for_granted import unpacks_values
from stet_ls.engine.judges.differential.excuses.unusual_differences import (
    KnownInputs,
    pass_over_unusual,
    without_unusual,
)
from stet_ls.engine.judges.differential.excuses.unusual_inputs import ENOUGH

_MALFORMED = {"ValueError", "JSONDecodeError", "UnicodeDecodeError", "Error", "ParseError", "InvalidOperation"}
_UNRESOLVED = {"NameError", "ReferenceError", "ImportError", "ModuleNotFoundError"}
_HANDLER, _NAMES = re.compile(r"(?m)^\s*except\b(.*?):"), re.compile(r"\w+")
_Pair = tuple[Call, CallOutcome, CallOutcome]


def compared(
    report: HarnessReport,
    calls: Sequence[Call],
    code: ComparedCode,
    meant: Mapping[str, frozenset[str]] | None = None,
    earlier: Sequence[Call] = (),
) -> Comparison:
    """The comparison of the first two texts of a report.

    `meant` are the kinds that names and the docstring suggest, by parameter. `earlier` are calls of an earlier run on
    which both agreed.
    """
    old, new = report.texts[0], report.texts[1] if len(report.texts) > 1 else report.texts[0]
    if new.problem or new.side_effects:
        return _not_loaded(code.unit, new, report)
    pairs, accidents = _pairs(calls, old, new, code)
    equalities = _shared_again(pairs, [compare_outcomes(before, after) for _, before, after in pairs])
    agreed = [call for (call, before, _), how in zip(pairs, equalities, strict=True)
              if how is not OutcomeEquality.DIFFERENT and before.valid and not call.again]  # fmt: skip
    accepted = [call for (call, _, after), how in zip(pairs, equalities, strict=True)
                if how is not OutcomeEquality.DIFFERENT and after.kind == "ok"]  # fmt: skip
    known = KnownInputs(code.text, [*earlier, *agreed], [*earlier, *accepted], meant or {})
    excused = excuse_differences(
        _differences(pairs, equalities, code), code, is_enough=len(agreed) + len(earlier) >= ENOUGH
    )
    differences, unusual = pass_over_unusual(excused.differences, known)
    sharing = [Difference(*pair) for pair, how in zip(pairs, equalities, strict=True) if how is OutcomeEquality.SHARED]
    sharing = [each for each in without_unusual(sharing, known) if each.old.valid]
    inputs = [(before, after) for call, before, after in pairs if not call.again]
    valid = [before for _, before, _ in pairs if before.valid]
    return Comparison(
        code.unit, len(inputs), sum(before.valid for before, _ in inputs), equalities.count(OutcomeEquality.ROUNDED),
        tuple(sorted(differences, key=_convincing)), dict(report.left_out),
        sharing=tuple(sorted(sharing, key=lambda each: len(each.call.snippet))),
        missing=sum(not calls[n].again for n in old.outcomes if n not in new.outcomes),
        opaque=any(before.valid for before, _ in inputs) and all(before.opaque for before in valid),
        partial=any(before.partial for _, before, _ in pairs),
        reordered=any(before.order != after.order for _, before, after in pairs),
        raised=_errors(valid), failing=OTHER_FAILURE in excused.names,
        excuses=tuple(sorted(unusual | excused.shown)),
        lacks=frozenset(before.lacks for before, _ in inputs if before.lacks),
        unresolved=bool(inputs) and all(before.error in _UNRESOLVED for before, _ in inputs),
        calls=tuple(call for call, _, _ in pairs), agreed=tuple(call for call in accepted if not call.again),
        accidents=accidents, succeeded=sum(before.kind == "ok" for before, _ in inputs),
        malformed=sum(before.error in _MALFORMED - {*(code.promised or ())} for before, _ in inputs),
    )  # fmt: skip


def _not_loaded(unit: str, new: VersionOutcomes, report: HarnessReport) -> Comparison:
    """The comparison if the new file alone cannot be imported, or does at once what the box forbids."""
    kind = "late" if new.is_late else "raised" if new.problem else "reached"
    broken = CallOutcome(kind, "", "import", new.problem or new.side_effects, lacks=new.lacks)
    difference = Difference(Call("", "", origin="import"), CallOutcome("ok", "", results=("loads",)), broken)
    return Comparison(unit, 0, 0, 0, (difference,), dict(report.left_out))


def _pairs(
    calls: Sequence[Call], old: VersionOutcomes, new: VersionOutcomes, code: ComparedCode
) -> tuple[list[_Pair], tuple[Call, ...]]:
    """The calls with both outcomes, and those to make again without the steps at which guesses went wrong."""
    meant: Collection[str] = code.promised if code.promised is not None else frozenset(_NAMES.findall(code.text))
    pairs, again = list[_Pair](), dict[Call, None]()
    for n, before in old.outcomes.items():
        if n not in new.outcomes:
            continue
        call, after = calls[n], new.outcomes[n]
        if steps := accidental_steps(call, before, after, meant):
            again[without_steps(call, steps)] = None
        else:
            pairs.append((call, before, with_equal_accidents(call, before, after, meant)))
    return pairs, tuple(again)


def _differences(pairs: Sequence[_Pair], equalities: Sequence[OutcomeEquality], code: ComparedCode) -> list[Difference]:
    handled_before = {*_NAMES.findall(" ".join(_HANDLER.findall(code.text)))} - {"TypeError", "AttributeError"}
    different = [pair for pair, how in zip(pairs, equalities, strict=True) if how is OutcomeEquality.DIFFERENT]
    unpacks = bool(different) and unpacks_values(code.text, code.unit)
    return [Difference(*pair, unpacks=unpacks, is_let_through=pair[2].error in handled_before) for pair in different]


def _errors(valid: Sequence[CallOutcome]) -> tuple[str, ...]:
    """The errors with which the old code ended, if it never ended without one."""
    ends = {"" if each.kind == "ok" else each.error or each.kind for each in valid}
    return () if "" in ends else tuple(sorted(ends))


def _convincing(each: Difference) -> tuple[bool | int, ...]:
    """Calls that someone means convince, and short ones that used to work are the easiest to understand."""
    return (
        not each.is_conclusive, each.call.is_secret, each.call.origin != CAPTURED, each.old.kind != "ok",
        len(each.call.snippet),
    )  # fmt: skip


def _shared_again(pairs: Sequence[_Pair], alike: list[OutcomeEquality]) -> list[OutcomeEquality]:
    """The equalities; a call repeated after its result was emptied differs as the first one does, in sharing."""
    shared = {(call.setup, call.body) for (call, _, _), how in zip(pairs, alike, strict=True)
              if how is OutcomeEquality.SHARED}  # fmt: skip
    return [
        OutcomeEquality.SHARED
        if call.again and any(call.setup == setup and call.body.endswith(body) for setup, body in shared) else how
        for (call, _, _), how in zip(pairs, alike, strict=True)
    ]  # fmt: skip
