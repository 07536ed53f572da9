"""The judges' report on a change, as what a hook passes on."""

from __future__ import annotations

from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.render import summary
from stet_ls.server.cli.agents.verified_report import report_of
from stet_ls.server.cli.hook.refusal_text import VerifiedChange


async def verified_outcome(asked: ChangeQuery, budget: float) -> VerifiedChange:
    """The outcome of judging a change within so many seconds."""
    report = await report_of(asked, budget=budget)
    lines = tuple(
        f"{each.path}:{each.line} {each.unit}: {each.check}{'' if each.refutes else ' (note)'}: {each.detail}"
        for each in report.findings
    )
    return VerifiedChange(report.conclusion.value, summary(report), lines, tuple(report.notes))
