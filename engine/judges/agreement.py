"""Groups several candidates by behavior: the largest group is more likely right than any single candidate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.harness_run import Call, HarnessRun, NotRunnable
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
    """

    groups: tuple[tuple[int, ...], ...]
    inputs: int
    repeated: int = 0

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
            agreeing = f"{self.repeated + 1} samples are the same code and count once"
            return Evidence(Check.AGREEMENT, Ruling.SKIPPED, agreeing)
        agreeing = f"{len(self.groups[0])} of {self.distinct} samples agree on {self.inputs} inputs"
        agreeing += f"; {self.repeated} more repeat one of them" if self.repeated else ""
        agree = len(self.groups[0]) > 1 and 3 * self.share >= 2 and self.inputs >= LEAST_INPUTS
        return Evidence(Check.AGREEMENT, Ruling.PASS if agree else Ruling.UNKNOWN, agreeing)


async def agreement(cases: Sequence[Case]) -> Agreement | NotRunnable:
    """Groups the candidates of one target by behavior. The inputs are generated for the first of them."""
    first = cases[0]
    if not for_language(first.language).compares_samples or first.runtime is None or not first.unit:
        return NotRunnable("no code ran")
    place, calls = await asyncio.to_thread(_prepare, first, first.runtime)
    distinct = await asyncio.to_thread(_distinct, [case.after.text for case in cases])
    texts = tuple(cases[number].after.text for number in distinct)
    trial = HarnessRun(
        texts, calls, first.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, plain=True, cpu=0.2,
    )  # fmt: skip
    report = await run(first.runtime, trial, place.overlay)
    if isinstance(report, NotRunnable):
        return report
    loaded = [outcome for outcome in report.texts if not outcome.problem]
    common = [n for n in range(len(calls)) if loaded and all(n in outcome.outcomes for outcome in loaded)]
    valid = [n for n in common if any(outcome.outcomes[n].valid for outcome in loaded)]
    if not valid:
        return NotRunnable("no input found that any sample accepts")
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, outcome in zip(distinct, report.texts, strict=False):
        key = (f"broken {number}",) if outcome.problem else tuple(outcome.outcomes[n].digest for n in valid)
        groups.setdefault(key, []).append(number)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group))
    return Agreement(tuple(map(tuple, ordered)), len(valid), len(cases) - len(distinct))


def _distinct(texts: Sequence[str]) -> tuple[int, ...]:
    """The number of the first text with the same code, ignoring layout, comments and docstrings."""
    known: dict[str, int] = {}
    for number, text in enumerate(texts):
        known.setdefault(without_documentation(text), number)
    return tuple(known.values())


def _prepare(case: Case, runtime: Runtime) -> tuple[ModuleLocation, tuple[Call, ...]]:
    return place_of(case.path, (case.after.text,), runtime), calls_for(case.after.text, case.unit)
