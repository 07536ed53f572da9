"""`Bench`: the real engine in front of a scripted model, for tests that read like the manual."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from support.markers import split_markers
from support.servers.scripted import Body, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import Event
from stet_ls.engine.api.evidence import Check, Evidence
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source

_DEADLINE = 600.0
"""Seconds for a job whose time is not what is tested: on a busy machine its judges take many times what they need."""


def request_for(action: str, marked: str, *, language: str = "python", **fields: Any) -> Request:
    """A request for a text with `$0` at the cursor, or around the selection."""
    text, span = split_markers(marked)
    selection = None if span is None else Selection(span)
    return Request(action, language, Source(text), selection, **fields)


class Bench:
    """Runs actions and keeps the events that were seen."""

    def __init__(self, model: ScriptedModel, settings: Settings | None = None, **provided: Any) -> None:
        """`provided` are further fields of the endpoint, such as its prices."""
        provider = Provider(
            name="scripted", base_url=model.base_url, model=model.models[0], api_key=SecretStr("k"), **provided
        )
        settings = settings or Settings()
        deadline = settings.deadline if "deadline" in settings.model_fields_set else _DEADLINE
        checks = settings.checks
        if "review" not in checks.model_fields_set:  # a reviewer would take the next reply of a test's script
            checks = checks.model_copy(update={"review": "off"})
        if "example_calls" not in checks.model_fields_set:  # and so would a question for example calls
            checks = checks.model_copy(update={"example_calls": False})
        model = settings.model
        if "cache" not in model.model_fields_set:  # a test that asks twice counts on two replies
            model = model.model_copy(update={"cache": False})
        own = {"providers": (provider,), "deadline": deadline, "checks": checks, "model": model}
        self.settings = settings.model_copy(update=own)
        self.engine = Engine(self.settings, user_paths())
        self.events: list[Event] = []

    async def __aenter__(self) -> Bench:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.engine.close()

    async def run(self, action: str, marked: str, **fields: Any) -> Answer:
        """The answer to a request made of a marked text."""
        return await self.engine.run(request_for(action, marked, **fields), on_event=self.events.append)

    async def text_after(self, action: str, marked: str, **fields: Any) -> str:
        """The document after the answer's edits; fails if nothing was offered."""
        answer = await self.run(action, marked, **fields)
        assert answer.success, answer.message
        return applied(answer)


def said(answer: Answer, check: Check) -> Evidence:
    """The answer's first evidence of a check."""
    return next(item for item in answer.evidence if item.check is check)


def applied(answer: Answer) -> str:
    """The text that the answer's edits make of the document."""
    from stet_ls.validators.source import Splice

    base = answer.edits[0].base
    return base.splice(Splice(edit.span, edit.new_text) for edit in answer.edits if edit.base == base).text


def code_reply(code: str, language: str = "python", plan: str = "Do it.") -> str:
    """A reply in the form that is asked for."""
    return f"PLAN: {plan}\nCODE:\n```{language}\n{code.rstrip()}\n```\n"


def asks_for_tests(body: Body) -> bool:
    """True for a request for tests by someone who may not see the code: the budgets thorough and task make them."""
    return "Its body is hidden from you" in str(body["messages"])


def reply_of_tests(code: str, language: str = "python") -> str:
    """Tests in the form that is asked for."""
    return f"PLAN: as specified\nTESTS:\n```{language}\n{code.rstrip()}\n```\n"


def in_file(request: Request, path: Path) -> Request:
    """The same request about a file that exists."""
    return replace(request, path=path)
