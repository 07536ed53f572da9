"""What a task made, in an editor: a document with its pictures, and new files to take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.servers.scripted import ScriptedModel
from support.servers.session import NOTHING, VSCODE, command, editor, finish, start

SALES = "month,revenue\nJan,30\nFeb,12.5\n"
DRAW = """PLAN: draw
FILE: draw_sales.py
CODE:
```python
import struct
import zlib


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


rows = [bytes([0, value, 9]) for value in (30, 12)]
body = zlib.compress(b"".join(b"\\0" + row for row in rows))
with open("sales.png", "wb") as file:
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0)))
    file.write(chunk(b"IDAT", body) + chunk(b"IEND", b""))
print("drawn")
```
"""
DONE = "DONE\nJanuary is above February.\nsales.png: the revenue of two months, 9 x 9\n"


def path_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


@pytest.fixture
def sales(scripted: ScriptedModel, tmp_path: Path) -> Path:
    scripted.replies([DRAW, DONE])
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "sales.csv").write_text(SALES)
    return folder / "sales.csv"


async def test_a_picture_is_shown_in_a_document_and_taken_with_its_program(
    environment: Mapping[str, str], sales: Path
) -> None:
    async with editor(environment, VSCODE, rootUri=sales.parent.as_uri()) as client:
        client.open(sales.as_uri(), "csv", SALES)
        job = await start(client, "task", uri=sales.as_uri(), instruction="plot the revenue by month")
        result = await finish(client, job)

        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        document = path_of(client.received("window/showDocument")[0]["uri"])
        shown = document.read_text()
        assert "![sales.png](<sales.png>)" in shown
        assert "3 × 2 pixels (the model's description was dropped: it says 9 × 9)" in shown
        assert (document.parent / "sales.png").read_bytes() == (sales.parent / "sales.png").read_bytes()
        assert [path_of(uri).name for uri in client.created] == ["draw_sales.py"]
        [edit] = client.received("workspace/applyEdit")
        [asked] = edit["edit"]["changeAnnotations"].values()
        assert "It changes 2 files (draw_sales.py, sales.png)" in asked["description"]
        assert result["answer"]["execution_result"]["stdout"] == "drawn\n"
        assert "file:///" in result["markdown"]


async def test_a_client_that_cannot_create_files_gets_their_places(environment: Mapping[str, str], sales: Path) -> None:
    async with editor(environment, NOTHING, rootUri=sales.parent.as_uri()) as client:
        client.open(sales.as_uri(), "csv", SALES)
        result = await finish(client, await start(client, "task", instruction="plot the revenue by month"))

        assert result["applied"] is False
        assert not (sales.parent / "sales.png").exists()
        logged = "\n".join(params["message"] for params in client.received("window/logMessage"))
        kept = path_of(logged.partition("](<")[2].partition(">)")[0])
        assert kept.read_bytes().startswith(b"\x89PNG")
        assert (await command(client, "stet.jobs"))["jobs"][0]["status"] == "done"
