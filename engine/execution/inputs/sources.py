"""What a row of a language's table of inputs holds (`python/inputs/sources.py`, `javascript/inputs/sources.py`).

The first sources make the inputs of the first run, in the order of the table. Each further one is used only where the
results so far leave a need for it: the judge knows these results, and has a rule for each `Need` and each `Trust`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from stet_ls.engine.execution.harness_run import Call, CallOutcome, GrownCall, HarnessReport, NotRunnable
from stet_ls.engine.execution.probe import Probe, ProbedText
from stet_ls.engine.execution.runtime import Runtime

Calls = tuple[Call, ...]
TextPair = tuple[str, str]
"""The old text of a file and the new one."""
Probed = tuple[ProbedText, ProbedText]


class Need(StrEnum):
    """When a further source is used, as `docs/evidence.md` says it."""

    REFUSED = "where the inputs so far fail, or lack keys that the code reads"
    ACCIDENTS = "where old and new differ after a step that fails on a wrong kind"
    UNREACHED = "where no input so far executed all of the change"
    STARVED = "where the inputs so far execute less than half of the change, or nearly all of them fail"


class Trust(StrEnum):
    """How far results on the inputs of a source count, as `docs/evidence.md` says it."""

    MEANT = "someone meant them: a difference refutes"
    BY_ORIGIN = "written calls and near misses are meant, others without hints are guesses"
    AS_BEFORE = "as the inputs that they are made of"
    GUESSED = "guesses: a difference on a kind that the code may not be meant for is a question"
    CONCLUSIVE = "only a difference that no wrong kind explains counts"
    INSTEAD = "they replace the guesses, if the code accepts more of them"
    ADDING = "the same, but what differs with stand-ins alone counts for nothing"
    REFUTING = "a difference refutes, equality proves nothing"


FIRST_TRUST = frozenset({Trust.MEANT, Trust.BY_ORIGIN, Trust.AS_BEFORE, Trust.GUESSED})
"""The trust of first sources: each of their inputs has its own origin, which decides."""


@dataclass(frozen=True, slots=True)
class ComparedUnit:
    """A unit of which the old and the new text are compared.

    `tests` are the texts of its test files with their languages, `captured` the calls that these made, `uncaptured`
    those that could not be copied, by the reason. `names_parts`: the old code names keys or items of its arguments.
    """

    texts: TextPair
    name: str
    language: str
    tests: tuple[tuple[str, str], ...] = ()
    captured: Calls = ()
    uncaptured: Mapping[str, int] = field(default_factory=dict)
    names_parts: bool = False

    @property
    def before(self) -> str:
        """The old text of its file."""
        return self.texts[0]

    @property
    def after(self) -> str:
        """The new text of its file."""
        return self.texts[1]


class VersionRunner(Protocol):
    """Runs the old and the new text of a unit; see `version_pair.py` of each language.

    `texts` are those that run: of the file, or of the unit alone. `both` are the same with probes, None if they cannot
    have any.
    """

    @property
    def runtime(self) -> Runtime:
        """What code runs with."""
        ...

    @property
    def texts(self) -> TextPair:
        """The texts that run."""
        ...

    @property
    def both(self) -> Probed | None:
        """The texts with probes."""
        ...

    async def run(self, calls: Calls, grown: Sequence[GrownCall] = ()) -> HarnessReport | NotRunnable:
        """The report of the first calls, and of how the time of the `grown` ones grows."""
        ...

    async def run_further(self, calls: Calls, grown: Sequence[GrownCall] = ()) -> HarnessReport | None:
        """The report of further calls; None if there are none, or nothing could be loaded."""
        ...

    async def run_old(self, calls: Calls, seconds: float | None = None) -> Mapping[int, CallOutcome] | None:
        """The outcomes of calls of the old text alone; None if it could not be loaded."""
        ...

    def grown(self, calls: Calls) -> tuple[GrownCall, ...]:
        """Some of the calls with larger arguments. Parses: not for an event loop."""
        ...


@dataclass(frozen=True, slots=True)
class InputsSoFar:
    """What further inputs are made from.

    `calls` are the first ones, `agreed` those on which both texts agree so far, `unseen` the places of the change that
    none executed. `suggested` is a model's reply with example calls, "" without one. `accidents` are calls without the
    steps that fail on a wrong kind.
    """

    unit: ComparedUnit
    pair: VersionRunner
    calls: Calls
    agreed: Calls = ()
    unseen: frozenset[Probe] = frozenset()
    suggested: str = ""
    accidents: Calls = ()

    @property
    def literals(self) -> tuple[str, ...]:
        """The literals of what changed."""
        return tuple(each for text in self.pair.both or () for each in text.literals)


@dataclass(frozen=True, slots=True)
class FirstSource:
    """A source of the first inputs, or a step that leaves some of them out or marks them.

    `name` and `gives` are what a reader is shown. `extend` gets the calls of the rows above, and answers with these and
    its own, the likeliest first. It adds `most` at most; 0 if only what it reads limits it. `for_observed`: it also
    extends the calls of a run that observed how the code uses its arguments.
    """

    name: str
    gives: str
    trust: Trust
    extend: Callable[[Calls, ComparedUnit], Calls]
    most: int = 0
    for_observed: bool = False


@dataclass(frozen=True, slots=True)
class FurtherSource:
    """A source of inputs for the comparisons that need them.

    `make` answers with at most `most` calls, as far as the documentation allows them; 0 if only what it reads limits
    them. `is_timed`: how the time of its calls grows is measured as that of the first ones. `unless` names a source
    that gives the same: where that one was used, this one is not.
    """

    name: str
    gives: str
    need: Need
    trust: Trust
    make: Callable[[InputsSoFar], Awaitable[Calls]]
    most: int = 0
    is_timed: bool = False
    unless: str = ""


async def _without_accidents(known: InputsSoFar) -> Calls:
    return known.accidents


WITHOUT_ACCIDENTS = FurtherSource(
    "without accidents", "calls on an object again, without the steps that fail on a wrong kind",
    Need.ACCIDENTS, Trust.CONCLUSIVE, _without_accidents,
)  # fmt: skip
"""Of every language."""
Sources = tuple[FirstSource | FurtherSource, ...]


def first_calls(sources: Sources, unit: ComparedUnit) -> Calls:
    """The inputs of the first run; none if the unit is not callable. Takes tenths of a second: not for event loops."""
    calls: Calls = ()
    for source in sources:
        if isinstance(source, FirstSource):
            calls = source.extend(calls, unit)
    return calls


def further(sources: Sources) -> tuple[FurtherSource, ...]:
    """The further sources, in order."""
    return tuple(each for each in sources if isinstance(each, FurtherSource))


async def taken(pair: VersionRunner, calls: Calls, named: frozenset[str]) -> Calls:
    """The calls that the old code takes: it neither finds a wrong kind in them nor fails by accident.

    `named` are the words of the old code: the errors among them are meant.
    """
    outcomes = await pair.run_old(calls) if calls else None
    return tuple(calls[n] for n, each in (outcomes or {}).items() if each.valid and not each.fails_by_accident(named))
