"""Edits of several files in an editor: one edit with an annotation for each file, files that move, and chosen parts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
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
