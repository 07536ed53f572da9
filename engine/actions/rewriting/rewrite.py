"""Shared steps of the actions that replace the target: generate, debug, refactor and optimize."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine import self_consistency
from stet_ls.engine.actions.action import Action, JobPrompt, build_job_prompt, finish_answer, refusal
from stet_ls.engine.actions.rewriting.format_edit import format_edit
from stet_ls.engine.actions.rewriting.stated_examples import stated_examples
from stet_ls.engine.api.answer import Answer, Edit
from stet_ls.engine.api.events import JudgeFinished
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Diagnostic, Request, TargetKind
from stet_ls.engine.api.summary import Caution, Summary
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.attachments import without_secrets
from stet_ls.engine.judges.case import Case, NamedJudge
from stet_ls.engine.judges.confidence import confidence
from stet_ls.engine.judges.table import judges_for
from stet_ls.engine.loop import Draft, Proposal, Reader, UnusableReply, judge_draft, propose
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.privacy.placeholders import hide_secrets, misplaced_placeholder
from stet_ls.engine.prompt.instruction_intent import permits_removal
from stet_ls.engine.prompt.target import meant_units
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.reply.fitting.additions import add_code
from stet_ls.engine.reply.fitting.fit import Fitted, fit_code
from stet_ls.engine.reply.fitting.keep_comments import keep_comments
from stet_ls.engine.reply.fitting.keep_documentation import keep_documentation
from stet_ls.engine.reply.fitting.spacing import lines_of
from stet_ls.engine.reply.parsing.parse_reply import ParsedReply, parse_reply
from stet_ls.validators import structure
from stet_ls.validators.source import Source, Span, Splice

NOT_RUN = Evidence(Check.TESTS, Ruling.SKIPPED, "no code ran")
"""Added if no judge reported on tests: what was not checked is part of the evidence."""

_ROOM = 100_000
"""Tokens of the largest target that is edited without a model."""
_LABEL = re.compile(r"(?i)^[\s*_-]*(?:warnings?|caution|caveats?|notes?)[\s*_]*:")
_WARNS = re.compile(
    r"(?i)^[\s*_-]*(?:warning|caution|caveat)|\b(?:beware|careful|assum(?:es?|ing|ption)|limitation|breaking|unsafe|"
    r"insecure|deprecated|untested|thread-?safe|(?:does|do|is|are|was|were|may|might|can|could|will)(?: not|n't)"
    r" (?:handle|support|check|validate|test|work|cover)|"
    r"(?:may|might|can|could|will) (?:raise|fail|overflow|block|lose)|"
    r"(?:fails|crashes|breaks|overflows)(?: \S+){0,2} (?:for|if|when|on|with|unless) )"
)
"""Notes of a model that warn; the others describe."""
_ABOUT_DOCUMENTATION = re.compile(r"(?i)\b(do[ck]u?|[ck]omm?ent)|注[释釋]|コメント")
"""An instruction that mentions documentation may ask for its removal."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The parameters of one rewriting action.

    `done` is the past tense for messages ("Refactored"), and `attempted` the wording if a judge failed it ("Tried to
    refactor").

    Nothing is offered unless each of the `required` checks passes, except if a trusted judge says that the check is
    impossible here: then an editor asks. `formats`: the edit is formatted as the project formats, which may change
    more than white space. `samples`: if nothing proves the first reply, takes the one of several whose behavior most
    of them share. `judges` run after those of the row. `after_choice` are steps with the chosen reply. `measure_gain`
    describes the gain of the edit, from the case and whether an instruction asked for something special. `kind_of`
    names the kind of the change, from the case, its evidence and the diagnostics of the request.
    """

    done: str
    attempted: str
    temperature: float = 0.1
    required: frozenset[Check] = frozenset()
    formats: bool = True
    samples: bool = False
    judges: tuple[NamedJudge, ...] = ()
    after_choice: tuple[Further, ...] = ()
    measure_gain: Callable[[Case, bool], str] | None = None
    kind_of: Callable[[Case, Sequence[Evidence], Sequence[Diagnostic]], str] | None = None


@dataclass(frozen=True, slots=True)
class FittedReply:
    """A reply, read and fitted into the document."""

    fitted: Fitted
    reply: ParsedReply


Further = Callable[
    [Job, JobPrompt, Reader[FittedReply], Sequence[NamedJudge], Proposal[FittedReply], int],
    Awaitable[Proposal[FittedReply]],
]
"""A further step for the chosen proposal: calls the model, with a limit of tokens, reads and judges the reply."""


async def run(
    job: Job, action: Action, rewrite: Rewrite, *, user_examples: str = "", seen: Sequence[Evidence] = ()
) -> Answer:
    """Requests, judges and offers a new text; `user_examples` are the user's examples, `seen` is earlier evidence."""
    with job.stage("context"):
        about = await asyncio.to_thread(build_job_prompt, job, action)
    target, prompt = about.target, about.prompt
    user_examples += await asyncio.to_thread(_constrained, job.request, target.name)
    judges = (*judges_for(*action.spec.judged_as), *rewrite.judges)
    before = _announced(job, seen, prompt.secrets)

    async def read(completion: Completion) -> Draft[FittedReply] | UnusableReply:
        draft = await asyncio.to_thread(_read, job, about, rewrite, completion)
        return (
            draft
            if isinstance(draft, UnusableReply)
            else replace(draft, case=replace(draft.case, user_examples=user_examples))
        )

    size = max(2 * estimate(job.request.source.slice(target.span)) + 600, 1000)
    proposal = await propose(job, prompt, read, judges, temperature=rewrite.temperature, max_tokens=size)
    if rewrite.samples and isinstance(proposal, Proposal):
        proposal = await self_consistency.most_consistent(job, prompt, read, judges, proposal, max_tokens=size)
    for further in rewrite.after_choice:
        if isinstance(proposal, Proposal):
            proposal = await further(job, about, read, judges, proposal, size)
    with job.stage("finish"):
        if isinstance(proposal, UnusableReply):
            return replace(refusal(job, f"{action.spec.title}: no edit. {proposal.problem}"), evidence=before)
        gain = ""
        if rewrite.measure_gain is not None and proposal.offerable:
            gain = await asyncio.to_thread(rewrite.measure_gain, proposal.draft.case, about.instruction is not None)
        proposal = replace(proposal, evidence=(*before, *proposal.evidence))
        return _answer(job, action, rewrite, about, proposal, gain, await _kind(job, rewrite, proposal))


async def offer(
    job: Job,
    action: Action,
    rewrite: Rewrite,
    splices: Sequence[Splice],
    *,
    user_examples: str = "",
    seen: Sequence[Evidence],
) -> Answer:
    """Judges an edit of the target that is known without a model, as `run` judges a reply; nothing is sent."""
    # What it shows of the target does not depend on a model that is not asked.
    job = replace(job, profile=replace(job.profile, tier="strong", context=_ROOM, model=""), remembered=())
    with job.stage("context"):
        about = await asyncio.to_thread(build_job_prompt, job, action)
    before = _announced(job, seen, about.prompt.secrets)
    source, span = job.request.source, about.target.span
    if about.instruction is not None and (comment := about.instruction.replaces) is not None:
        whole = lines_of(source, comment)  # the instruction goes when it is done
        if not any(whole.overlaps(each.span) for each in splices):
            splices = sorted([*splices, Splice(whole, "")], key=lambda each: each.span)
    after = source.splice(splices)
    own = source.splice(each for each in splices if span.contains(each.span))
    code = own.slice(Span(span.start, span.end + len(own.data) - len(source.data)))
    patch = FittedReply(Fitted(tuple(splices), code), ParsedReply(code=code))
    draft = Draft(patch, replace(_case(job, about, after), user_examples=user_examples))
    with job.stage("judge"):
        judges = (*judges_for(*action.spec.judged_as), *rewrite.judges)
        proposal = await judge_draft(job, draft, judges, about.prompt.secrets)
    if isinstance(proposal, UnusableReply):
        return replace(refusal(job, f"{action.spec.title}: no edit. {proposal.problem}"), evidence=before)
    proposal = replace(proposal, evidence=(*before, *proposal.evidence))
    return _answer(job, action, rewrite, about, proposal, "", await _kind(job, rewrite, proposal))


async def _kind(job: Job, rewrite: Rewrite, proposal: Proposal[FittedReply]) -> str:
    if rewrite.kind_of is None or not proposal.offerable:
        return ""
    return await asyncio.to_thread(rewrite.kind_of, proposal.draft.case, proposal.evidence, job.request.diagnostics)


def _announced(job: Job, seen: Sequence[Evidence], secrets: Mapping[str, str]) -> tuple[Evidence, ...]:
    before = tuple(without_secrets(each, secrets) for each in seen)
    for item in before:
        job.on_event(JudgeFinished(item))
    return before


def _read(job: Job, about: JobPrompt, rewrite: Rewrite, completion: Completion) -> Draft[FittedReply] | UnusableReply:
    request, target, instruction = job.request, about.target, about.instruction
    cut = completion.finish != "stop"
    reply = parse_reply(
        completion.text,
        language=request.language,
        reply_kind="unit",
        symbol=target.name,
        truncated=cut,
        current=request.source.slice(target.span),
    )
    if reply.code is None:
        return UnusableReply(reply.problem or "The reply contains no code.")
    code = reply.code
    if instruction is None or instruction.origin == "stub" or not _ABOUT_DOCUMENTATION.search(about.instruction_text):
        code = keep_documentation(code, source=request.source, target=target, language=request.language)
        code = keep_comments(code, request.source.slice(target.span), request.language)
    replaces = None if instruction is None else instruction.replaces
    pointed = target.name if request.user_words is None else ""
    if request.spec.adds_code:
        fitted = add_code(
            code,
            source=request.source,
            target=target,
            language=request.language,
            replaces=replaces,
            released=lambda name: permits_removal(about.instruction_text, name, target=pointed),
        )
    else:
        fitted = fit_code(code, source=request.source, target=target, language=request.language, replaces=replaces)
    if fitted.problem is not None:
        return UnusableReply(fitted.problem)
    if rewrite.formats:
        fitted = format_edit(request.source, fitted, request.language, request.path, job.tools)
    after = request.source.splice(fitted.splices)
    secrets = about.prompt.secrets
    if problem := misplaced_placeholder(request.source.text, after.text, secrets):
        return UnusableReply(problem)
    return Draft(FittedReply(fitted, reply), _case(job, about, after), truncated=cut)


def _case(job: Job, about: JobPrompt, after: Source) -> Case:
    request, target = job.request, about.target
    return Case(
        request.action,
        request.language,
        request.path,
        request.source,
        after,
        target.name,
        job.tools,
        frozenset(about.prompt.secrets.values()),
        instructed=about.instruction is not None,
        instruction=about.instruction_text,
        planned=request.user_words is not None,
        changeable_units=meant_units(request)
        if request.spec.adds_code and target.kind is TargetKind.INSERTION
        else None,
        buffers=request.workspace.buffers,
    )


def _answer(
    job: Job, action: Action, rewrite: Rewrite, about: JobPrompt, proposal: Proposal[FittedReply], gain: str, kind: str
) -> Answer:
    request, draft = job.request, proposal.draft
    evidence = proposal.evidence
    if not any(item.check is Check.TESTS for item in evidence):
        evidence += (NOT_RUN,)
    chance = confidence(
        evidence, job.profile.tier, action=request.action, model=job.profile.model, truncated=draft.truncated
    )
    reply, fitted = draft.content.reply, draft.content.fitted
    # Speed that cannot be measured here leaves the decision to a person: an editor asks.
    passed = {item.check for item in evidence if item.verdict is Ruling.PASS}
    passed |= {e.check for e in evidence if e.check is Check.TIMING and e.verdict is Ruling.UNKNOWN and e.trusted}
    # Custom judges share a check, so each of them has to pass.
    passed -= {item.check for item in evidence if item.check is Check.CUSTOM and item.verdict is not Ruling.PASS}
    if not proposal.offerable or not rewrite.required <= passed:
        unproven = (item for item in evidence if item.check in rewrite.required and item.check not in passed)
        refuted = proposal.refuted_by or next(unproven, None)
        reason = refuted.detail if refuted else "a check that this action requires is not available"
        if refuted is not None and refuted.check is Check.SYNTAX:
            reason = f"the model's code does not parse: {reason}"  # else the reason seems to refer to the user's code
        no = refusal(job, f"{action.spec.title}: no edit, {reason}.", chance.metadata())
        same = draft.case.before.text.split() == draft.case.after.text.split()
        return replace(no, evidence=evidence, code=fitted.code, confidence=chance.chance, nothing_to_do=same)
    unit = about.target.name or _new_unit(fitted.code, request.language)
    review = job.usage.review if any(item.check is Check.REVIEW for item in evidence) else None
    did = rewrite.attempted if any(item.verdict is Ruling.FAIL for item in evidence) else rewrite.done
    answer = Answer(
        success=True,
        action=request.action,
        language=request.language,
        summary=Summary(did, f"`{unit}`" if unit else "", caution=_caution(proposal), gains=(gain,) if gain else ()),
        edits=tuple(Edit(request.path, request.source, splice.span, splice.text) for splice in fitted.splices),
        code=fitted.code,
        tests=reply.tests,
        explanation=hide_secrets("\n".join(part for part in (reply.plan, *reply.notes) if part), about.prompt.secrets),
        confidence=chance.chance,
        warnings=tuple(hide_secrets(warning, about.prompt.secrets) for warning in _warnings(reply, draft)),
        evidence=evidence,
        guard=_guard(about, fitted),
        metadata=replace(chance.metadata(), review=review, kind=kind, no_tests=_no_tests(job, reply)),
    )
    if answer.not_run:
        answer = replace(answer, metadata=replace(answer.metadata, raised_by=_raised_by(request, unit)))
    return finish_answer(job, answer)


def _constrained(request: Request, unit: str) -> str:
    """The examples among the constraints."""
    if not for_language(request.language).runs_examples:
        return ""
    return stated_examples("\n".join(request.constraints), unit, requested=True)


def _raised_by(request: Request, unit: str) -> str:
    """What a user can do to have an edit checked that nothing ran."""
    if unit and for_language(request.language).runs_examples:
        return f"give an example: {unit.rpartition('.')[2]}(...) == ..."
    return "add a test that calls it"


def _no_tests(job: Job, reply: ParsedReply) -> str:
    """Why code that was asked for comes without tests; "" if it has some."""
    if reply.tests is not None or not job.request.spec.adds_code:
        return ""
    return job.usage.no_tests or f"the budget `{job.request.budget}` has no call for tests; use `thorough`"


def _caution(proposal: Proposal[FittedReply]) -> Caution:
    """The caution on an edit that is shown although a judge refuted it: it is never applied without asking."""
    refuted = proposal.refuted_by
    if refuted is None:
        return Caution.NONE
    return Caution.NOT_EQUIVALENT if refuted.check in (Check.DIFFERENTIAL, Check.COMMENTS) else Caution.REFUTED


def _guard(about: JobPrompt, fitted: Fitted) -> Span:
    """The span that must be unchanged for the edit: the target, and the line of the comment with the instruction."""
    asked = [about.target.span]
    if about.instruction is not None and (comment := about.instruction.replaces) is not None:
        asked += [comment, *(splice.span for splice in fitted.splices if splice.span.overlaps(comment))]
    return Span(min(span.start for span in asked), max(span.end for span in asked))


def _new_unit(code: str, language: str) -> str:
    """The name of the only top-level function or class in the code; "" if there is not exactly one."""
    source = Source(code)
    outermost = [unit for unit in structure.units(source, language) if unit.name == unit.qualified]
    return outermost[0].name if len(outermost) == 1 else ""


def _warnings(reply: ParsedReply, draft: Draft[FittedReply]) -> tuple[str, ...]:
    own = [_LABEL.sub("", note).strip() for note in reply.notes if _WARNS.search(note)]
    if draft.truncated:
        own.append("The reply is incomplete, but its code is complete.")
    return tuple(note for note in own if note)
