"""The one repair: requested with the diagnosis' instructions, and once more if they were not followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stet_ls.engine.actions.action import JobPrompt
from stet_ls.engine.actions.generate_test_fix.candidate_trial import CandidateTrial
from stet_ls.engine.actions.rewriting.rewrite import FittedReply
from stet_ls.engine.api.events import Stage
from stet_ls.engine.diagnosis.diagnose import repair_orders
from stet_ls.engine.diagnosis.diagnosis import Cause, Diagnosis
from stet_ls.engine.errors import ModelError, PolicyError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import NamedJudge
from stet_ls.engine.loop import Proposal, Reader, UnusableReply, judge_reply
from stet_ls.engine.privacy.placeholders import hide_secrets
from stet_ls.engine.prompt.build import RejectionReason, repair
from stet_ls.engine.prompt.fence import code_fence

_OPEN = (
    "These tests were written from the instruction by someone who did not see your code; code or test may be wrong.\n"
    "Where the instruction says what the test says, mend the code. Where it does not, reply with your code unchanged.\n"
)
_WARMER = 0.5
"""The temperature of the second try: at the same one, the model would repeat its reply."""


@dataclass(frozen=True, slots=True)
class Repairer:
    """Asks for repairs of the candidates of one job."""

    job: Job
    about: JobPrompt
    read: Reader[FittedReply]
    judges: Sequence[NamedJudge]
    size: int

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secret values that no message may quote."""
        return self.about.prompt.secrets

    def repairable(self, proposal: Proposal[FittedReply], found: CandidateTrial) -> tuple[Diagnosis, ...]:
        """The failures that other code can fix: logic, undetermined ones, and packages that the code added."""
        before, language = proposal.draft.case.before, self.job.request.language
        lacking = found.of(Cause.ENVIRONMENT)
        brought = (each for each in lacking if each.fix and each.fix.shown(before, before, language))
        return (*found.of(Cause.LOGIC, Cause.UNDETERMINED), *brought)

    async def repair(self, proposal: Proposal[FittedReply], wrong: Sequence[Diagnosis]) -> Proposal[FittedReply] | str:
        """A candidate with the fixes; the same one if the model keeps its code; the reason if there is none."""
        fixes = [each.fix for each in wrong if each.fix is not None]
        code = proposal.draft.content.fitted.code
        fence = code_fence(code)
        prompt, last_reply = self.about.prompt, f"CODE:\n{fence}{self.job.request.language}\n{code.rstrip()}\n{fence}"
        for missed in (False, True):
            if missed and (why := self.job.call_limit_reason()):
                return f"The model did not follow its diagnosis, without a second attempt: {why}"
            orders = repair_orders(wrong, missed=missed)
            stage = Stage("repair", "the requested change is missing" if missed else "")
            try:
                reason = RejectionReason(hide_secrets(orders if fixes else _OPEN + orders, self.secrets))
                prompt = repair(prompt, last_reply, reason)
                warmth = _WARMER if missed else 0.1
                reply = await self.job.ask(prompt, temperature=warmth, max_tokens=self.size, stage=stage)
            except (ModelError, PolicyError) as error:
                return f"A repair failed: {error}"
            with self.job.stage("judge"):
                result = await judge_reply(self.job, reply, self.read, self.judges, self.secrets)
            if not isinstance(result, UnusableReply):
                by = result.refuted_by
                if by is not None or not result.offerable:
                    why = by.detail if by is not None else "it changes nothing or does not parse"
                    return f"A repair was refused: {why}"
                before, after = proposal.draft.case.after, result.draft.case.after
                if not fixes and before.text.split() == after.text.split():
                    return proposal
                if all(fix.shown(before, after, self.job.request.language) for fix in fixes):
                    return result
            last_reply = reply.text
        missing = ", ".join(dict.fromkeys(map(str, fixes))) or "a reply with code"
        return f"The model failed twice: {missing}"
