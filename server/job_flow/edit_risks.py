"""Decides whether to ask the user before an edit is applied, and how. Only risky edits get a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stet_ls.engine.api.actions import spec_of
from stet_ls.engine.api.answer import Answer, Edit
from stet_ls.engine.api.evidence import PROVING, Check, Evidence, Ruling
from stet_ls.engine.api.summary import phrase
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.edits.edit_plan import EditPlan, is_target
from stet_ls.server.evidence.evidence_text import not_run, summarize, unrequested_risks
from stet_ls.validators.structure import imports

Preview = Literal["auto", "always", "never"]


def edit_risks(answer: Answer, plan: EditPlan, snapshot: Snapshot) -> tuple[str, ...]:
    """The reasons to ask about this edit, as text; empty for an edit of the target that passed its checks.

    Reasons from the evidence are worded as in the answer's message.
    """
    found = []
    if len(plan.names) > 1:
        found.append(f"it changes {len(plan.names)} files ({', '.join(plan.names)})")
    found += [phrase(item) for item in answer.evidence if item.verdict is Ruling.FAIL]
    found += unrequested_risks(answer)
    unknown = [item for item in answer.evidence if item.verdict is Ruling.UNKNOWN and item.trusted]
    found += [phrase(item) for item in unknown if item.check is not Check.DANGER]
    found += [phrase(item) for item in answer.evidence if _is_uncompared(item, answer)]
    new_tests = [item.detail for item in answer.evidence if spec_of(answer.action).writes_tests and _unrun(item)]
    found += new_tests
    if not new_tests and (unproven := not_run(answer)):  # tests say themselves why they did not run
        found.append(unproven)
    if any(_outside(edit, answer, snapshot) for edit in answer.edits):
        found.append("it changes code outside the target")
    return tuple(found)


def _unrun(item: Evidence) -> bool:
    """True for new tests that did not run, for any reason: without a run they prove nothing."""
    return item.check is Check.TESTS and not item.trusted and item.verdict in (Ruling.UNKNOWN, Ruling.SKIPPED)


def _is_uncompared(item: Evidence, answer: Answer) -> bool:
    """True if old and new ran, nothing could be said of them, and nothing else proves that they behave alike."""
    if item.check is not Check.DIFFERENTIAL or item.verdict is not Ruling.UNKNOWN or item.trusted:
        return False
    proven = any(each.check in PROVING and each.trusted and each.verdict is Ruling.PASS for each in answer.evidence)
    return spec_of(answer.action).preserves_behavior and not proven


def question(answer: Answer, reasons: Sequence[str], omitted: Sequence[str] = ()) -> str:
    """The question: what was done and shown, then the reasons to ask, each stated once.

    `omitted` are phrases to omit because the user sees them elsewhere.
    """
    return f"{summarize(answer, (*reasons, *omitted))}. {reasons_to_ask(reasons)}"


def reasons_to_ask(reasons: Sequence[str]) -> str:
    """The question without what was done."""
    why = "; ".join(reasons)
    if not why:
        return "Apply it?"
    end = "" if why.endswith(".") else "."  # an example to fill in ends in dots
    return f"Apply it? {why[0].upper()}{why[1:]}{end}"


def must_ask(preview: Preview, reasons: tuple[str, ...]) -> bool:
    """Whether the edit needs the user's consent."""
    return preview == "always" or (preview == "auto" and bool(reasons))


def _outside(edit: Edit, answer: Answer, snapshot: Snapshot) -> bool:
    """Whether an edit is outside the target. Imports merged into the import block count as inside."""
    if not is_target(edit.path, snapshot):
        return True
    if answer.guard is None or answer.guard.contains(edit.span):
        return False
    block = imports(edit.base, answer.language)
    last = max((span.end for span in block), default=0)
    return edit.base.line_of(edit.span.start) > edit.base.line_of(last) + 1
