"""What running two texts of a unit on the same inputs showed; further inputs are added to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call, HarnessReport
from stet_ls.engine.execution.inputs.rows import CAPTURED, SUGGESTED
from stet_ls.engine.execution.probe import Probe, in_order
from stet_ls.engine.judges.differential.difference import WRITTEN, Difference
from stet_ls.engine.judges.differential.excuses.input_domain import ArgumentKind, argument_kinds, in_input_domain
from stet_ls.engine.judges.differential.excuses.unusual_inputs import ENOUGH, UNUSUAL, is_named_kind

LEAST_VALID = 20
"""With fewer valid inputs, equality is too weak to pass."""
LEAST_SUCCEEDED = 5
_MISSED = 12
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
            differences=tuple(each for each in more.differences if each.is_conclusive or each.is_question),
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
        kept = tuple(each for each in own.differences if each.is_conclusive or each.is_in_rare_letters)
        rest = own.differences if more.valid < ENOUGH and not more.differences else kept
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
            title = f"Counterexample: {self.differences[0]}"
            files.insert(0, ("counter_example", title, (self.differences[0].call,)))
        unit = self.unit.replace(".", "_")
        made = (self.runnable(f"{name}_{unit}", title, calls) for name, title, calls in files if calls)
        return tuple(each for each in made if each is not None)


def counted_coverage(found: Comparison, report: HarnessReport) -> HarnessReport:
    """The report with the coverage that counts: inputs that are passed over execute nothing."""
    if UNUSUAL not in found.excuses or report.unseen_alike is None:
        return report
    return replace(report, unseen=report.unseen_alike)
