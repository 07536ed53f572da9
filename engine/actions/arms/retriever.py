"""The retriever: finds where the workspace defines what a step names, and solutions that the user kept."""

from __future__ import annotations

import asyncio
import re

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.arms.arm import ArmNeeds, StepRun
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import ArmHealth, ArmState
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.markdown import fenced
from stet_ls.engine.plurals import plural

_MOST = 12
_LINES = 20
_NAME = re.compile(r"[A-Za-z_]\w{2,}")


async def find(run: StepRun) -> Answer:
    """The definitions of the names in the instruction, with their code, and the remembered solutions."""
    return await asyncio.to_thread(_find, run)


def _find(run: StepRun) -> Answer:
    job, request = run.job, run.job.request
    names = list(dict.fromkeys(_NAME.findall(f"{run.step.unit} {run.step.instruction}")))
    parts = []
    if job.index is not None:
        found = job.index.find(names, request.language, request.workspace).candidates
        for candidate in found[:_MOST]:
            definition = job.index.open(candidate, request.workspace)
            if definition is None:
                continue
            entry = definition.entry
            code = definition.source.data[entry.start : entry.end].decode("utf-8", "replace")
            text = "\n".join(code.splitlines()[:_LINES])
            parts.append(f"`{candidate.entry.name}` in {candidate.path.name}:\n\n{fenced(text, request.language)}")
    parts += [f"{each.provenance}:\n\n{fenced(each.text, request.language)}" for each in job.remembered]
    if not parts:
        return refusal(job, f"Task: nothing found for {', '.join(names[:5]) or 'this step'}.")
    summary = Summary("Found", plural(len(parts), "piece of code"))
    return finish_answer(job, Answer(True, request.action, request.language, summary, markdown="\n\n".join(parts)))


async def index_health(needs: ArmNeeds) -> ArmHealth:
    """Whether the symbols of the workspace are known."""
    return ArmHealth() if needs.index is not None else ArmHealth(ArmState.DEGRADED, "no symbol index")
