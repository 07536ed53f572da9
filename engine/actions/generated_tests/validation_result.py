"""The results of new tests: the kept ones with their evidence, the others with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.actions.generated_tests.candidate_tests import CandidateTests, SuspectTest
from stet_ls.engine.actions.generated_tests.mutant_trial import MutantResults
from stet_ls.engine.actions.generated_tests.suite_split import tests_in
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.project_tests.forgery_risks import unless_suspicious
from stet_ls.engine.plurals import plural, verb
from stet_ls.validators.source import Source

_ENOUGH = 0.8
"""The share of detected mutants above which no more tests are requested: many of the rest change no behavior."""
_MOST_GAPS = 6


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The result for a text of tests. `text` is the whole test file with the tests that passed, `code` only those.

    `count` is the number of tests kept; without a `problem` some passed, or none was run and all are kept. `dropped`
    counts the others by reason; `gaps` describe what the tests of the file leave untested.
    """

    text: Source
    code: str
    count: int
    evidence: tuple[Evidence, ...]
    suspects: tuple[SuspectTest, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    gaps: tuple[str, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()

    @property
    def redundant(self) -> bool:
        """True if the only problem is that the existing tests cover and detect as much."""
        return not self.count and not self.suspects and {each for each, n in self.dropped.items() if n} == {"redundant"}


def result_of_kept(left: CandidateTests, noticed: MutantResults, counted: Sequence[str]) -> ValidationResult:
    """The remaining tests, to be offered; `counted` are those with known coverage and mutants."""
    count = len(left.ids)
    detail = f"{plural(count, 'test')} {verb('pass', count)} three times{_dropped(left.dropped)}"
    evidence = [Evidence(Check.TESTS, Ruling.PASS, detail)]
    survivors = noticed.survivors(counted)
    share = 1.0
    if noticed.tried:
        share = 1 - len(survivors) / noticed.tried
        evidence.append(detected_mutants(noticed.tried - len(survivors), noticed.tried))
    else:
        late = "out of time" if noticed.mutants else "nothing to mutate"
        why = noticed.why_not or late
        evidence.append(Evidence(Check.MUTANTS, Ruling.SKIPPED, f"no mutation testing: {why}"))
    gaps = _gaps(left.job.request.source, noticed, counted) if share < _ENOUGH or noticed.uncovered(counted) else ()
    suspects, notes = tuple(left.suspects), tuple(left.notes)
    return ValidationResult(left.joined(), left.code, count, tuple(evidence), suspects, left.dropped, gaps, "", notes)


def detected_mutants(detected: int, tried: int) -> Evidence:
    """The evidence of mutants, of which some were tried."""
    verdict = Ruling.PASS if 2 * detected >= tried else Ruling.UNKNOWN
    return Evidence(Check.MUTANTS, verdict, f"{detected} of {tried} mutants detected")


def unless_forged(result: ValidationResult, signs: Collection[str]) -> ValidationResult:
    """The result, with passes changed to unknown if there are signs that the test runner was deceived."""
    return replace(result, evidence=tuple(unless_suspicious(each, sorted(signs)) for each in result.evidence))


def result_without_tests(left: CandidateTests, why: str) -> ValidationResult:
    """An empty result, with the reason."""
    parts = [why] if why else []
    if left.suspects:
        count, first = len(left.suspects), left.suspects[0]
        fail = f"{count} {verb('fail', count)} on the current code (a possible bug, or a wrong expectation)"
        parts.append(f"{fail}: `{first.test.name}`, {first.sentence}")
    parts += left.notes
    problem = f"{'; '.join(parts) or 'none of them passed'}{_dropped(left.dropped)}"
    evidence = (Evidence(Check.TESTS, Ruling.UNKNOWN, problem),)
    empty = Source(left.place.text)
    gaps = () if why else ("- everything: the last reply has no usable test",)
    suspects, notes = tuple(left.suspects), tuple(left.notes)
    return ValidationResult(empty, "", 0, evidence, suspects, left.dropped, gaps, problem, notes)


def result_not_run(text: Source, code: str, why: str, verdict: Ruling) -> ValidationResult:
    """All tests, with evidence that they were not run."""
    count = len(tests_in(code))
    return ValidationResult(text, code, count, (Evidence(Check.TESTS, verdict, f"tests not run: {why}"),))


def _gaps(source: Source, noticed: MutantResults, counted: Sequence[str]) -> tuple[str, ...]:
    """Lines that no test reaches and mutants that none detects, quoted, since the model sees no line numbers."""
    lines = [f"- never run: `{source.line_text(at - 1).strip()}`" for at in noticed.uncovered(counted)]
    unseen = [
        f"- nothing fails if `{source.line_text(each.line - 1).strip()}` is wrong ({each.change})"
        for each in noticed.survivors(counted)
        if each.line and each.line not in noticed.uncovered(counted)
    ]
    return tuple(dict.fromkeys([*lines[:_MOST_GAPS], *unseen[:_MOST_GAPS]]))


def _dropped(dropped: Counter[str]) -> str:
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()) if count)
    return f" (dropped: {counts})" if counts else ""
