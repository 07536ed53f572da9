"""Edits that a plugin shows in a diff editor: what it is sent, and the part of them that its user keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.servers.scripted import ScriptedModel
from support.servers.session import VSCODE, boxes, command, editor, fenced, finish, lines, start
from support.servers.wire import ErrorAnswer, Json, RawClient

URI = "file:///w/a.py"
OLD = """\
def total(items):
    s = 0
    for item in items:
        s = s + item
    return s
"""
NEW = OLD.replace("s = 0", "n = 0").replace("s = s +", "n = n +").replace("return s", "return n")
PART = NEW.replace("n = 0", "s = 0")
PLUGIN = {"plugin": {"name": "any", "offers": True, "diffs": True}}

Environment = Mapping[str, str]


@pytest.fixture(autouse=True)
def model(scripted: ScriptedModel) -> ScriptedModel:
    """A model that renames a variable."""
    scripted.default = fenced(NEW)
    return scripted


def kept(text: str) -> Json:
    return {"choice": "Apply", "texts": [{"uri": URI, "text": text}]}


async def answered(client: RawClient, *answers: Any) -> tuple[Json, list[Json]]:
    """The result of a job whose offers are answered in turn, and the offers."""
    given: Iterator[Any] = iter(answers)
    reply: Callable[[Json], Any] = lambda params: next(given)  # noqa: E731
    client.answers["stet/offer"] = reply
    client.open(URI, "python", OLD)
    result = await finish(client, await start(client, "refactor", uri=URI, range=lines(1), preview="always"))
    return result, client.received("stet/offer")


async def test_an_offer_holds_the_texts_and_one_line_about_them(environment: Environment) -> None:
    async with editor(environment, VSCODE, initializationOptions=PLUGIN) as client:
        result, [asked] = await answered(client, "Apply")
        assert result["applied"] is True
        assert client.text(URI) == NEW
        assert asked["title"] == "Refactor `total`"
        assert asked["headline"].startswith("✓ same behavior on ")
        assert asked["files"] == [{"uri": URI, "name": "a.py", "before": OLD, "after": NEW}]
        assert (asked["refuted"], asked["failure"], asked["counterExample"]) == (False, "", None)


async def test_a_refuted_edit_names_its_counter_example(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = fenced(NEW.replace("n = 0", "n = 1"))
    async with editor(environment, VSCODE, initializationOptions=PLUGIN) as client:
        result, [asked] = await answered(client, "Discard")
        assert result["status"] == "refused"
        assert client.text(URI) == OLD
        assert asked["headline"].startswith("✗ changes behavior: `total([])` was: 0, now: 1")
        assert (asked["refuted"], asked["failure"]) == (True, "changes behavior")
        assert Path(asked["counterExample"].removeprefix("file://")).name == "counter_example_total.py"
        assert boxes(client) == [], "who pressed Discard needs no message"


@pytest.mark.parametrize("again", [kept(PART), "Apply"])
async def test_a_part_with_a_fault_is_offered_again_and_applied_if_wanted(again: Any, environment: Environment) -> None:
    async with editor(environment, VSCODE, initializationOptions=PLUGIN) as client:
        result, asked = await answered(client, kept(PART), again)
        assert [each["headline"].partition(":")[0] for each in asked] != [asked[0]["headline"]] * 2
        assert asked[1]["headline"].startswith("✗ in the part you kept, a name does not resolve: Undefined name `")
        assert asked[1]["failure"] == "a name does not resolve"
        assert asked[1]["files"][0]["after"] == PART
        assert result["applied"] is True
        assert client.text(URI) == PART
        assert "behavior and tests not checked" in result["message"]
        assert "same behavior" not in result["message"]


async def test_a_sound_part_is_applied_where_its_text_has_moved(environment: Environment) -> None:
    part = OLD.replace("s = s + item", "s += item")
    async with editor(environment, VSCODE, initializationOptions=PLUGIN) as client:

        def type_and_keep(params: Json) -> Json:
            client.replace(URI, "def total", "import os\n\n\ndef total")
            return kept(part)

        client.answers["stet/offer"] = type_and_keep
        client.open(URI, "python", OLD)
        result = await finish(client, await start(client, "refactor", uri=URI, range=lines(1), preview="always"))
        assert result["applied"] is True, result["message"]
        assert client.text(URI) == "import os\n\n\n" + part
        assert [item["check"] for item in result["answer"]["evidence"]] == ["syntax", "names", "signature"]


@pytest.mark.parametrize("answer", [kept(OLD), {"choice": "Discard"}, None, {"texts": []}])
async def test_an_offer_without_a_yes_or_with_nothing_kept_changes_nothing(
    answer: Any, environment: Environment
) -> None:
    async with editor(environment, VSCODE, initializationOptions=PLUGIN) as client:
        result, _ = await answered(client, answer)
        assert (result["status"], client.text(URI)) == ("refused", OLD)


async def test_a_plugin_learns_the_target_and_its_comment(environment: Environment) -> None:
    async with editor(environment, VSCODE) as client:
        client.open(URI, "python", "import os\n\n\n# stet: sum them up\n" + OLD)
        found = await command(client, "stet.target", uri=URI, position={"line": 5, "character": 0})
        assert found == {"unit": "total", "first": 3, "last": 8, "instruction": ""}
        found = await command(client, "stet.target", uri=URI, position={"line": 4, "character": 0})
        assert found["instruction"] == "sum them up"
        found = await command(client, "stet.target", uri=URI, position={"line": 0, "character": 0})
        assert found == {"unit": None, "first": 0, "last": 0, "instruction": ""}


@pytest.mark.parametrize(("instruction", "stays"), [("sum them up", False), ("sum them up, fast", True)])
async def test_a_comment_that_the_input_box_repeats_is_replaced(
    environment: Environment, scripted: ScriptedModel, instruction: str, stays: bool
) -> None:
    scripted.default = fenced("def total(items):\n    return sum(items)\n")
    async with editor(environment, VSCODE) as client:
        client.open(URI, "python", "import os\n\n\n# stet: sum them up\n")
        where = {"line": 3, "character": 0}
        job = await start(client, "generate", uri=URI, position=where, instruction=instruction, preview="never")
        await finish(client, job)
        assert "def total(items):" in client.text(URI)
        assert ("# stet: sum them up" in client.text(URI)) is stays


async def test_models_to_choose_from_are_listed_and_only_those_are_downloaded(environment: Environment) -> None:
    async with editor(environment, VSCODE) as client:
        listed = await command(client, "stet.models")
        assert [row["name"] for row in listed["embedded"]] == ["small", "tiny", "medium"], "the default first"
        assert not any(row["installed"] for row in listed["embedded"])
        assert all(row["megabytes"] > 100 for row in listed["embedded"])
        with pytest.raises(ErrorAnswer, match="unknown model 'huge'; it is one of tiny, small"):
            await command(client, "stet.download", name="huge")
