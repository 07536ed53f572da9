"""Whether a person is asked before an edit lands, and how. Only risky edits are worth a question."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from stet_ls.engine.markdown import plain
from stet_ls.engine.models import Answer, Check, Edit, Evidence, Ruling
from stet_ls.server.documents import Snapshot
from stet_ls.server.evidence import dangers, told
from stet_ls.server.plan import Plan, is_target
from stet_ls.validators.structure import imports

Preview = Literal["auto", "always", "never"]

OFFER = "stet/offer"
"""A request to plugins that show an edit in full: `{job, question, choices, markdown}`; a choice or null answers."""


class Choice(StrEnum):
    """What the person answered."""

    APPLY = "Apply"
    SHOW_DIFF = "Show diff"
    SHOW_EVIDENCE = "Show evidence"
    DISCARD = "Discard"


def risks(answer: Answer, plan: Plan, snapshot: Snapshot) -> tuple[str, ...]:
    """Why this edit deserves a question, in words; nothing for an edit of the target that passed its checks.

    What evidence gives as a reason is worded as in the answer's message.
    """
    from stet_ls.engine.judges.verdict import summary  # the handshake does without the judges

    found = []
    if len(plan.names) > 1:
        found.append(f"it changes {len(plan.names)} files ({', '.join(plan.names)})")
    found += [summary([item]) for item in answer.evidence if item.verdict is Ruling.FAIL]
    found += dangers(answer)
    unknown = [item for item in answer.evidence if item.verdict is Ruling.UNKNOWN and item.trusted]
    found += [summary([item]) for item in unknown if item.check is not Check.DANGER]
    found += [item.detail for item in answer.evidence if answer.action == "test" and _unrun(item)]
    if any(_outside(edit, answer, snapshot) for edit in answer.edits):
        found.append("it reaches outside the code that was asked about")
    return tuple(found)


def _unrun(item: Evidence) -> bool:
    """True for new tests that nobody ran, whatever the reason: they are worth nothing unless they do."""
    return item.check is Check.TESTS and not item.trusted and item.verdict in (Ruling.UNKNOWN, Ruling.SKIPPED)


def question(answer: Answer, reasons: Sequence[str], apart: Sequence[str] = ()) -> str:
    """What is asked: what was done and shown, and at the end, alone, why it needs an answer. Each thing once.

    `apart` are phrases that stand elsewhere before its reader's eyes.
    """
    return f"{told(answer, (*reasons, *apart))}. {why_asked(reasons)}"


def why_asked(reasons: Sequence[str]) -> str:
    """The question without what was done."""
    why = "; ".join(reasons)
    return "Apply it?" + (f" {why[0].upper()}{why[1:]}." if why else "")


def must_ask(preview: Preview, reasons: tuple[str, ...]) -> bool:
    """True if the edit may not land without a person's word."""
    return preview == "always" or (preview == "auto" and bool(reasons))


async def ask(ls: LanguageServer, question: str) -> Choice:
    """Asks by message box. A box that is dismissed, or a client that cannot show one, means no."""
    actions = [types.MessageActionItem(title.value) for title in Choice]
    params = types.ShowMessageRequestParams(types.MessageType.Warning, question, actions)
    try:
        item = await ls.window_show_message_request_async(params)
    except JsonRpcException:
        return Choice.DISCARD
    return Choice(item.title) if item is not None and item.title in Choice.__members__.values() else Choice.DISCARD


async def offer(ls: LanguageServer, job: str, question: str, markdown: str) -> bool:
    """Has a plugin show all about an edit and ask. True if its user says yes; whatever else comes means no."""
    choices = [Choice.APPLY.value, Choice.DISCARD.value]
    params = {"job": job, "question": plain(question), "choices": choices, "markdown": markdown}
    try:
        return bool(await ls.protocol.send_request_async(OFFER, params) == Choice.APPLY)
    except JsonRpcException:
        return False


def _outside(edit: Edit, answer: Answer, snapshot: Snapshot) -> bool:
    """Imports that are merged into the import block count as inside the target."""
    if not is_target(edit.path, snapshot):
        return True
    if answer.guard is None or answer.guard.contains(edit.span):
        return False
    block = imports(edit.base, answer.language)
    last = max((span.end for span in block), default=0)
    return edit.base.line_of(edit.span.start) > edit.base.line_of(last) + 1
