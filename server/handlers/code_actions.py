"""The code actions at a position: without a model, parser or disk, so that a light bulb costs milliseconds.

Each action carries a command and no edit; resolving it changes nothing (VS Code and Neovim resolve even command-only
actions, and a lazy edit from a model would freeze Helix).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsprotocol import types

from stet_ls.engine.api.actions import ACTIONS, ActionSpec, OfferedWhen
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.documents.unit_index import UnitIndex
from stet_ls.server.lsp.client_capabilities import ClientFeatures

if TYPE_CHECKING:
    from stet_ls.engine.actions.registry import Actions
    from stet_ls.server.jobs.job_registry import JobHandle


OFFERS = tuple(sorted(ACTIONS.values(), key=lambda spec: not spec.kind.startswith("quickfix.")))
"""The built-in actions in menu order: quick fixes first."""
KINDS = tuple(spec.kind for spec in OFFERS)
CANCEL_KIND = "stet.cancel"
VERIFY_KIND = "source.stet.verify"

TITLE_MESSAGE = 60
"""Characters of a diagnostic's message that fit a menu."""
COMMENT_LINES = 50
"""Lines of a selection that are searched for a `stet:` comment."""

_COMMENT = re.compile(r"\bstet:\s*\S")


@dataclass(frozen=True, slots=True)
class _Place:
    """All inputs that decide which actions are offered."""

    unit: str | None
    knows_units: bool
    selected: bool
    instructed: bool
    problems: Sequence[types.Diagnostic]

    def allows(self, spec: ActionSpec) -> bool:
        match spec.offered:
            case OfferedWhen.PROBLEM:
                return bool(self.problems) or self.instructed
            case OfferedWhen.UNIT:
                return self.unit is not None or self.selected or not self.knows_units
            case OfferedWhen.INVOKED:
                return True

    def title(self, spec: ActionSpec) -> str:
        if spec.offered is OfferedWhen.PROBLEM and self.problems:
            more = f" and {len(self.problems) - 1} more" if len(self.problems) > 1 else ""
            return f"{spec.menu_plain}: {_short(self.problems[0].message)}{more}"
        return spec.menu.replace("{unit}", self.unit) if self.unit else spec.menu_plain


def command_of(spec: ActionSpec) -> str:
    """The command that runs an action."""
    return f"stet.{spec.name}" if spec.name in ACTIONS else "stet.custom"


def custom_offers(actions: Actions | None) -> tuple[ActionSpec, ...]:
    """The code actions for custom actions. The title of an untrusted one says that it asks first."""
    listed = () if actions is None else actions.custom.values()
    return tuple(each.action.spec if each.trusted else _asking(each.action.spec) for each in listed)


def _asking(spec: ActionSpec) -> ActionSpec:
    title = f"{spec.title} (project action, asks first)"
    return replace(spec, menu=title, menu_plain=title)


def code_actions(
    params: types.CodeActionParams,
    snapshot: Snapshot,
    index: UnitIndex,
    client: ClientFeatures,
    custom: Sequence[ActionSpec] = (),
) -> list[types.CodeAction | types.Command]:
    """The actions for a range, in menu order. `context.only` filters them; an automatic request gets quick fixes.

    A `stet:` comment without a diagnostic puts Generate first.
    """
    fitting = (spec for spec in custom if not spec.languages or snapshot.language in spec.languages)
    wanted = [spec for spec in (*OFFERS, *fitting) if _includes(params.context, spec.kind)]
    if not wanted:
        return []
    place = _place(params, snapshot, index)
    if place.instructed and not place.problems:
        wanted.sort(key=lambda spec: not spec.adds_code)
    actions: list[types.CodeAction | types.Command] = []
    for spec in wanted:
        if place.allows(spec):
            actions.append(_action(spec, place, params, client))
        elif client.literal_actions and client.disabled_actions and _invoked(params.context):
            disabled = types.CodeActionDisabled(spec.offered.value)
            actions.append(types.CodeAction(spec.menu_plain, kind=spec.kind, disabled=disabled))
    return actions


def cancel_actions(
    params: types.CodeActionParams, jobs: Iterable[JobHandle], client: ClientFeatures
) -> list[types.CodeAction | types.Command]:
    """An action for each running job that cancels it, the newest first: the only way in a client without our plugin."""
    if client.has_plugin or not _includes(params.context, CANCEL_KIND):
        return []
    actions: list[types.CodeAction | types.Command] = []
    for job in reversed([each for each in jobs if each.result is None]):
        title = f"Cancel Stet job: {job.action} {job.uri.rpartition('/')[2]}, {job.elapsed():.0f} s"
        command = types.Command(title, "stet.cancel", arguments=[{"job": job.id}])
        literal = client.literal_actions
        actions.append(types.CodeAction(title, kind=CANCEL_KIND, command=command) if literal else command)
    return actions


def verify_actions(params: types.CodeActionParams, client: ClientFeatures) -> list[types.CodeAction | types.Command]:
    """The source action that verifies the file, for a request that names its kind: it would be noise in each menu.

    Editors also ask for source actions when they save, if their user set them up so.
    """
    if not any(kind and f"{VERIFY_KIND}.".startswith(f"{kind}.") for kind in _only(params.context)):
        return []
    title = "Verify the changes of this file"
    quiet = {} if _invoked(params.context) else {"quiet": True}
    command = types.Command(title, "stet.verify", arguments=[{"uri": params.text_document.uri, **quiet}])
    return [types.CodeAction(title, kind=VERIFY_KIND, command=command) if client.literal_actions else command]


def _invoked(context: types.CodeActionContext) -> bool:
    return context.trigger_kind is not types.CodeActionTriggerKind.Automatic


def _includes(context: types.CodeActionContext, wanted: str) -> bool:
    """Whether the request includes a kind. Kinds are hierarchies: "refactor" includes "refactor.rewrite"."""
    if not _invoked(context) and not wanted.startswith("quickfix."):
        return False
    if context.only is None:
        return True
    return any(kind == "" or f"{wanted}.".startswith(f"{kind}.") for kind in _only(context))


def _only(context: types.CodeActionContext) -> list[str]:
    return [kind.value if isinstance(kind, types.CodeActionKind) else kind for kind in context.only or ()]


def _place(params: types.CodeActionParams, snapshot: Snapshot, index: UnitIndex) -> _Place:
    start, end = sorted((params.range.start, params.range.end), key=_key)
    return _Place(
        unit=index.unit_at(snapshot.uri, snapshot.version, start.line, end.line),
        knows_units=index.is_ready(snapshot.uri, snapshot.version),
        selected=start != end,
        instructed=_invoked(params.context) and _has_comment(snapshot, start.line, end.line),
        problems=[each for each in params.context.diagnostics if _overlaps(each.range, start, end)],
    )


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _overlaps(range_: types.Range, start: types.Position, end: types.Position) -> bool:
    if start == end:  # a cursor in the indentation means its line
        return range_.start.line <= start.line <= range_.end.line
    return _key(range_.start) <= _key(end) and _key(start) <= _key(range_.end)


def _has_comment(snapshot: Snapshot, first: int, last: int) -> bool:
    """Whether a `stet:` comment is in the selection or on the line above it."""
    lines = range(max(first - 1, 0), min(last, first + COMMENT_LINES) + 1)
    return any(_COMMENT.search(snapshot.source.line_text(line)) for line in lines)


def _action(
    spec: ActionSpec, place: _Place, params: types.CodeActionParams, client: ClientFeatures
) -> types.CodeAction | types.Command:
    title = place.title(spec)
    answers = place.problems if spec.offered is OfferedWhen.PROBLEM else ()
    argument = {} if spec.name in ACTIONS else {"action": spec.name}
    command = types.Command(title, command_of(spec), arguments=[{**argument, **_argument(params, answers)}])
    if not client.literal_actions:
        return command
    # VS Code lists quick fixes first, whatever the order of the answer.
    leads = spec.adds_code and place.instructed and not place.problems and params.context.only is None
    return types.CodeAction(
        title,
        kind=f"quickfix.stet.{spec.name}" if leads else spec.kind,
        diagnostics=list(answers) or None,
        command=command,
        tags=[types.CodeActionTag.LlmGenerated] if spec.llm_generated and client.llm_tag else None,
    )


def _argument(params: types.CodeActionParams, problems: Sequence[types.Diagnostic]) -> Mapping[str, object]:
    argument: dict[str, object] = {"uri": params.text_document.uri, "range": _range(params.range)}
    if problems:
        argument["diagnostics"] = [_diagnostic(each) for each in problems]
    return argument


def _range(range_: types.Range) -> Mapping[str, object]:
    start, end = ({"line": at.line, "character": at.character} for at in (range_.start, range_.end))
    return {"start": start, "end": end}


def _diagnostic(diagnostic: types.Diagnostic) -> Mapping[str, object]:
    """The fields that the command needs; `data` of other servers is omitted."""
    kept = {
        "severity": None if diagnostic.severity is None else int(diagnostic.severity),
        "source": diagnostic.source,
        "code": diagnostic.code,
    }
    fields: dict[str, object] = {"range": _range(diagnostic.range), "message": diagnostic.message}
    return fields | {name: value for name, value in kept.items() if value is not None}


def _short(message: str) -> str:
    line = message.strip().partition("\n")[0].rstrip(".")
    return line if len(line) <= TITLE_MESSAGE else f"{line[: TITLE_MESSAGE - 1].rstrip()}…"
