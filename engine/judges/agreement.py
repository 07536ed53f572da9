"""Groups several candidates by behavior: the largest group is more likely right than any single candidate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.harness_run import Call, HarnessRun, NotRunnable, VersionOutcomes
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.outcome_equality import OutcomeEquality, compare_outcomes
from stet_ls.engine.execution.python.harness import run
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.module_location import ModuleLocation, locate_module
from stet_ls.engine.execution.python.statements import without_documentation
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case

LEAST_INPUTS = 50
"""With fewer inputs agreement says little: candidates that are wrong in the same way agree on most inputs."""
_MOST_INPUTS = 400


@dataclass(frozen=True, slots=True)
class Agreement:
    """Candidates, by number, in groups that behave alike, the largest first, with the number of inputs.

    Of equally large groups of fixes the first is the one that changes the fewest behaviors, else the one with the first
    candidate. Candidates with the same code count once: only the first of them is in a group. `repeated` counts the
    others. `changes_nothing`: they are to fix the code, and the largest group behaves as it did before. `nearest` is
    the candidate that is most like the others, if no two behave alike on all inputs.
    """

    groups: tuple[tuple[int, ...], ...]
    inputs: int
    repeated: int = 0
    changes_nothing: bool = False
    nearest: int = 0

    @property
    def distinct(self) -> int:
        """The number of candidates that are not copies of another."""
        return sum(map(len, self.groups))

    @property
    def share(self) -> float:
        """The largest group's share of the distinct candidates."""
        return len(self.groups[0]) / self.distinct

    def evidence(self) -> Evidence:
        """Passes if two thirds or more agree; never trusted: an error may be shared."""
        if self.distinct == 1 and self.repeated:
            # Identical samples neither support nor weaken each other.
            detail = f"{self.repeated + 1} samples are the same code and count once"
            return Evidence(Check.AGREEMENT, Ruling.SKIPPED, detail)
        detail = f"{len(self.groups[0])} of {self.distinct} samples agree on {self.inputs} inputs"
        detail += f" (without {self.repeated} of the same code)" if self.repeated else ""
        if self.changes_nothing:
            return Evidence(Check.AGREEMENT, Ruling.UNKNOWN, f"{detail}, but behave as before the change")
        agree = len(self.groups[0]) > 1 and 3 * self.share >= 2 and self.inputs >= LEAST_INPUTS
        return Evidence(Check.AGREEMENT, Ruling.PASS if agree else Ruling.UNKNOWN, detail)


async def group_by_behavior(cases: Sequence[Case]) -> Agreement | NotRunnable:
    """Groups the candidates of one target by behavior.

    The inputs follow from the signature and the documentation, as they were before, and from each candidate's code.
    """
    first = cases[0]
    if not for_language(first.language).compares_samples or first.runtime is None or not first.unit:
        return NotRunnable("no code ran")
    distinct = await asyncio.to_thread(_distinct, [case.after.text for case in cases])
    texts = tuple(cases[number].after.text for number in distinct)
    place, calls = await asyncio.to_thread(_prepare, first, first.runtime, texts)
    before = (first.before.text,) if first.spec.fixes and not first.spec.adds_code else ()
    trial = HarnessRun(
        (*texts, *before), calls, first.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, plain=True, cpu=0.2,
    )  # fmt: skip
    report = await run(first.runtime, trial, place.overlay)
    if isinstance(report, NotRunnable):
        return report
    old = report.texts[len(texts) :]
    loaded = [version for version in report.texts if not version.problem]
    common = [n for n in range(len(calls)) if loaded and all(n in version.outcomes for version in loaded)]
    valid = [n for n in common if any(version.outcomes[n].valid for version in loaded)]
    if not valid:
        return NotRunnable("no input found that any sample accepts")
    versions = dict(zip(distinct, report.texts, strict=False))
    groups = _grouped(versions, valid)
    changed = {group[0]: _changes(versions[group[0]], old, valid) for group in groups}
    groups.sort(key=lambda group: (-len(group), changed[group[0]], group))
    return Agreement(
        tuple(map(tuple, groups)),
        len(valid),
        len(cases) - len(distinct),
        changes_nothing=bool(old) and not versions[groups[0][0]].problem and not changed[groups[0][0]],
        nearest=max(versions, key=lambda number: (_mean_likeness(number, versions, valid), -number)),
    )


def _grouped(versions: Mapping[int, VersionOutcomes], valid: Sequence[int]) -> list[list[int]]:
    """The candidates that behave alike, rounding aside; one that cannot be loaded is alone."""
    groups: list[list[int]] = []
    for number, each in versions.items():
        alike = (group for group in groups if _likeness(each, versions[group[0]], valid) == 1)
        group = None if each.problem else next(alike, None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    return groups


def _likeness(one: VersionOutcomes, other: VersionOutcomes, valid: Sequence[int]) -> float:
    """The share of inputs on which two candidates do the same."""
    if one.problem or other.problem:
        return 0.0
    alike = (compare_outcomes(one.outcomes[n], other.outcomes[n]) is not OutcomeEquality.DIFFERENT for n in valid)
    return sum(alike) / len(valid)


def _mean_likeness(number: int, versions: Mapping[int, VersionOutcomes], valid: Sequence[int]) -> float:
    return sum(_likeness(versions[number], each, valid) for other, each in versions.items() if other != number)


def _changes(version: VersionOutcomes, old: Sequence[VersionOutcomes], valid: Sequence[int]) -> int:
    """On how many inputs a fix does something else than the code before; 0 for what is no fix."""
    if not old or version.problem or old[0].problem:
        return 0
    return round(len(valid) * (1 - _likeness(version, old[0], valid)))


def _distinct(texts: Sequence[str]) -> tuple[int, ...]:
    """The number of the first text with the same code, ignoring layout, comments and docstrings."""
    known: dict[str, int] = {}
    for number, text in enumerate(texts):
        known.setdefault(without_documentation(text), number)
    return tuple(known.values())


def _prepare(case: Case, runtime: Runtime, texts: Sequence[str]) -> tuple[ModuleLocation, tuple[Call, ...]]:
    """Inputs of the text before, which has signature and documentation, in turn with those of each candidate."""
    lists = [calls_for(text, case.unit) for text in (case.before.text, *texts)]
    turns = (call for calls in zip_longest(*lists) for call in calls if call is not None)
    calls = {(call.setup, call.body): call for call in turns}
    return locate_module(case.path, (texts[0],), runtime), tuple(calls.values())[:_MOST_INPUTS]
