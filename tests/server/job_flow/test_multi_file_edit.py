"""Edits of several files in an editor: one edit with an annotation for each file, files that move, and chosen parts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.engine import asks_for_tests
from support.servers.scripted import ScriptedModel
from support.servers.session import NEOVIM, VSCODE, command, editor, finish, start
from support.servers.wire import ErrorAnswer, RawClient

PRICES = "def total(prices):\n    return sum(prices)\n"
CART = "from prices import total\n\n\ndef pay(cart):\n    return total(cart)\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "prices.py").write_text(PRICES)
    (tmp_path / "cart.py").write_text(CART)
    return tmp_path


def opened(client: RawClient, shop: Path) -> str:
    for name, text in {"cart.py": CART, "prices.py": PRICES}.items():
        client.open((shop / name).as_uri(), "python", text)
    return (shop / "prices.py").as_uri()


async def test_a_rename_is_one_versioned_edit_with_an_annotation_for_each_file(
    environment: Mapping[str, str], shop: Path
) -> None:
    async with editor(environment, VSCODE, rootUri=shop.as_uri()) as client:
        uri = opened(client, shop)
        result = await finish(client, await start(client, "task", uri=uri, instruction="rename total to sum_of"))
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        assert client.text((shop / "cart.py").as_uri()) == CART.replace("total", "sum_of")

        [sent] = client.received("workspace/applyEdit")
        labels = [each["label"] for each in sent["edit"]["changeAnnotations"].values()]
        assert sorted(labels) == ["Stet: cart.py · select to apply", "Stet: prices.py · select to apply"]
        changes = sent["edit"]["documentChanges"]
        assert all(change["textDocument"]["version"] == 1 for change in changes)
        marks = {edit["annotationId"] for change in changes for edit in change["edits"]}
        assert marks == set(sent["edit"]["changeAnnotations"])

        moved = await finish(client, await start(client, "task", uri=uri, instruction="move prices.py to money.py"))
        assert moved["status"] == "done", moved["message"]
        assert moved["message"].startswith("Moved prices.py to money.py"), "a document that moves is no cancelled job"
        assert client.renamed == [(shop / "prices.py", shop / "money.py")]
        assert client.text((shop / "cart.py").as_uri()).startswith("from money import sum_of\n")


async def test_a_chosen_file_is_judged_again_and_applied_alone(environment: Mapping[str, str], shop: Path) -> None:
    async with editor(environment, NEOVIM, rootUri=shop.as_uri()) as client:
        silence: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        client.answers["window/showMessageRequest"] = lambda params: silence
        uri = opened(client, shop)
        job = await start(client, "task", uri=uri, instruction="rename total to sum_of")
        question = await client.wait_notification("window/showMessageRequest")
        assert "It changes 2 files" in question["message"]
        with pytest.raises(ErrorAnswer, match=r"the edit does not change tax\.py; it changes"):
            await command(client, "stet.apply", job=job, files=["tax.py"])

        result = await command(client, "stet.apply", job=job, files=["cart.py"])
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        assert "a part: 1 change left out" in result["message"]
        assert client.text((shop / "cart.py").as_uri()) == CART.replace("total", "sum_of")
        assert client.text(uri) == PRICES
        silence.set_result(None)


PLAN = "1. refactor | prices.py | total | one line\n2. generate | prices.py | free | nothing is paid\n"
ONE = "def total(prices):\n    result = sum(prices)\n    return result\n\n\ndef other():\n    return 0\n"


def fenced_reply(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"


@pytest.fixture
def planned(scripted: ScriptedModel, tmp_path: Path) -> Path:
    scripted.on(asks_for_tests, "none")
    scripted.on(lambda body: "Now do step 1 alone" in str(body["messages"]), fenced_reply(PRICES))
    scripted.on(
        lambda body: "Now do step 2 alone" in str(body["messages"]), fenced_reply("def free():\n    return []\n")
    )
    path = tmp_path / "prices.py"
    path.write_text(ONE)
    return path


async def test_each_step_has_an_annotation_and_can_be_applied_alone(
    environment: Mapping[str, str], planned: Path
) -> None:
    argument = {"uri": planned.as_uri(), "instruction": "tidy up, with a free sale", "plan": PLAN}
    async with editor(environment, VSCODE, rootUri=planned.parent.as_uri()) as client:
        client.open(planned.as_uri(), "python", ONE)
        result = await finish(client, await start(client, "task", **argument))
        [sent] = client.received("workspace/applyEdit")
        labels = [each["label"] for each in sent["edit"]["changeAnnotations"].values()]
        assert sorted(label.partition(" · ")[0] for label in labels) == [
            "Stet: step 1: prices.py", "Stet: step 2: prices.py",
        ], result["message"]  # fmt: skip

    async with editor(environment, NEOVIM, rootUri=planned.parent.as_uri()) as client:
        silence: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        client.answers["window/showMessageRequest"] = lambda params: silence
        client.open(planned.as_uri(), "python", ONE)
        job = await start(client, "task", preview="always", **argument)
        await client.wait_notification("window/showMessageRequest")
        result = await command(client, "stet.apply", job=job, steps=[2])
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        text = client.text(planned.as_uri())
        assert "def free" in text
        assert "result = sum(prices)" in text, "the first step is left out"
        silence.set_result(None)
