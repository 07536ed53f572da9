"""What this server can do, as plugins and programs read it: actions with the schema of what goes in and comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.job.budget import CALLS
from stet_ls.server.handlers.code_actions import OFFERS
from stet_ls.server.lsp.command_params import ActionParams, CustomParams
from stet_ls.validators.languages import LANGUAGES

if TYPE_CHECKING:
    from stet_ls.engine.actions.registry import Actions
    from stet_ls.engine.settings.schema import Settings

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_POSITION: Schema = {
    "type": "object",
    "properties": {"line": _COUNT, "character": _COUNT},
    "required": ["line", "character"],
}
_RANGE: Schema = {"type": "object", "properties": {"start": _POSITION, "end": _POSITION}, "required": ["start", "end"]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _rows(**fields: Schema) -> Schema:
    return _list({"type": "object", "properties": fields, "required": list(fields)})


_ANSWER: Mapping[str, Schema] = {
    "success": {"type": "boolean"},
    "action": _TEXT,
    "language": _TEXT,
    "message": _TEXT,
    "edits": _rows(path={"type": ["string", "null"]}, range=_RANGE, new_text=_TEXT),
    "new_files": _rows(path=_TEXT, text=_TEXT),
    "markdown": _TEXT,
    "code": _TEXT,
    "tests": {"type": ["string", "null"]},
    "explanation": _TEXT,
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    "warnings": _list(_TEXT),
    "evidence": _rows(
        check=_TEXT,
        verdict={"enum": ["pass", "fail", "skipped", "unknown"]},
        detail=_TEXT,
        trusted={"type": "boolean"},
        seconds=_NUMBER,
        count=_COUNT,
        attachments=_rows(name=_TEXT, language=_TEXT, text=_TEXT),
    ),
    "findings": _rows(
        range=_RANGE, severity=_TEXT, kind=_TEXT, code=_TEXT, message=_TEXT, source=_TEXT, suggestions=_list(_TEXT)
    ),
    "isolation": {"type": ["object", "null"]},
    "metadata": {"type": "object"},
}


def answer_schema() -> Schema:
    """The JSON schema of an answer: positions from 0, columns in UTF-16 units."""
    return {"type": "object", "properties": dict(_ANSWER), "required": list(_ANSWER)}


def actions_of(actions: Actions) -> list[Schema]:
    """A row for each action, the built-in ones first, then those of packages, the user and the project."""
    kinds = {offer.action: offer.kind for offer in OFFERS}
    rows = []
    for recipe in actions:
        listed = actions.custom.get(recipe.name)
        rows.append(
            {
                "name": recipe.name,
                "title": recipe.title,
                "description": recipe.description,
                "kind": kinds.get(recipe.name),
                "needs_instruction": recipe.needs_instruction,
                "command": f"stet.{recipe.name}" if recipe.name in ACTIONS else "stet.custom",
                "source": "built in" if listed is None else listed.source,
                "trusted": listed is None or listed.trusted,
                "languages": [] if listed is None else list(listed.action.languages),
                "input": input_schema(recipe.name),
                "output": answer_schema(),
            }
        )
    return rows


def input_schema(action: str) -> Schema:
    """What the command that runs an action takes."""
    if action in ACTIONS:
        return ActionParams.model_json_schema()
    schema = CustomParams.model_json_schema()
    schema["properties"]["action"] = {"const": action}
    return schema


def languages() -> list[Schema]:
    """The languages that are known by name; `syntax` is how they are parsed."""
    return [
        {
            "id": row.id,
            "title": row.title,
            "extensions": list(row.extensions),
            "syntax": "grammar" if row.grammar else "pack" if row.packed else None,
        }
        for row in LANGUAGES
    ]


def limits(settings: Settings) -> Schema:
    """What bounds a job with these settings. Seconds, tokens, and the currency of the providers' prices."""
    return {
        "calls": {budget.value: calls for budget, calls in CALLS.items()},
        "deadline": settings.deadline,
        "jobs_at_once": settings.jobs_at_once,
        "max_tokens": settings.model.max_tokens,
        "daily_tokens": settings.spending.daily_tokens,
        "daily_cost": settings.spending.daily_cost,
        "job_cost": settings.spending.job_cost,
        "sandbox_minimum": settings.sandbox.minimum_level,
        "traces": settings.trace.keep if settings.trace.enabled else 0,
    }
