"""The part of an edit that the user kept in a diff editor: as an answer of its own, judged again without running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stet_ls.engine.api.answer import Answer, Edit
from stet_ls.engine.api.evidence import Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.api.summary import Caution
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.server.documents.line_diff import minimal
from stet_ls.server.documents.open_documents import Documents
from stet_ls.server.edits.edit_plan import EditOrigin, EditPlan
from stet_ls.server.session import StetServer
from stet_ls.validators.source import Source, Splice

UNCHECKED = "a part of the edit: its behavior and tests not checked"

_JUDGES = (Check.SYNTAX, Check.NAMES, Check.SIGNATURE)
"""The checks that run no code: the user waits for them."""


@dataclass(frozen=True, slots=True)
class OfferedEdit:
    """An edit as the user sees it: its plan, and for each changed document its text and what followed it since."""

    plan: EditPlan
    origins: tuple[EditOrigin, ...]

    @classmethod
    def of(cls, plan: EditPlan, documents: Documents) -> OfferedEdit:
        """Follows the documents of a plan that was made with no await since."""
        return cls(plan, tuple(EditOrigin(change.before, documents.track(change.before)) for change in plan.changes))

    def release(self, *, but: EditOrigin | None = None) -> None:
        """Stops following all documents but one."""
        for origin in self.origins:
            if origin is not but:
                origin.track.release()


def kept_part(answer: Answer, offered: OfferedEdit, texts: Mapping[str, str]) -> Answer:
    """The answer that makes the documents, by their URIs, the kept `texts`; without the evidence for the whole."""
    plan = offered.plan
    edits = [
        Edit(change.before.path, change.before.source, splice.span, splice.text)
        for change in plan.changes
        for splice in minimal(change.before.source, Source(texts.get(change.before.uri, change.after.text)))
    ]
    files = [replace(file, text=texts.get(file.path.as_uri(), file.text)) for file in plan.new_files]
    return replace(
        answer,
        edits=tuple(edits),
        new_files=tuple(file for file in files if file.text.strip()),
        code="",
        guard=None,
        evidence=(),
        confidence=0.0,
        summary=replace(answer.summary, caution=Caution.NONE, gains=(), notes=(*answer.summary.notes, UNCHECKED)),
        # The record and the memory know the whole edit by this trace.
        metadata=replace(answer.metadata, trace="", reasons=(), calibration="", evidence_tier=EvidenceTier.PARSED),
    )


async def judge_part(ls: StetServer, answer: Answer, part: Answer, offered: OfferedEdit) -> tuple[Evidence, ...]:
    """The evidence of the checks that run no code; a failure that the whole edit has, too, is not repeated."""
    tools = toolbox((await ls.engine.get()).settings, ls.editor.roots())
    known = {(item.check, item.detail) for item in answer.evidence}
    found: list[Evidence] = []
    for change in offered.plan.changes:
        before = change.before
        spliced = [edit for edit in part.edits if edit.base is before.source]
        after = before.source.splice([Splice(edit.span, edit.new_text) for edit in spliced])
        case = Case(answer.action, before.language, before.path, before.source, after, tools=tools)
        found += [await judge_of(check).judge(case) for check in _JUDGES]
    return tuple(item for item in found if item.verdict is not Ruling.FAIL or (item.check, item.detail) not in known)
