"""A fix without a model: what the search found, how sure that is, and the answer that offers it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stet_ls.engine.actions.repair_search.behavior import LEAST_INPUTS, Behavior, ComparedRepairs, compare_repairs
from stet_ls.engine.actions.repair_search.language_table import for_language
from stet_ls.engine.actions.repair_search.search import SECONDS, Repair
from stet_ls.engine.actions.rewriting.reproduce import Reproduction
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import tests_before
from stet_ls.engine.plurals import plural, verb
from stet_ls.validators.source import Source

_SHOWN = 60
_CHECKS_OF_TWO = 3
"""Fewer checks are passed by chance by one of the many pairs of edits."""


@dataclass(frozen=True, slots=True)
class FoundRepairs:
    """What a search found among `tried` edits: behaviors, the likeliest first, each of which passes all `checks`.

    `case` is what was searched.
    """

    case: Case
    tried: int
    found: ComparedRepairs
    checks: int

    @property
    def best(self) -> Repair:
        """The likeliest repair."""
        return self.found.behaviors[0].best

    @property
    def is_clear(self) -> bool:
        """True if all repairs behave alike, as far as inputs show, and enough checks speak for two edits."""
        first, *others = self.found.behaviors
        return not others and not self._is_weakly_checked and (len(first.repairs) == 1 or first.inputs >= LEAST_INPUTS)

    @property
    def _is_weakly_checked(self) -> bool:
        return self.best.edits > 1 and self.checks < _CHECKS_OF_TWO

    def evidence(self, like: str = "") -> Evidence:
        """How the best was found, and where the next one behaves differently. `like` names what behaves like it."""
        first = self.found.behaviors[0]
        number = sum(len(each.repairs) for each in self.found.behaviors)
        detail = f"found by search, {plural(self.tried, 'candidate')} tried, {number} {verb('pass', number)}"
        if like:
            return Evidence(Check.SEARCH, Ruling.PASS, f"{detail}; {like}", count=self.tried)
        if self.is_clear:
            alike = f" and {verb('behave', number)} alike on {first.inputs} inputs" if number > 1 else ""
            return Evidence(Check.SEARCH, Ruling.PASS, detail + alike, count=self.tried)
        # Trusted, so that the user is asked: which of them is meant depends on the code's purpose.
        return Evidence(Check.SEARCH, Ruling.UNKNOWN, f"{detail}; {self._question()}", trusted=True, count=self.tried)

    def _question(self) -> str:
        """The input that tells the likeliest two apart, as a question."""
        if len(self.found.behaviors) == 1 and self._is_weakly_checked:
            shown = f"{plural(self.checks, 'check')} {verb('show', self.checks)}"
            return f"it takes two edits, and only {shown} that they are right"
        call, distinguishing_outcomes = self.found.distinguishing, self.found.distinguishing_outcomes
        if call is None or distinguishing_outcomes is None:
            return "whether they behave alike is not known"
        shown = " ".join(call.snippet.replace("\n", "; ").split())
        other = self.found.behaviors[1].best.change
        first, second = (_cut(str(each)) for each in distinguishing_outcomes)
        return f"is `{_cut(shown)}` {first}? Another fix ({other}) gives {second}"


async def find_repairs(job: Job, target: Target, seen: Reproduction) -> FoundRepairs | str:
    """The edits of the target with which everything passes that failed or passed before; takes a second or two.

    If there are none, the reason as a sentence; "" if there was nothing to search for.
    """
    case, request = seen.case, job.request
    language = for_language(request.language)
    if not seen.ran or not job.settings.checks.search or case.runtime is None or language is None:
        return ""
    everywhere = target.kind is TargetKind.DOCUMENT
    tests = await tests_before(case)
    seconds = SECONDS * (2 if request.budget.is_long else 1)
    repairs = await language.search(case, target.span, tests if tests and tests.failing else None, seconds, everywhere)
    if repairs.problem:
        return f"No fix searched: {repairs.problem}."
    if not repairs.found:
        return f"No fix found by search: {plural(repairs.tried, 'candidate')} tried."
    units = {each.unit for each in repairs.found}
    unit = case.unit or (units.pop() if len(units) == 1 else "")
    found = await compare_repairs(replace(case, unit=unit), case.runtime, repairs.found)
    return FoundRepairs(replace(case, unit=unit), repairs.tried, found, repairs.checks)


async def repairs_like_reply(known: FoundRepairs, after: Source) -> FoundRepairs | None:
    """The repairs that behave like the text `after`, which a model wrote; None if none does."""
    runtime = known.case.runtime
    best = [each.best for each in known.found.behaviors]
    if runtime is None:
        return None
    reply = Repair(after.text, (), "the model's reply", 0.0)
    found = await compare_repairs(known.case, runtime, [*best, reply])
    fitting = [each for each in found.behaviors if reply in each.repairs and each.inputs >= LEAST_INPUTS]
    alike = [each for behavior in fitting for each in behavior.repairs if each is not reply]
    if not alike:
        return None
    return replace(known, found=ComparedRepairs((Behavior(tuple(alike), fitting[0].changes, fitting[0].inputs),)))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
