"""The outcomes of two texts of a unit on the same inputs, and their differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import ACCIDENTS, Call, CallOutcome, HarnessReport
from stet_ls.engine.execution.inputs.object_steps import without_steps
from stet_ls.engine.execution.inputs.rows import CAPTURED, SUGGESTED, UNSURE
from stet_ls.engine.execution.outcome_equality import OutcomeEquality, compare_outcomes
from stet_ls.engine.execution.probe import Probe, in_order
from stet_ls.engine.judges.differential.difference import NEAR, WRITTEN, Difference
from stet_ls.engine.judges.differential.input_domain import ArgumentKind, argument_kinds, in_input_domain
from stet_ls.engine.judges.differential.taken_for_granted import unpacks_values
from stet_ls.engine.judges.differential.unusual_inputs import (
    ENOUGH,
    NOT_FINITE,
    calls_of_foreign_kind,
    excuse_calls,
    is_container,
    is_named_kind,
    usual_kinds,
)

LEAST_VALID = 20
LEAST_SUCCEEDED = 5
_MALFORMED = {"ValueError", "JSONDecodeError", "UnicodeDecodeError", "Error", "ParseError", "InvalidOperation"}
"""With fewer valid inputs, equality is too weak to pass."""
_MISSED = 12
UNUSUAL = "inputs of unusual kinds"
_NARROWER, _OLD_FAILS = "more specific errors", "inputs of kinds that the old code fails on"
_HANDLER, _NAMES = re.compile(r"(?m)^\s*except\b(.*?):"), re.compile(r"\w+")
_UNRESOLVED = {"NameError", "ReferenceError", "ImportError", "ModuleNotFoundError"}
_WRONG_KIND = re.compile(r"(TypeError|AttributeError)\(")
"""The result of a step that failed so."""
_UNHASHABLE = 'TypeError("unhashable type'
"""That of a key of a wrong kind, which code that searches a list takes."""
_ERROR = re.compile(r"(\w+)\(")
_QUOTED = re.compile(r"['\"]([\w-]+)['\"]")
_Pair = tuple[Call, CallOutcome, CallOutcome]
Runnable = Callable[[str, str, Sequence[Call]], Attachment | None]
"""Builds a runnable file from a name (without its ending), a title and calls; None if it would be too long."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of running both texts of a unit: compared inputs, valid ones among them, differences.

    `sharing` are calls that differ only in which results are the same object: visible only if a caller changes one
    afterwards. `missing` counts the inputs that the new code did not finish in time. `raised` names the errors if no
    input had any other outcome. `failing`: on some inputs both fail, with different errors. `excuses` name the
    unintended kinds of input on which they differ. `lacks` are modules that an input could not import. `partial`: of
    some iterators only the first items were seen. `reordered`: the keys of some dictionaries were in another order.
    `agreed` are the calls that both accept alike.
    `unseen` are the places of the change that no input executed, as far as known; `places` counts all of them.
    `uncompared` is what no run shows. `is_same_form`: both texts of the unit, and of what it uses, are the same code in
    another form.
    `uncaptured` counts the tests' calls that could not be copied, by the reason. `unresolved`: each call of the old
    code ended at a name or a module that is not there, so that no input can help. `accidents` are calls without the
    steps at which the old code failed on a wrong kind, where the versions differ after one. On the `succeeded` inputs
    the old code raised nothing; on the `malformed` ones it could not read a text.
    """

    unit: str
    compared: int
    valid: int
    rounded: int
    differences: tuple[Difference, ...]
    left_out: dict[str, int]
    sharing: tuple[Difference, ...] = ()
    missing: int = 0
    opaque: bool = False
    partial: bool = False
    reordered: bool = False
    raised: tuple[str, ...] = ()
    failing: bool = False
    excuses: tuple[str, ...] = ()
    lacks: frozenset[str] = frozenset()
    is_alone: bool = False
    runnable: Runnable = lambda _name, _title, _calls: None
    calls: tuple[Call, ...] = ()
    agreed: tuple[Call, ...] = ()
    unseen: frozenset[Probe] = frozenset()
    places: int = 0
    uncompared: str = ""
    is_same_form: bool = False
    uncaptured: Mapping[str, int] = field(default_factory=dict)
    unresolved: bool = False
    accidents: tuple[Call, ...] = ()
    succeeded: int = 0
    malformed: int = 0

    @property
    def captured(self) -> int:
        """The number of compared inputs that were captured from tests."""
        return sum(each.origin == CAPTURED and not each.again for each in self.calls)

    @property
    def suggested(self) -> int:
        """The number of compared inputs that a model named."""
        return sum(each.origin == SUGGESTED and not each.again for each in self.calls)

    @property
    def is_starved(self) -> bool:
        """True if nothing differs so far, and the inputs executed less than half of the change, or the old code
        refuses nearly all of them, or fails on all.
        """
        missed = 2 * len(self.unseen) > self.places > 0
        refused = self.valid == 0 < self.compared or self.valid < ENOUGH <= self.compared or self.fails_on_most
        return not self.differences and not self.unresolved and (missed or refused or bool(self.raised))

    @property
    def fails_on_most(self) -> bool:
        """True if most inputs are texts of a form that the code cannot read, and few show what it is for."""
        return self.valid >= LEAST_VALID and self.succeeded < LEAST_SUCCEEDED and 2 * self.malformed > self.valid

    @property
    def is_incomplete(self) -> bool:
        """True if nothing differs so far, and no input executed all of the change."""
        return bool(self.unseen) and not self.differences

    @property
    def differs_for_tests_alone(self) -> bool:
        """True if only inputs written in tests differ, and enough others, most of them near these, do not."""
        written = all(each.call.origin in WRITTEN for each in self.differences)
        return bool(self.differences) and written and len(self.agreed) >= ENOUGH

    def combine(self, more: Comparison, unseen: frozenset[Probe]) -> Comparison:
        """The comparison with further inputs of the same unit; `unseen` are the places that still were not executed."""
        return replace(
            self, compared=self.compared + more.compared, valid=self.valid + more.valid,
            succeeded=self.succeeded + more.succeeded, malformed=self.malformed + more.malformed,
            rounded=self.rounded + more.rounded, opaque=self.opaque and more.opaque,
            partial=self.partial or more.partial, reordered=self.reordered or more.reordered,
            failing=self.failing or more.failing, excuses=tuple(sorted({*self.excuses, *more.excuses})),
            differences=tuple(each for each in more.differences if each.is_conclusive or each.is_other_function),
            sharing=(*self.sharing, *more.sharing),
            raised=self.raised if more.raised or not more.valid else (), calls=(*self.calls, *more.calls),
            unseen=self.unseen & unseen,
        )  # fmt: skip

    def with_suggested(self, more: Comparison, unseen: frozenset[Probe]) -> Comparison:
        """The comparison with inputs that a model named, and near misses; all differences count, if only as a doubt."""
        return replace(self.combine(more, unseen), differences=more.differences, agreed=(*self.agreed, *more.agreed))

    def with_observed(
        self, more: Comparison, unseen: frozenset[Probe], meant: Mapping[str, frozenset[str]]
    ) -> Comparison:
        """The comparison with inputs that are like what the code was observed to use, if it accepts more of those.

        Then only they tell whether the code fails on all inputs, or returns what cannot be compared. If enough of them
        agree, it does not matter what the new code makes of other kinds.
        """
        if not more.differences and more.valid >= ENOUGH:
            own = self._without_foreign([argument_kinds(call) for call in more.agreed], meant)
        else:
            own = self
        is_first = bool(self.raised) and not more.raised  # until now it failed on all inputs
        if not more.valid:
            return own
        if more.valid <= self.valid and not more.differences and not is_first:
            return replace(
                own, compared=own.compared + more.compared, valid=own.valid + more.valid,
                succeeded=own.succeeded + more.succeeded, malformed=own.malformed + more.malformed,
                calls=(*own.calls, *more.calls), agreed=(*own.agreed, *more.agreed), unseen=own.unseen & unseen,
            )  # fmt: skip
        conclusive = tuple(each for each in own.differences if each.is_conclusive)
        rest = own.differences if more.valid < ENOUGH and not more.differences else conclusive
        return replace(
            more, compared=self.compared + more.compared, valid=self.valid + more.valid,
            succeeded=self.succeeded + more.succeeded, malformed=self.malformed + more.malformed,
            rounded=self.rounded + more.rounded, partial=self.partial or more.partial,
            reordered=self.reordered or more.reordered, failing=self.failing or more.failing,
            excuses=tuple(sorted({*own.excuses, *more.excuses})), sharing=(*self.sharing, *more.sharing),
            differences=(*rest, *more.differences),
            calls=(*self.calls, *more.calls), agreed=(*more.agreed, *own.agreed), unseen=self.unseen & unseen,
            places=self.places,
        )  # fmt: skip

    def _without_foreign(
        self, known: Sequence[Mapping[str, ArgumentKind]], meant: Mapping[str, frozenset[str]]
    ) -> Comparison:
        """The comparison without the guesses that the new code fails on, if they are of none of the `known` kinds."""
        left = tuple(each for each in self.differences if not each.fails_on_guess
                     or is_named_kind(each.call, meant, known) or in_input_domain(each.call, known))  # fmt: skip
        if len(left) == len(self.differences):
            return self
        return replace(self, differences=left, excuses=tuple(sorted({*self.excuses, UNUSUAL})))

    def attachments(self) -> tuple[Attachment, ...]:
        """Runnable files: the counter-example, if any, and all compared inputs."""
        missed = "".join(f"; none {each}" for each in in_order(self.unseen)[:_MISSED])
        # What differs comes first: not all calls may fit.
        calls = dict.fromkeys((*(each.call for each in self.differences if each.call.body), *self.calls))
        writable = tuple(each for each in calls if not each.shown)
        title = f"The inputs used to compare the old and the new `{self.unit}`{missed}"
        if len(writable) < len(self.calls):
            title += f"; without {len(self.calls) - len(writable)} calls that hold objects of the tests or a secret"
        files = [("inputs", title, writable)]
        if self.differences and self.differences[0].call.body and not self.differences[0].call.shown:
            title = f"Counterexample: an input for which the new `{self.unit}` behaves differently"
            files.insert(0, ("counter_example", title, (self.differences[0].call,)))
        unit = self.unit.replace(".", "_")
        made = (self.runnable(f"{name}_{unit}", title, calls) for name, title, calls in files if calls)
        return tuple(each for each in made if each is not None)


def compared(
    unit: str,
    calls: Sequence[Call],
    report: HarnessReport,
    promised: Collection[str] | None = None,
    text: str = "",
    meant: Mapping[str, frozenset[str]] | None = None,
    earlier: Sequence[Call] = (),
    handled: Collection[str] = (),
) -> Comparison:
    """The comparison of the first two texts of a report.

    `promised` are the errors that the old code documents or raises itself; None if unknown: then every error counts.
    `text` is the old code, "" if every input counts. `earlier` are calls of an earlier run on which both agreed.
    `handled` are the errors that the new code names: it decides on purpose what becomes of them.
    """
    old, new = report.texts[0], report.texts[1] if len(report.texts) > 1 else report.texts[0]
    if new.problem or new.side_effects:
        kind = "late" if new.is_late else "raised" if new.problem else "reached"
        broken = CallOutcome(kind, "", "import", new.problem or new.side_effects, lacks=new.lacks)
        differences = [Difference(Call("", "", origin="import"), CallOutcome("ok", "", results=("loads",)), broken)]
        return Comparison(unit, 0, 0, 0, tuple(differences), dict(report.left_out))
    both = ((calls[n], outcome, new.outcomes[n]) for n, outcome in old.outcomes.items() if n in new.outcomes)
    meant_errors = promised if promised is not None else frozenset(re.findall(r"\w+", text))
    found = [(pair, _accidents(*pair, meant_errors)) for pair in both]
    pairs = [
        (call, before, _with_equal_accidents(call, before, after, meant_errors))
        for (call, before, after), steps in found
        if not steps
    ]
    accidents = tuple(dict.fromkeys(without_steps(call, steps) for (call, _, _), steps in found if steps))
    handled_before = {*_NAMES.findall(" ".join(_HANDLER.findall(text)))} - {"TypeError", "AttributeError"}
    alike = _shared_again(pairs, [compare_outcomes(before, after) for _, before, after in pairs])
    differences = [
        Difference(*pair, unpacks=unpacks_values(text, unit), is_let_through=pair[2].error in handled_before)
        for pair, how in zip(pairs, alike, strict=True)
        if how is OutcomeEquality.DIFFERENT
    ]
    failing = [each for each in differences if promised is not None
               and (each.is_other_failure(promised, handled) or each.is_other_end(promised))]  # fmt: skip
    narrower = [each for each in differences if each.is_narrower]
    fixed = [each for each in differences if promised is not None and each.is_fixed({*promised, *handled})
              and each.call.origin not in WRITTEN]  # fmt: skip
    same = [pair for pair, how in zip(pairs, alike, strict=True) if how is not OutcomeEquality.DIFFERENT]
    agreed = [call for call, before, _ in same if before.valid and not call.again]
    is_enough = len(agreed) + len(earlier) >= ENOUGH
    accepted = [each for each in fixed if each.old.is_wrong_kind
                or (is_enough and each.call.origin in {*UNSURE, NEAR})]  # fmt: skip
    named = {*(promised or ()), *handled}
    accepted += [each for each in differences if is_enough and text and each.is_refused_shape]
    accepted += [each for each in differences if is_enough and text
                 and (each.is_float_for_whole or each.is_out_of_range or each.is_incomplete(text, unit))]  # fmt: skip
    accepted += [each for each in differences if is_enough and text and each.is_outside(text, named)]
    if is_enough and "Exception" not in handled:
        accepted += [each for each in fixed if each.is_malformed(text) and each not in accepted]
    besides = (*([_NARROWER] if narrower else []), *([_OLD_FAILS] if accepted else []))
    differences = [replace(each, fixes=each in fixed) for each in differences
                   if not (each.is_refusal or each in failing or each in narrower or each in accepted)]  # fmt: skip
    accepted_now = [call for call, _, after in same if after.kind == "ok"]
    differences = _with_known_kinds(differences, [*earlier, *accepted_now], frozenset(_QUOTED.findall(text)))
    judged = excuse_calls(
        text, [*earlier, *agreed], {each.call: each.is_conclusive for each in differences}, meant or {}
    )
    excuses = judged.reasons if text else {}
    if judged.uncertain:
        differences = [replace(each, is_unusual=each.call in excuses) for each in differences]
        excuses = {}
    differences = [
        each for each in differences
        if each.call not in excuses or each.is_too_deep
        or (each.takes_less and each.call not in judged.refusable and excuses[each.call] != NOT_FINITE)
    ]  # fmt: skip
    of_foreign_kind = (
        calls_of_foreign_kind(text, [*earlier, *accepted_now], [each.call for each in differences])
        if text
        else frozenset()
    )
    if of_foreign_kind and all(each.call in of_foreign_kind for each in differences if each.is_conclusive):
        refused = {each.call for each in differences if each.call in of_foreign_kind and each.new.kind == "raised"
                   and is_container(each.call, [*earlier, *agreed], meant or {})}  # fmt: skip
        excuses = {**excuses, **dict.fromkeys(refused, UNUSUAL)}
        differences = [replace(each, is_unusual=each.is_unusual or each.call in of_foreign_kind) for each in differences
                       if each.call not in refused]  # fmt: skip
    # Calls that someone means convince, and short ones that used to work are the easiest to understand.
    differences.sort(
        key=lambda each: (
            not each.is_conclusive, each.call.is_secret, each.call.origin != CAPTURED, each.old.kind != "ok",
            len(each.call.snippet),
        )
    )  # fmt: skip
    sharing = [Difference(*pair) for pair, how in zip(pairs, alike, strict=True) if how is OutcomeEquality.SHARED]
    if text:
        known = usual_kinds(text, [*earlier, *agreed], meant or {})
        sharing = [each for each in sharing if not known.excuse(each.call)]
    sharing.sort(key=lambda each: len(each.call.snippet))
    inputs = [(before, after) for call, before, after in pairs if not call.again]
    valid = sum(before.valid for before, _ in inputs)
    ends = {"" if before.kind == "ok" else before.error or before.kind for _, before, _ in pairs if before.valid}
    return Comparison(
        unit, len(inputs), valid, alike.count(OutcomeEquality.ROUNDED), tuple(differences), dict(report.left_out),
        sharing=tuple(each for each in sharing if each.old.valid),
        missing=sum(not calls[n].again for n in old.outcomes if n not in new.outcomes),
        opaque=valid > 0 and all(before.opaque for _, before, _ in pairs if before.valid),
        partial=any(before.partial for _, before, _ in pairs),
        reordered=any(before.order != after.order for _, before, after in pairs),
        raised=() if "" in ends else tuple(sorted(ends)), failing=bool(failing),
        excuses=tuple(sorted({*excuses.values(), *besides})),
        lacks=frozenset(before.lacks for before, _ in inputs if before.lacks),
        unresolved=bool(inputs) and all(before.error in _UNRESOLVED for before, _ in inputs),
        calls=tuple(call for call, _, _ in pairs), agreed=tuple(call for call in accepted_now if not call.again),
        accidents=accidents, succeeded=sum(before.kind == "ok" for before, _ in inputs),
        malformed=sum(before.error in _MALFORMED - {*(promised or ())} for before, _ in inputs),
    )  # fmt: skip


def counted_coverage(found: Comparison, report: HarnessReport) -> HarnessReport:
    """The report with the coverage that counts: inputs that are passed over execute nothing."""
    if UNUSUAL not in found.excuses or report.unseen_alike is None:
        return report
    return replace(report, unseen=report.unseen_alike)


def _accidents(call: Call, old: CallOutcome, new: CallOutcome, promised: Collection[str]) -> tuple[int, ...]:
    """The guessed steps on an object that failed on a wrong kind, if the versions differ after one.

    What is left undone there, and which error it is, does not count, unless the code names the error; so the call is
    made again without these steps.
    """
    wrong = tuple(
        n for n, each in enumerate(old.results)
        if ((met := _WRONG_KIND.match(each)) and met[1] not in promised)
        or (n < len(new.results) and new.results[n].startswith(_UNHASHABLE))
    )  # fmt: skip
    if not wrong or call.origin not in UNSURE or old.kind != new.kind:
        return ()
    differs = len(new.results) > wrong[0] and old.digest != new.digest
    return wrong if differs and old.results[: wrong[0]] == new.results[: wrong[0]] else ()


def _with_equal_accidents(call: Call, old: CallOutcome, new: CallOutcome, promised: Collection[str]) -> CallOutcome:
    """The new outcome, where both versions fail at a guessed step, each in an operation of another kind (an index or a
    key that is not there), with the old error there: which of them it is does not count, all other results do.
    """
    if call.origin not in UNSURE or old.digest == new.digest or len(old.results) != len(new.results):
        return new
    results = tuple(
        one if _are_accidents(one, other, promised) else other
        for one, other in zip(old.results, new.results, strict=True)
    )
    if results == new.results:
        return new
    same = replace(new, results=results, digest=old.digest)
    is_alike = (old.kind, old.results, old.variables, old.printed, old.aliases) == (
        same.kind, same.results, same.variables, same.printed, same.aliases,
    )  # fmt: skip
    return same if is_alike else new


def _are_accidents(old: str, new: str, promised: Collection[str]) -> bool:
    """Whether two results are errors of operations on values that the code is not meant for."""
    found = [_ERROR.match(each) for each in (old, new)]
    return all(each is not None and each[1] in ACCIDENTS and each[1] not in promised for each in found)


def _shared_again(pairs: Sequence[_Pair], alike: list[OutcomeEquality]) -> list[OutcomeEquality]:
    """The equalities; a call repeated after its result was emptied differs as the first one does, in sharing."""
    shared = {(call.setup, call.body) for (call, _, _), how in zip(pairs, alike, strict=True)
              if how is OutcomeEquality.SHARED}  # fmt: skip
    return [
        OutcomeEquality.SHARED
        if call.again and any(call.setup == setup and call.body.endswith(body) for setup, body in shared) else how
        for (call, _, _), how in zip(pairs, alike, strict=True)
    ]  # fmt: skip


def _with_known_kinds(
    differences: list[Difference], accepted: Sequence[Call], quoted: frozenset[str]
) -> list[Difference]:
    """The differences, marked where both texts accept the same kinds in one of the `accepted` calls.

    If the new code accepts no kinds at all, the kinds are not the reason.
    """
    if not any(each.call.origin in UNSURE and each.new.is_wrong_kind for each in differences):
        return differences
    taken = list(map(argument_kinds, accepted))
    return [replace(each, in_domain=not taken or in_input_domain(each.call, taken, quoted)) for each in differences]
