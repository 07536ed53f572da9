"""Offers an edit to a plugin that shows it in a diff editor, where the user may keep a part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pygls.exceptions import JsonRpcException

from stet_ls.engine.api.actions import spec_of
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.markdown import plain
from stet_ls.server.edits.edit_plan import EditOrigin, EditPlan, make_plan, name_of
from stet_ls.server.job_flow.edit_risks import reasons_to_ask
from stet_ls.server.job_flow.partial_edit import OfferedEdit, judge_part, kept_part
from stet_ls.server.jobs.job_registry import JobHandle
from stet_ls.server.session import StetServer

OFFER = "stet/offer"
"""A request to plugins that show an edit: `{job, question, choices, markdown}`; a choice or null answers.

With `plugin.diffs` also `{title, headline, failure, refuted, files: [{uri, name, before, after}], counterExample}`, and
the answer may be `{choice, texts: [{uri, text}]}` with the texts that the user kept, if they are not those of the
offer. The failure is the short form of a headline that tells one, else "".
"""
APPLY, DISCARD = "Apply", "Discard"


@dataclass(frozen=True, slots=True)
class KeptPart:
    """What the user kept of an edit, and the document that it was offered for."""

    answer: Answer
    origin: EditOrigin


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's decision. `part` is what they kept of the edit; None: all of it."""

    applies: bool
    part: KeptPart | None = None


@dataclass(frozen=True, slots=True)
class _Reply:
    applies: bool
    texts: Mapping[str, str] = field(default_factory=dict)


async def send_offer(ls: StetServer, params: Mapping[str, Any]) -> _Reply:
    """The plugin's reply; anything but a yes means no."""
    try:
        reply = await ls.protocol.send_request_async(OFFER, {"choices": [APPLY, DISCARD], **params})
    except JsonRpcException:
        return _Reply(applies=False)
    choice = _field(reply, "choice") if not isinstance(reply, str) else reply
    rows = _field(reply, "texts") or ()
    kept = {_field(row, "uri"): _field(row, "text") for row in rows} if choice == APPLY else {}
    return _Reply(choice == APPLY, {uri: text for uri, text in kept.items() if isinstance(text, str)})


def _field(value: Any, name: str) -> Any:
    """A field of a reply, which pygls reads as a mapping or as an object."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


async def offer_diff(
    ls: StetServer, job: JobHandle, answer: Answer, reasons: Sequence[str], origin: EditOrigin
) -> Decision:
    """Asks until the user agrees to what was judged: a part is judged first, and offered again if a check fails.

    StaleError if the documents have changed.
    """
    offered = OfferedEdit.of(make_plan(answer, origin, ls.documents), ls.documents)
    target: EditOrigin | None = None
    try:
        base = await _params(ls, job, answer, reasons, offered.plan)
        reply = await send_offer(ls, base)
        last_texts: Mapping[str, str] = {}
        while reply.applies and reply.texts:
            part = kept_part(answer, offered, reply.texts)
            if not part.changes_files:
                return Decision(applies=False)
            evidence = await judge_part(ls, answer, part, offered)
            failed = [item for item in evidence if item.verdict is Ruling.FAIL]
            if not failed or reply.texts == last_texts:
                target = _target(offered, origin)
                return Decision(True, KeptPart(replace(part, evidence=evidence), target))
            last_texts = reply.texts
            line = f"✗ in the part you kept, {_failure(failed[0])}: {plain(failed[0].detail)}"
            message = {"headline": line, "failure": _failure(failed[0])}
            reply = await send_offer(ls, {**base, **message, "files": _files(offered.plan, last_texts)})
            if reply.applies and not reply.texts:
                reply = replace(reply, texts=last_texts)
        return Decision(reply.applies)
    finally:
        offered.release(but=target)


def _target(offered: OfferedEdit, origin: EditOrigin) -> EditOrigin:
    """The job's own document as it was offered; its track outlives the offer."""
    for each in offered.origins:
        if each.snapshot.uri == origin.snapshot.uri:
            return each
    return origin


async def _params(
    ls: StetServer, job: JobHandle, answer: Answer, reasons: Sequence[str], plan: EditPlan
) -> dict[str, Any]:
    shown: Mapping[str, Any] = {"markdown": "", "attachments": []}
    if answer.evidence:
        shown = await ls.evidence.files.collect(job.id, answer)
    refuting = [row["uri"] for row in shown["attachments"] if row["uri"] and row["name"].startswith("counter_example")]
    return {
        "job": job.id,
        "question": plain(reasons_to_ask(reasons)),
        "markdown": shown["markdown"],
        "title": plain(_title(answer)),
        "headline": plain(verdict_line(answer, reasons)),
        "failure": _failure(failed) if (failed := _failed(answer)) else "",
        "refuted": answer.refuted,
        "files": _files(plan, {}),
        "counterExample": next(iter(refuting), None),
    }


def _title(answer: Answer) -> str:
    unit = f" {answer.summary.unit}" if answer.summary.unit else ""
    return f"{spec_of(answer.action).title or answer.action.capitalize()}{unit}"


def verdict_line(answer: Answer, reasons: Sequence[str]) -> str:
    """What a user has to know first: the refutation, else what is proven, else why they are asked."""
    if failed := _failed(answer):
        return f"✗ {_failure(failed)}: {failed.detail}"
    proven = " · ".join(each for each in answer.metadata.reasons if each not in reasons)
    sure = f"{100 * answer.confidence:.0f} %" if answer.metadata.reasons and answer.confidence else ""
    known = f"✓ {proven} · {sure}" if proven and sure else proven or sure
    return " · ".join(filter(None, (known, *(f"? {reason}" for reason in reasons))))


def _failed(answer: Answer) -> Evidence | None:
    return next((item for item in answer.evidence if item.verdict is Ruling.FAIL), None)


_FAILURES = {
    Check.DIFFERENTIAL: "changes behavior",
    Check.TESTS: "a test fails",
    Check.DOCTEST: "an example fails",
    Check.SYNTAX: "the code does not parse",
    Check.NAMES: "a name does not resolve",
    Check.SIGNATURE: "the signature changes",
    Check.LINT: "new lint",
    Check.TYPES: "new type errors",
}
"""What a failed check means, above its code."""


def _failure(item: Evidence) -> str:
    return _FAILURES.get(item.check) or f"{item.title} failed"


def _files(plan: EditPlan, texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The texts before and after; `texts` replace the latter."""
    changed: list[tuple[str, str, str, str]] = [
        (change.before.uri, name_of(change.before), change.before.source.text, change.after.text)
        for change in plan.changes
    ]
    created = [(file.path.as_uri(), file.path.name, "", file.text) for file in plan.new_files]
    return [
        {"uri": uri, "name": name, "before": before, "after": texts.get(uri, after)}
        for uri, name, before, after in (*changed, *created)
    ]
