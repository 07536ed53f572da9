"""Runs calls that the model claims to raise: "mean([]) raises ZeroDivisionError" is confirmed or refuted.

A claim is a call of the function that holds the quoted line, or values for its parameters, and an exception's name.
Nothing else is tried: the meaning of other sentences is not guessed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.actions.rewriting.stated_examples import call_at, literal_at
from stet_ls.engine.api.request import Request
from stet_ls.engine.execution.harness_run import CallOutcome, NotRunnable
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python.inputs.subject import Subject, read_module, subject_of
from stet_ls.engine.execution.python.module_location import locate_module
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges import doctest
from stet_ls.engine.privacy.placeholders import without_values
from stet_ls.engine.reply.findings_reply import LocatedFinding
from stet_ls.validators import structure
from stet_ls.validators.ast_text import is_literal_call
from stet_ls.validators.source import Source

CONFIRMED = "confirmed: "
_NO_CALL = "no call to try"
_RAISES = re.compile(
    r"(?i:\b(?:raises?|throws?|fails? with|crash(?:es)? with|gives?|leads? to|results? in|causes?)|->|=>|→)"
    r"\s+(?:an?\s+)?`?(?P<error>[A-Z]\w*(?:Error|Exception|Interrupt|Iteration|Exit|Warning))\b"
)
_GIVEN = r"(?<![\w.]){}`?\s*(?:==?|is|:)\s*`?"
_LAZY = re.compile(r"<(?:coroutine|generator|async_generator|map|filter|zip|enumerate|itertools\.\w+) object\b")
"""Lazy results: their code has not run yet, so whether it raises is unknown."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A call as Python text, and the name of the exception that it allegedly raises."""

    call: str
    error: str


async def check_claims(job: Job, request: Request, placed: Sequence[LocatedFinding]) -> list[LocatedFinding]:
    """The findings in the request's text with the results of the calls they claim to fail, run in the sandbox.

    An untried bug is a risk.
    """
    source = request.source
    if not for_language(request.language).runs_examples:
        return [_untried(each, f"{request.language} is not supported") for each in placed]
    claims = await asyncio.to_thread(lambda: [_claim(source, request.language, each) for each in placed])
    calls = tuple(doctest.as_typed(each.call) for each in claims if each is not None)
    runtime = await job.runtime(source.text) if calls else None
    if runtime is None:
        return [_untried(each, _NO_CALL if claims[n] is None else "code may not run") for n, each in enumerate(placed)]
    place = await asyncio.to_thread(locate_module, request.path, (source.text,), runtime)
    outcomes = await doctest.outcomes(runtime, source.text, calls, place)
    if isinstance(outcomes, NotRunnable):
        return [_untried(each, outcomes.reason) for each in placed]
    numbers = iter(range(len(calls)))
    return [
        _untried(each, _NO_CALL) if claim is None else _with(each, claim, outcomes.get(next(numbers)))
        for each, claim in zip(placed, claims, strict=True)
    ]


def _with(each: LocatedFinding, claim: Claim, outcome: CallOutcome | None) -> LocatedFinding:
    if outcome is None or outcome.kind in ("reached", "limit", "died"):
        return _untried(each, f"`{claim.call}` did not finish here")
    if outcome.kind == "ok" and _LAZY.match(outcome.printed.strip()):
        return _untried(each, f"`{claim.call}` runs only when its result is used")
    kind = each.opinion.kind
    confirmed = outcome.kind == "raised" and outcome.error.rpartition(".")[2] == claim.error
    if confirmed:
        result = f"{CONFIRMED}`{claim.call}` raises {claim.error}"
    else:
        actual = f"gives {outcome.printed.strip() or 'None'}" if outcome.kind == "ok" else str(outcome)
        result = f"not so: `{claim.call}` {without_values(actual)[:120]}"
        kind = _milder(kind)  # a call that fails in another way does not prove the claim, but may be a weak spot
    opinion = replace(each.opinion, kind=kind, witness=f"{each.opinion.witness} ({result})")
    return replace(each, opinion=opinion, refuted=outcome.kind == "ok", confirmed=confirmed, said=each.opinion)


def _untried(each: LocatedFinding, why: str) -> LocatedFinding:
    """The finding, marked if it claims an exception."""
    opinion = each.opinion
    if _RAISES.search(opinion.witness) is None:
        return each
    witness = f"{opinion.witness} (unverified: {why})"
    return replace(each, opinion=replace(opinion, kind=_milder(opinion.kind), witness=witness), said=opinion)


def _milder(kind: str) -> str:
    """The kind of an unconfirmed finding."""
    return "risk" if kind == "bug" else kind


def _claim(source: Source, language: str, placed: LocatedFinding) -> Claim | None:
    """A finding's claim about the function that holds its line; None unless the function can be called directly."""
    words = placed.opinion.witness
    error = _RAISES.search(words)
    unit = structure.unit_at(source, language, source.line_span(placed.line))
    module = read_module(source.text)
    subject = subject_of(module, unit.qualified) if module and unit else None
    if error is None or subject is None or subject.how not in ("function", "static"):
        return None
    call = _called(words, subject) or _given(words[: error.start()], subject)
    return None if call is None else Claim(call, error["error"])


def _called(words: str, subject: Subject) -> str | None:
    """A call of the function with literals only: of a model's text, nothing but values is evaluated."""
    for match in re.finditer(rf"(?<![\w.]){re.escape(subject.callee)}\(", words):
        call, _ = call_at(words, match.start())
        if call is not None and is_literal_call(call):
            return subject.name + call[len(subject.callee) :]
    return None


def _given(words: str, subject: Subject) -> str | None:
    """The call with the values that the text gives to its parameters; None if a required one has no value."""
    values: list[str] = []
    by_name = False
    for parameter in subject.parameters:
        found = re.search(_GIVEN.format(re.escape(parameter.name)), words)
        value = literal_at(words[found.end() :]) if found else None
        if value is None and parameter.default is None and not parameter.name.startswith("*"):
            return None
        by_name = by_name or value is None or parameter.keyword
        if value is not None:
            values.append(f"{parameter.name}={value}" if by_name else value)
    return f"{subject.name}({', '.join(values)})" if values else None
