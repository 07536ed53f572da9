"""`stet.review`: the review of the command line, as a report in the editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.findings import editing
from support.repository import Repository
from support.servers.scripted import ScriptedModel
from support.servers.session import VSCODE, boxes, command
from support.servers.wire import ErrorAnswer

pytestmark = pytest.mark.usefixtures("served_here")


async def test_an_unsaved_change_is_reviewed(tmp_path: Path, scripted: ScriptedModel) -> None:
    scripted.default = "- `return sum(prices) / len(prices)` | risk | slow for many prices\n"
    repository = Repository.new(tmp_path / "project")
    repository.commit({"shop.py": "def mean(prices):\n    return 0\n"})
    path = repository.folder / "shop.py"
    async with editing(VSCODE) as client:
        client.open(path.as_uri(), "python", path.read_text())
        client.change(path.as_uri(), "def mean(prices):\n    return sum(prices) / len(prices)\n")
        review = await command(client, "stet.review", uri=path.as_uri())
        assert review["schema"] == "stet.review/1"
        (file,) = review["files"]
        assert [each["line"] for each in file["findings"]] == [2]
        assert "| judges |" in review["markdown"]
        assert boxes(client)[-1] == f"shop.py: {review['summary']}"
        with pytest.raises(ErrorAnswer, match="scope"):
            await command(client, "stet.review", uri=path.as_uri(), scope="everything")
