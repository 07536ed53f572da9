"""What is offered where: kinds, filters, titles, and the shapes that different clients understand."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from lsprotocol import types

from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.documents.unit_index import UnitIndex
from stet_ls.server.handlers.code_actions import CANCEL_KIND, KINDS, OFFERS, cancel_actions, code_actions
from stet_ls.server.jobs.job_registry import JobHandle, JobResult, JobStatus
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.validators.source import Source

FULL = ClientFeatures(literal_actions=True, disabled_actions=True, llm_tag=True)
LITERAL = ClientFeatures(literal_actions=True)
BARE = ClientFeatures()

TEXT = """\
import datetime


class Parser:
    def parse_date(self, text):
        return datetime.date.fromisoformat(text)


# stet: read a number from a string
"""
URI = "file:///w/a.py"
INVOKED = types.CodeActionTriggerKind.Invoked
AUTOMATIC = types.CodeActionTriggerKind.Automatic

Action = types.CodeAction | types.Command


def snapshot(text: str = TEXT, version: int = 1) -> Snapshot:
    return Snapshot(URI, version, "python", Source(text), Path("/w/a.py"))


async def index_of(document: Snapshot) -> UnitIndex:
    index = UnitIndex()
    index.refresh(document, settle=0)
    await index.settled(document.uri)
    return index


def at(line: int, end: int | None = None, column: int = 0) -> types.Range:
    return types.Range(types.Position(line, column), types.Position(line if end is None else end, column))


def params(
    where: types.Range,
    *,
    trigger: types.CodeActionTriggerKind | None = INVOKED,
    only: list[str] | None = None,
    diagnostics: tuple[types.Diagnostic, ...] = (),
) -> types.CodeActionParams:
    context = types.CodeActionContext(list(diagnostics), only, trigger)
    return types.CodeActionParams(types.TextDocumentIdentifier(URI), where, context)


def problem(line: int, message: str = "undefined name 'dat'") -> types.Diagnostic:
    return types.Diagnostic(at(line), message, types.DiagnosticSeverity.Error, "F821", source="ruff")


def offered(actions: list[Action]) -> list[str]:
    return [action.title for action in actions if not getattr(action, "disabled", None)]


async def test_a_unit_gets_all_actions_but_a_fix_with_its_name() -> None:
    document = snapshot()
    actions = code_actions(params(at(5)), document, await index_of(document), LITERAL)

    assert offered(actions) == [
        "Generate code with Stet",
        "Refactor `Parser.parse_date`",
        "Optimize `Parser.parse_date`",
        "Write tests for `Parser.parse_date`",
        "Explain `Parser.parse_date`",
        "Analyze `Parser.parse_date`",
        "Do a task with Stet",
    ]


@pytest.mark.parametrize("line", [4, 5])
async def test_a_comment_above_a_unit_belongs_to_it(line: int) -> None:
    document = snapshot(TEXT.replace("    def parse", "    # From text,\n    # by ISO 8601.\n    def parse"))
    actions = code_actions(params(at(line, column=7)), document, await index_of(document), LITERAL)

    assert "Refactor `Parser.parse_date`" in offered(actions)


async def test_a_diagnostic_adds_the_fix_for_it() -> None:
    document = snapshot()
    actions = code_actions(params(at(5), diagnostics=(problem(5),)), document, await index_of(document), LITERAL)

    fix = actions[0]
    assert isinstance(fix, types.CodeAction)
    assert (fix.title, fix.kind) == ("Fix with Stet: undefined name 'dat'", "quickfix.stet.debug")
    assert fix.diagnostics == [problem(5)]
    assert fix.command is not None
    assert fix.command.arguments is not None
    assert fix.command.arguments[0]["diagnostics"][0]["code"] == "F821"


async def test_at_column_0_the_fix_is_for_the_line() -> None:
    """Neovim's `gra` sends the cursor's column, and all diagnostics of its line."""
    document = snapshot()
    indented = types.Diagnostic(
        types.Range(types.Position(5, 8), types.Position(5, 14)), "undefined name", types.DiagnosticSeverity.Error
    )
    actions = code_actions(params(at(5), diagnostics=(indented,)), document, await index_of(document), LITERAL)
    assert offered(actions)[0] == "Fix with Stet: undefined name"
    selected = params(types.Range(types.Position(5, 0), types.Position(5, 4)), diagnostics=(indented,))
    assert not [
        title
        for title in offered(code_actions(selected, document, await index_of(document), LITERAL))
        if "Fix" in title
    ]


async def test_a_comment_puts_generate_first() -> None:
    document = snapshot()
    actions = code_actions(params(at(TEXT.count("\n") - 1)), document, await index_of(document), LITERAL)
    assert offered(actions)[0].startswith("Generate")
    assert [action.kind for action in actions[:2] if isinstance(action, types.CodeAction)] == [
        "quickfix.stet.generate", "quickfix.stet.debug",
    ], "VS Code lists quick fixes first"  # fmt: skip
    rewriting = code_actions(
        params(at(TEXT.count("\n") - 1), only=["refactor"]), document, await index_of(document), LITERAL
    )
    assert "refactor.rewrite.stet.generate" in [getattr(action, "kind", None) for action in rewriting]


def test_running_jobs_can_be_cancelled_without_a_plugin() -> None:
    running, ended = JobHandle("refactor", URI, None), JobHandle("explain", URI, None)
    ended.end(JobResult(JobStatus.DONE, "Explained."))
    jobs = [ended, running]
    [action] = cancel_actions(params(at(0)), jobs, LITERAL)
    assert isinstance(action, types.CodeAction)
    assert action.kind == CANCEL_KIND
    assert action.title.startswith("Cancel Stet job: refactor a.py, ")
    assert action.command is not None
    assert (action.command.command, action.command.arguments) == ("stet.cancel", [{"job": running.id}])
    assert isinstance(cancel_actions(params(at(0)), jobs, BARE)[0], types.Command)
    assert not cancel_actions(params(at(0)), jobs, ClientFeatures(literal_actions=True, has_plugin=True))
    assert not cancel_actions(params(at(0), trigger=AUTOMATIC), jobs, LITERAL)
    assert not cancel_actions(params(at(0), only=["refactor"]), jobs, LITERAL)


async def test_a_diagnostic_elsewhere_adds_no_fix() -> None:
    document = snapshot()
    actions = code_actions(params(at(5), diagnostics=(problem(1),)), document, await index_of(document), LITERAL)

    assert not any(title.startswith("Fix") for title in offered(actions))


@pytest.mark.parametrize("line", [8, 9])
async def test_a_comment_at_or_above_the_cursor_is_an_instruction_to_fix(line: int) -> None:
    document = snapshot()
    actions = code_actions(params(at(line)), document, await index_of(document), LITERAL)

    assert "Fix with Stet" in offered(actions)


async def test_outside_of_units_only_the_general_ones_remain() -> None:
    document = snapshot()
    actions = code_actions(params(at(1)), document, await index_of(document), LITERAL)

    assert offered(actions) == ["Generate code with Stet", "Analyze with Stet", "Do a task with Stet"]


async def test_a_selection_is_worth_refactoring_without_any_unit() -> None:
    document = snapshot()
    actions = code_actions(params(at(0, 1)), document, await index_of(document), LITERAL)

    assert "Refactor with Stet" in offered(actions)


async def test_before_the_index_is_ready_titles_are_general() -> None:
    actions = code_actions(params(at(5)), snapshot(), UnitIndex(), LITERAL)

    assert "Refactor with Stet" in offered(actions)


async def test_an_index_of_another_version_is_not_used() -> None:
    index = await index_of(snapshot(version=1))
    actions = code_actions(params(at(5)), snapshot(version=2), index, LITERAL)

    assert "Refactor with Stet" in offered(actions)


async def test_an_automatic_request_gets_only_quick_fixes() -> None:
    document = snapshot()
    index = await index_of(document)

    automatic = params(at(5), trigger=AUTOMATIC, diagnostics=(problem(5),))
    assert [action.kind for action in code_actions(automatic, document, index, FULL)] == ["quickfix.stet.debug"]  # type: ignore[union-attr]
    assert code_actions(params(at(8), trigger=AUTOMATIC), document, index, FULL) == []


async def test_without_a_trigger_the_request_counts_as_invoked() -> None:
    document = snapshot()
    actions = code_actions(params(at(5), trigger=None), document, await index_of(document), LITERAL)

    assert "Refactor `Parser.parse_date`" in offered(actions)


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (["quickfix"], {"quickfix.stet.debug"}),
        (["refactor"], {kind for kind in KINDS if kind.startswith("refactor.")}),
        (["refactor.rewrite.stet.generate"], {"refactor.rewrite.stet.generate"}),
        (["refactor.rewrite.stet.gen"], set()),
        (["refactor.extract"], set()),
        (["source"], set()),
        (["stet"], {"stet.test", "stet.explain", "stet.analyze", "stet.task"}),
        ([""], set(KINDS)),
        ([], set()),
        (["quickfix", "stet.test"], {"quickfix.stet.debug", "stet.test"}),
        (["stet.task"], {"stet.task"}),
    ],
)
async def test_only_filters_by_the_hierarchy_of_kinds(only: list[str], expected: set[str]) -> None:
    document = snapshot()
    request = params(at(5), only=only, diagnostics=(problem(5),))
    actions = code_actions(request, document, await index_of(document), LITERAL)

    assert {action.kind for action in actions if isinstance(action, types.CodeAction)} == expected


async def test_no_action_is_preferred_and_each_has_a_command_and_no_edit() -> None:
    document = snapshot()
    request = params(at(5), diagnostics=(problem(5),))
    actions = code_actions(request, document, await index_of(document), FULL)

    for action, offer in zip(actions, OFFERS, strict=True):
        assert isinstance(action, types.CodeAction)
        assert (action.is_preferred, action.edit) == (None, None)
        assert action.command is not None
        assert action.command.command == f"stet.{offer.name}"
        assert action.command.arguments == [{"uri": URI, "range": _plain(at(5)), **_problems(offer.name)}]
        assert (action.kind or "").endswith(f"stet.{offer.name}")


async def test_the_tag_is_on_all_but_analyze_where_the_client_knows_it() -> None:
    document = snapshot()
    index = await index_of(document)
    request = params(at(5), diagnostics=(problem(5),))

    tagged = [
        a.kind for a in code_actions(request, document, index, FULL) if isinstance(a, types.CodeAction) and a.tags
    ]
    assert tagged == [kind for kind in KINDS if kind != "stet.analyze"]
    assert not any(a.tags for a in code_actions(request, document, index, LITERAL) if isinstance(a, types.CodeAction))


async def test_unavailable_actions_are_disabled_with_a_reason_if_the_client_supports_it() -> None:
    document = snapshot()
    index = await index_of(document)

    disabled = [
        a for a in code_actions(params(at(1)), document, index, FULL) if isinstance(a, types.CodeAction) and a.disabled
    ]
    assert [action.title for action in disabled] == [
        "Fix with Stet",
        "Refactor with Stet",
        "Optimize with Stet",
        "Write tests with Stet",
        "Explain with Stet",
    ]
    assert all(action.command is None for action in disabled)
    assert not any(
        a.disabled for a in code_actions(params(at(1)), document, index, LITERAL) if isinstance(a, types.CodeAction)
    )


async def test_a_client_without_literals_gets_commands() -> None:
    document = snapshot()
    actions = code_actions(params(at(5)), document, await index_of(document), BARE)

    assert all(isinstance(action, types.Command) for action in actions)
    assert "Refactor `Parser.parse_date`" in offered(actions)


async def test_a_range_outside_the_document_does_not_fail() -> None:
    document = snapshot()
    actions = code_actions(params(at(100_000, 200_000)), document, await index_of(document), LITERAL)

    assert "Analyze with Stet" in offered(actions)


async def test_ten_thousand_lines_take_milliseconds() -> None:
    """The request never parses and never waits. This thread's own time counts: the machine may be busy."""
    text = "".join(f"def function_{n}(value):\n    total = value + {n}\n    return total\n\n\n" for n in range(2_000))
    document = snapshot(text)
    document.source.starts  # noqa: B018 - the protocol has cut the lines of every document that it holds
    index = await index_of(document)

    seconds = []
    for line in range(0, 10_000, 20):
        started = time.thread_time()
        actions = code_actions(params(at(line), diagnostics=(problem(line),)), document, index, FULL)
        seconds.append(time.thread_time() - started)
        assert actions
        await asyncio.sleep(0)
    assert sorted(seconds)[int(len(seconds) * 0.99)] < 0.010


def _plain(range_: types.Range) -> object:
    start, end = ({"line": at.line, "character": at.character} for at in (range_.start, range_.end))
    return {"start": start, "end": end}


def _problems(action: str) -> dict[str, object]:
    if action != "debug":
        return {}
    found = {"range": _plain(at(5)), "message": "undefined name 'dat'", "severity": 1, "source": "ruff", "code": "F821"}
    return {"diagnostics": [found]}
