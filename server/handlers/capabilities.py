"""The server's capabilities for plugins and programs: actions with the schemas of their input and output."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.budget import CALLS
from stet_ls.engine.api.json_schema import Schema
from stet_ls.server.handlers.code_actions import command_of
from stet_ls.server.lsp.command_params import ActionParams, CustomParams, TaskParams
from stet_ls.validators.languages import LANGUAGES

if TYPE_CHECKING:
    from stet_ls.engine.actions.registry import Actions
    from stet_ls.engine.run import Engine
    from stet_ls.engine.settings.schema import Settings


def actions_of(actions: Actions) -> list[Schema]:
    """A row for each action: built-in ones first, then those of packages, the user and the project."""
    from stet_ls.engine.api.answer import ANSWER_SCHEMA  # imports the engine, so after the handshake

    rows = []
    for spec in (action.spec for action in actions):
        listed = actions.custom.get(spec.name)
        rows.append(
            {
                "name": spec.name,
                "title": spec.title,
                "description": spec.description,
                "kind": spec.kind,
                "needs_instruction": spec.needs_instruction,
                "lists_findings": spec.lists_findings,
                "opens_result": spec.writes_tests,
                "command": command_of(spec),
                "source": "built in" if listed is None else listed.source,
                "trusted": listed is None or listed.trusted,
                "languages": list(spec.languages),
                "input": input_schema(spec.name),
                "output": ANSWER_SCHEMA,
            }
        )
    return rows


def input_schema(action: str) -> Schema:
    """The JSON schema of the command that runs an action."""
    if action in ACTIONS:
        return (TaskParams if ACTIONS[action].takes_project else ActionParams).model_json_schema()
    schema = CustomParams.model_json_schema()
    schema["properties"]["action"] = {"const": action}
    return schema


async def arms(engine: Engine) -> list[Schema]:
    """The arms of tasks, built-in ones first, with their capabilities, schemas, health and record."""
    from stet_ls.engine.actions.arms.measured import ArmRecord
    from stet_ls.engine.actions.arms.router import looked_up
    from stet_ls.engine.actions.arms.table import all_arms

    known = (await asyncio.to_thread(all_arms)).by_name
    health, records = await looked_up(engine, engine.ledger, known)
    return [
        {
            **arm.spec.to_json(),
            "source": arm.source,
            "health": health[name].to_json(),
            "measured": records.get(name, ArmRecord()).to_json(),
        }
        for name, arm in known.items()
    ]


def steps() -> list[Schema]:
    """What a step of a plan can be, and what it needs of an arm."""
    from stet_ls.engine.api.plan import STEP_KINDS

    return [
        {"name": kind.name, "capability": kind.capability.value, "description": kind.about, "edits": kind.edits}
        for kind in STEP_KINDS.values()
    ]


async def model(engine: Engine) -> Schema:
    """The profile of the model that would serve, without a request to its endpoint."""
    profile = await engine.models.profile()
    return {"name": profile.model, "tier": profile.tier, "context": profile.context}


def languages() -> list[Schema]:
    """The languages that Stet knows by name; `syntax` is how they are parsed."""
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
    """The limits of a job with these settings: seconds, tokens, and the currency of the providers' prices."""
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
