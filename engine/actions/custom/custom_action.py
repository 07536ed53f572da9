"""A custom action, and how its template becomes a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Formatter
from typing import Literal

from pydantic import ValidationError

from stet_ls.engine.api.actions import ActionSpec, OfferedWhen
from stet_ls.engine.api.evidence import Check, JudgedEdits
from stet_ls.engine.api.request import Request, Target
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Judge
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.settings.table_schemas import TARGETS, ActionRow
from stet_ls.validators.languages import id_of, language

__all__ = ["CustomAction", "Judge", "action_of_row", "checked_action", "prepare_task"]

_LONGEST = 200
"""The most characters of a name or a file's name that are filled into an instruction."""


@dataclass(frozen=True, slots=True)
class CustomAction:
    """An action that is not built in, as plain data. An entry point of the group `stet.actions` holds one.

    `name` is for commands (lowercase letters, digits, hyphens), `title` the imperative for menus. `instruction` is the
    task for the model, with the placeholders {name}, {language}, {file} and {instruction} (the user's words; an
    action that has it requires them). `targets` are among "unit", "statements", "document", `languages` LSP ids
    (none: all). `judges` are names ("names", "lint", "types", "signature", "comments") or coroutine functions that take
    a `Case` and return an `Evidence` of `Check.CUSTOM`; noop, syntax, danger and definitions judge every edit. `wants`
    is the kind of result: a new text of the target ("unit") or prose ("markdown"). No edit is offered unless each of
    the `required` checks passes.
    """

    name: str
    title: str
    instruction: str
    description: str = ""
    targets: tuple[str, ...] = TARGETS
    languages: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    judges: tuple[str | Judge, ...] = ("names", "lint")
    wants: Literal["unit", "markdown"] = "unit"
    temperature: float = 0.1
    required: frozenset[Check] = frozenset()

    @property
    def spec(self) -> ActionSpec:
        """Its row in the table of actions."""
        is_prose = self.wants == "markdown"
        fields = {name for _, name, _, _ in Formatter().parse(self.instruction)}
        return ActionSpec(
            self.name,
            self.title,
            self.description,
            menu=f"{self.title} `{{unit}}`",
            menu_plain=self.title,
            kind=f"stet.{self.name}" if is_prose else f"refactor.rewrite.stet.{self.name}",
            offered=OfferedWhen.INVOKED if "document" in self.targets else OfferedWhen.UNIT,
            languages=self.languages,
            needs_instruction="instruction" in fields,
            judged_as=() if is_prose else (JudgedEdits.EVERY_EDIT,),
        )


def action_of_row(row: ActionRow) -> CustomAction:
    """The action of an `[[actions]]` table."""
    fields = {name: getattr(row, name) for name in ActionRow.model_fields}
    required = frozenset({Check.COMMENTS} if "comments" in row.judges else ())
    return CustomAction(**fields, required=required)


def checked_action(action: object) -> CustomAction:
    """An entry point's object, if it is an action. ValueError names the field that is wrong and what was expected."""
    if not isinstance(action, CustomAction):
        raise ValueError(f"expected a CustomAction, found {type(action).__name__}")
    named = tuple(judge for judge in action.judges if isinstance(judge, str))
    if not all(isinstance(judge, str) or callable(judge) for judge in action.judges):
        raise ValueError("judges: expected names or coroutine functions")
    values = {name: getattr(action, name) for name in ActionRow.model_fields}
    try:
        row = ActionRow.model_validate({**values, "judges": named}, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{first['loc'][0]}: {first['msg'].removeprefix('Value error, ')}") from None
    return replace(action, languages=row.languages)


def prepare_task(action: CustomAction, job: Job) -> TaskSpec:
    """The task for a job, narrowed to what the action works on. Parses. UsageError: wrong language or place."""
    job.request = _fitting(action, job.request)
    target = resolve_target(job.request)
    instruction = find_instruction(job.request, target)
    words = instruction.text if instruction else ""
    goal = Formatter().vformat(action.instruction, (), _values(job.request, target, words))
    return TaskSpec(goal.strip(), "prose" if action.wants == "markdown" else "unit", action.rules)


def _fitting(action: CustomAction, request: Request) -> Request:
    if action.languages and id_of(request.language) not in action.languages:
        raise UsageError(f"{action.title} works on {', '.join(action.languages)}, and this is {request.language}.")
    target = resolve_target(request)
    if target.kind in action.targets:
        return request
    whole = replace(request, selection=None)
    if resolve_target(whole).kind in action.targets:
        return whole
    wanted = {"unit": "a function or class", "statements": "selected lines", "document": "a whole file"}
    choices = " or ".join(wanted[name] for name in action.targets)
    raise UsageError(f"{action.title} works on {choices}: name or select one.")


def _values(request: Request, target: Target, instruction: str) -> Mapping[str, str]:
    row = language(request.language)
    plain = {"unit": "the code", "statements": "the selected code", "document": "the file"}
    values = {
        "name": target.name or plain.get(target.kind, "the code"),
        "language": row.title if row else request.language,
        "file": request.path.name if request.path else "the file",
    }
    # The author of the code chose these names; on one line they can hardly pass for instructions.
    return {name: " ".join(value.split())[:_LONGEST] for name, value in values.items()} | {"instruction": instruction}
