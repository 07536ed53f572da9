"""Groups several candidates by behavior: the largest group is more likely right than any single candidate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.harness_run import Call, HarnessRun, NotRunnable, VersionOutcomes
from stet_ls.engine.execution.languages import for_language
from stet_ls.engine.execution.python.harness import run
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.module_location import ModuleLocation, place_of
from stet_ls.engine.execution.python.statements import without_documentation
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case

LEAST_INPUTS = 50
"""With fewer inputs agreement says little (engine facts, section 3)."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Candidates, by number, in groups that behave alike, the largest first, with the number of inputs.

    Candidates with the same code count once: only the first of them is in a group. `repeated` counts the others.
    `changes_nothing`: they are to fix the code, and the largest group behaves as it did before.
    """

    groups: tuple[tuple[int, ...], ...]
    inputs: int
    repeated: int = 0
    changes_nothing: bool = False

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
            said = f"{self.repeated + 1} samples are the same code and count once"
            return Evidence(Check.AGREEMENT, Ruling.SKIPPED, said)
        said = f"{len(self.groups[0])} of {self.distinct} samples agree on {self.inputs} inputs"
        said += f"; {self.repeated} more repeat one of them" if self.repeated else ""
        if self.changes_nothing:
            return Evidence(Check.AGREEMENT, Ruling.UNKNOWN, f"{said}, but behave as before the change")
        agree = len(self.groups[0]) > 1 and 3 * self.share >= 2 and self.inputs >= LEAST_INPUTS
        return Evidence(Check.AGREEMENT, Ruling.PASS if agree else Ruling.UNKNOWN, said)


async def agreement(cases: Sequence[Case]) -> Agreement | NotRunnable:
    """Groups the candidates of one target by behavior. The inputs are generated for the first of them."""
    first = cases[0]
    if not for_language(first.language).compares_samples or first.runtime is None or not first.unit:
        return NotRunnable("no code ran")
    place, calls = await asyncio.to_thread(_prepare, first, first.runtime)
    distinct = await asyncio.to_thread(_distinct, [case.after.text for case in cases])
    texts = tuple(cases[number].after.text for number in distinct)
    before = (first.before.text,) if first.spec.mends and not first.spec.adds_code else ()
    trial = HarnessRun(
        (*texts, *before), calls, first.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, plain=True, cpu=0.2,
    )  # fmt: skip
    report = await run(first.runtime, trial, place.overlay)
    if isinstance(report, NotRunnable):
        return report
    old = report.texts[len(texts) :]
    loaded = [told for told in report.texts if not told.problem]
    common = [n for n in range(len(calls)) if loaded and all(n in told.outcomes for told in loaded)]
    valid = [n for n in common if any(told.outcomes[n].valid for told in loaded)]
    if not valid:
        return NotRunnable("no input found that any sample accepts")
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, told in zip(distinct, report.texts, strict=False):
        groups.setdefault((f"broken {number}",) if told.problem else _key(told, valid), []).append(number)
    as_before = [_key(told, valid) for told in old]
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group))
    largest = next(key for key, members in groups.items() if members is ordered[0])
    return Agreement(
        tuple(map(tuple, ordered)), len(valid), len(cases) - len(distinct), changes_nothing=largest in as_before
    )


def _key(told: VersionOutcomes, calls: Sequence[int]) -> tuple[str, ...]:
    return tuple(told.outcomes[n].digest for n in calls) if not told.problem else ()


def _distinct(texts: Sequence[str]) -> tuple[int, ...]:
    """The number of the first text with the same code, ignoring layout, comments and docstrings."""
    known: dict[str, int] = {}
    for number, text in enumerate(texts):
        known.setdefault(without_documentation(text), number)
    return tuple(known.values())


def _prepare(case: Case, runtime: Runtime) -> tuple[ModuleLocation, tuple[Call, ...]]:
    return place_of(case.path, (case.after.text,), runtime), calls_for(case.after.text, case.unit)
