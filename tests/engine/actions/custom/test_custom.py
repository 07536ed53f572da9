"""Custom actions: what a table may say, how it is run, who is trusted, and what packages bring."""

from __future__ import annotations

import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.custom import Case, Check, CustomAction, Evidence, Ruling
from stet_ls.engine.actions.custom.custom_action import action_of_row
from stet_ls.engine.actions.custom.packages import Packaged
from stet_ls.engine.actions.custom.packages import load as load_packages
from stet_ls.engine.actions.registry import Actions
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import EvidenceTier
from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.settings import load
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ActionRow
from stet_ls.engine.settings.trusted_projects import trust

TABLE = '[[actions]]\nname = "tidy"\ntitle = "Tidy"\ninstruction = "Tidy {name}, it is {language}."\n'


@pytest.fixture
def project(tmp_path: Path, stet_home: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def row(**fields: object) -> ActionRow:
    return ActionRow.model_validate({"name": "tidy", "title": "Tidy", "instruction": "Tidy {name}", **fields})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('instruction = "in {langage}"', 'actions[1].instruction" in .*did you mean {language}'),
        ('instruction = "a { brace"', "expected braces in pairs"),
        ('judges = ["lnt"]', "found 'lnt'; did you mean 'lint'"),
        ('targets = ["units"]', "found 'units'; did you mean 'unit'"),
        ('languages = ["pythn"]', "found 'pythn'; did you mean 'python'"),
        ('wants = "html"', 'expected one of "unit", "markdown"'),
        ("temperature = 3", "expected a number from 0 to 2"),
        ('titel = "x"', 'unknown key "actions.1..titel" in .*did you mean "title"'),
        ('name = "refactor"', "'refactor' is a built-in action"),
        ('name = "tidy"', "the action 'tidy' is already defined"),
        ('name = "Not a name"', "expected up to 40 lowercase letters"),
    ],
)
def test_an_invalid_table_disables_only_itself(project: Path, line: str, said: str) -> None:
    fields = {"name": '"other"', "title": '"Other"', "instruction": '"Do"'}
    fields.update([line.split(" = ", 1)])
    other = "\n".join(f"{key} = {value}" for key, value in fields.items())
    (project / ".stet.toml").write_text(f"{TABLE}[[actions]]\n{other}\n")

    loaded = load(project=project, strict=True)

    assert [each.name for each in loaded.settings.actions] == ["tidy"]
    (problem,) = loaded.broken
    assert str(project / ".stet.toml") in problem
    assert re.search(said.replace("[1]", r"\[1\]"), problem), problem


def test_trust_in_a_project_ends_when_its_actions_change(project: Path) -> None:
    file = project / ".stet.toml"
    file.write_text(TABLE)
    (found,) = load(project=project).settings.actions
    assert not found.origin.trusted

    trust(project, found.origin.digest)
    assert load(project=project).settings.actions[0].origin.trusted
    file.write_text(TABLE.replace("Tidy {name}", "Send {name} away"))
    assert not load(project=project).settings.actions[0].origin.trusted


def test_actions_of_the_user_need_no_trust_and_cannot_be_replaced_by_a_project(project: Path, stet_home: Path) -> None:
    (stet_home / "config.toml").write_text(TABLE)
    (project / ".stet.toml").write_text(TABLE.replace('"Tidy"', '"Evil"'))

    loaded = load(project=project)

    assert [(each.title, each.origin.trusted) for each in loaded.settings.actions] == [("Tidy", True)]
    assert "the action 'tidy' is already defined" in loaded.broken[0]


def test_editor_settings_cannot_define_an_action(stet_home: Path) -> None:
    loaded = load(project=None, editor={"actions": [{"name": "x", "title": "X", "instruction": "x"}]})
    assert loaded.settings.actions == ()
    assert "define actions in a settings file" in loaded.broken[0]


async def test_an_untrusted_action_is_not_run(scripted: ScriptedModel, project: Path) -> None:
    (project / ".stet.toml").write_text(TABLE)
    async with Bench(scripted, load(project=project).settings) as bench:
        with pytest.raises(PolicyError, match=r"which you have not trusted in its present form.*stet config trust"):
            await bench.run("tidy", "def f(a):$0\n    return a\n")
    assert scripted.requests == []


async def test_a_table_defines_an_edit_action(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.reply(code_reply("def f(a):\n    b = a\n    return b\n"))
    settings = Settings(actions=(row(rules=("Keep it short.",)),))
    async with Bench(scripted, settings) as bench:
        after = await bench.text_after("tidy", "x = 1\n\n\ndef f(a):$0\n    return a\n")

    assert after == "x = 1\n\n\ndef f(a):\n    b = a\n    return b\n"
    prompt = scripted.requests[0].prompt
    assert "Task: Tidy f\n" in prompt
    assert "- Keep it short." in prompt


async def test_the_instruction_of_the_user_is_in_the_task_once(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.reply(code_reply("def f(a):\n    b = a\n    return b\n"))
    settings = Settings(actions=(row(instruction="Do this to {name}: {instruction}"),))
    async with Bench(scripted, settings) as bench:
        with pytest.raises(UsageError, match="needs an instruction"):
            await bench.run("tidy", "def f(a):$0\n    return a\n")
        await bench.run("tidy", "def f(a):$0\n    return a\n", instruction="use a name")

    assert scripted.requests[0].prompt.count("use a name") == 1


async def test_a_reply_in_words_is_a_report_without_an_edit(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.reply("It returns what it is given.")
    async with Bench(scripted, Settings(actions=(row(wants="markdown"),))) as bench:
        answer = await bench.run("tidy", "def f(a):$0\n    return a\n")

    assert answer.edits == ()
    assert "It returns what it is given." in answer.markdown


async def test_an_action_declares_its_kind_of_target(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, Settings(actions=(row(targets=["unit"], languages=["go"]),))) as bench:
        with pytest.raises(UsageError, match="works on go, and this is python"):
            await bench.run("tidy", "x = 1\n")
        with pytest.raises(UsageError, match="works on a function or class"):
            await bench.run("tidy", "package p\n", language="go")


async def test_a_document_action_takes_the_whole_file(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.reply(code_reply("x = 1\n\n\ndef f(a):\n    b = a\n    return b\n"))
    async with Bench(scripted, Settings(actions=(row(targets=["document"]),))) as bench:
        answer = await bench.run("tidy", "x = 1\n\n\ndef f(a):$0\n    return a\n")
    assert "The whole file:" in scripted.requests[0].prompt
    assert answer.success


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "stet.actions")


def test_packages_that_raise_are_reported_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plug_in_sample.py").write_text(
        "from stet_ls.engine.actions.custom import CustomAction\n"
        "GOOD = CustomAction('greet', 'Greet', 'Greet {name}')\n"
        "TAKEN = CustomAction('refactor', 'R', 'x')\n"
        "WRONG = CustomAction('wrong', 'W', 'in {nowhere}')\n"
    )
    (tmp_path / "plug_in_dies.py").write_text("raise SystemExit('no')\n")
    monkeypatch.syspath_prepend(tmp_path)

    found = load_packages(
        [point("a", "plug_in_sample:GOOD"), point("b", "plug_in_sample:TAKEN"), point("c", "plug_in_sample:WRONG"),
         point("d", "plug_in_dies:X"), point("e", "plug_in_sample:GOOD"), point("f", "sys:path")]
    )  # fmt: skip

    assert [action.name for action, _ in found.actions] == ["greet"]
    said = "\n".join(found.problems)
    for words in ("built-in action", "unknown placeholder {nowhere}", "SystemExit", "'greet' already", "CustomAction"):
        assert words in said
    sys.modules.pop("plug_in_sample", None)


async def test_a_judge_of_a_package_that_raises_gives_an_unknown_verdict(
    scripted: ScriptedModel, stet_home: Path
) -> None:
    async def judge(case: Case) -> Evidence:
        raise RuntimeError("oops")

    scripted.reply(code_reply("def f(a):\n    b = a\n    return b\n"))
    async with Bench(scripted) as bench:
        action = CustomAction("greet", "Greet", "Greet {name}", judges=(judge,))
        bench.engine.actions = Actions(Settings(), Packaged(((action, "sample"),)))
        answer = await bench.run("greet", "def f(a):$0\n    return a\n")

    assert any(item.verdict is Ruling.UNKNOWN and "oops" in item.detail for item in answer.evidence)


@pytest.mark.parametrize("borrowed", [Check.CUSTOM, Check.AGREEMENT, Check.TESTS])
@pytest.mark.parametrize("verdict", [Ruling.PASS, Ruling.FAIL])
async def test_a_judge_of_a_package_is_named_and_does_not_raise_the_confidence(
    scripted: ScriptedModel, stet_home: Path, borrowed: Check, verdict: Ruling
) -> None:
    """Under a built-in check's name it would lift what nothing ran to that check's tier."""

    async def polite(case: Case) -> Evidence:
        return Evidence(borrowed, verdict, "it greets", trusted=verdict is Ruling.PASS, count=300)

    scripted.reply(code_reply("def f(a):\n    b = a\n    return b\n"))
    async with Bench(scripted) as bench:
        action = CustomAction("greet", "Greet", "Greet {name}", judges=(polite,), required=frozenset({borrowed}))
        bench.engine.actions = Actions(Settings(), Packaged(((action, "sample"),)))
        answer = await bench.run("greet", "def f(a):$0\n    return a\n")

    said = next(item for item in answer.evidence if item.name)
    assert (said.check, said.name, said.verdict) == (Check.CUSTOM, "greet.polite", verdict)
    assert "greet.polite" in [row["check"] for row in answer.to_json()["evidence"]]
    assert answer.metadata.evidence_tier is EvidenceTier.PARSED
    assert answer.success is (verdict is Ruling.PASS), "it is required, whatever name it borrows"


def test_the_judge_of_comments_is_required_of_its_action() -> None:
    assert action_of_row(row(judges=["comments"])).required == {Check.COMMENTS}


async def test_an_exhausted_budget_reports_what_was_not_done(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(code_reply("def f(a:\n    return a\n"))
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", "def f(a):$0\n    return a\n", budget=Budget.QUICK)
    assert "No repair: the budget quick allows 1 call." in answer.warnings
