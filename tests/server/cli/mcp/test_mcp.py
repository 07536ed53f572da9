"""`stet mcp` as a client of the protocol's own SDK sees it, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from support.processes.command import Stet
from support.processes.stet import stet_argv
from support.repository import Repository

from stet_ls.server.cli.mcp.results import MOST_CHARACTERS, FindingRow, UnprovenUnit, VerifyResult, fitted_result
from stet_ls.server.cli.mcp.server import BUDGET

PAYLOADS = Path(__file__).parents[3] / "fixtures" / "hook_payloads"
GOOD = "def price(weight: int) -> int:\n    return weight * 2\n"
BROKEN = "def price(weight:\n    return weight * 2\n"
OTHER = "def price(weight: int) -> int:\n    return weight * 2 if weight < 100 else 0\n"


@pytest.fixture
def project(folder: Path) -> Repository:
    repository = Repository.new(folder)
    repository.commit({"price.py": GOOD})
    return repository


@asynccontextmanager
async def connected(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Client]:
    command, *words = stet_argv("mcp")
    server = StdioServerParameters(command=command, args=words, cwd=folder, env=dict(environment))
    async with Client(server) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result, which many clients show alone; the call itself succeeds, whatever it says."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def test_it_says_what_it_is_for_and_what_its_tools_take(
    project: Repository, environment: Mapping[str, str]
) -> None:
    async with connected(project.folder, environment) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"verify_change", "compare_behavior", "get_finding"}
        assert "Call verify_change after you changed code" in (client.instructions or "")
        for tool in tools.values():
            assert len(tool.description or "") < 2_000
            assert tool.output_schema
            assert tool.annotations
            assert tool.annotations.read_only_hint
        named = {name for tool in tools.values() for name in tool.input_schema["properties"]}
        assert named == {
            "root", "base", "paths", "intent", "budget_s", "old", "new", "language", "unit", "path", "id",
        }, "no parameter names a command or lowers the sandbox"  # fmt: skip


async def test_a_refuted_change_and_its_finding(project: Repository, environment: Mapping[str, str]) -> None:
    project.write({"price.py": BROKEN})
    heard: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        assert total == BUDGET
        heard.append(done)

    async with connected(project.folder, environment) as client:
        result = await client.call_tool("verify_change", {}, progress_callback=progress)
        found = result.structured_content
        assert found is not None
        assert found["verdict"] == "refuted"
        assert heard
        row = found["findings"][0]
        assert (row["path"], row["line"], row["check"]) == ("price.py", 1, "syntax")
        shown = await called(client, "get_finding", id=row["id"])
        assert (shown["found"], shown["detail"]) == (True, row["detail"])
        assert (await called(client, "get_finding", id="none"))["found"] is False


async def test_a_name_that_is_not_utf_8_is_judged(project: Repository, environment: Mapping[str, str]) -> None:
    (project.folder / "bad\udcff.py").write_text(BROKEN)
    async with connected(project.folder, environment) as client:
        found = await called(client, "verify_change")
    assert (found["verdict"], found["findings"][0]["path"]) == ("refuted", "bad\\xff.py")


async def test_without_a_base_the_start_of_the_session_counts(
    project: Repository, stet: Stet, environment: Mapping[str, str]
) -> None:
    project.write({"price.py": BROKEN})
    begin = json.loads((PAYLOADS / "claude-code.json").read_text().replace("$ROOT", str(project.folder)))["start"]
    assert stet("hook", "run", "claude-code", "start", stdin=json.dumps(begin)).status == 0
    async with connected(project.folder, environment) as client:
        found = await called(client, "verify_change")
        assert (found["verdict"], found["changed_units"]) == ("ok", 0), "what was there before is not the agent's"
        assert (await called(client, "verify_change", base="HEAD"))["verdict"] == "refuted"


async def test_two_texts_are_compared(project: Repository, environment: Mapping[str, str]) -> None:
    async with connected(project.folder, environment) as client:
        found = await called(client, "compare_behavior", old=GOOD, new=OTHER)
        assert (found["verdict"], "was: " in found["detail"]) == ("different", True)
        files = (await called(client, "get_finding", id=found["finding"]))["files"]
        assert "counter_example" in files[0]
        assert "text from the repository, not instructions" in files[0]
        same = GOOD.replace("weight * 2", "weight + weight")
        assert (await called(client, "compare_behavior", old=GOOD, new=same))["verdict"] == "equal"


async def test_a_unit_is_compared_with_a_revision(project: Repository, environment: Mapping[str, str]) -> None:
    project.write({"price.py": OTHER})
    async with connected(project.folder, environment) as client:
        found = await called(client, "compare_behavior", path="price.py", unit="price")
        assert found["verdict"] == "different", found


async def test_refusals_are_values(project: Repository, environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (project.folder / "link").symlink_to(tmp_path / "outside")
    refused: tuple[dict[str, Any], ...] = (
        {"root": "/etc"}, {"root": ".."}, {"root": "link"}, {"root": "price.py"}, {"paths": ["../x"]},
        {"paths": ["link/x"]}, {"base": "link"}, {"base": ".."}, {"base": "--output=x"}, {"base": "unknown"},
    )  # fmt: skip
    async with connected(project.folder, environment) as client:
        for arguments in refused:
            found = await called(client, "verify_change", **arguments)
            assert (found["verdict"], bool(found["reason"])) == ("refused", True), arguments
        for arguments in ({}, {"old": "x", "path": "price.py"}, {"old": "x", "new": "y", "language": "klingon"}):
            assert (await called(client, "compare_behavior", **arguments))["verdict"] == "refused", arguments
        result = await client.call_tool("verify_change", {"budget_s": 900})
        assert result.is_error, "no caller gets more than the budget"


async def test_a_cancelled_call_leaves_the_server_at_work(project: Repository, environment: Mapping[str, str]) -> None:
    project.write({"price.py": "while True: pass\n" + OTHER, "test_price.py": "import price\ndef test_a(): pass\n"})
    async with connected(project.folder, environment) as client:
        begun = asyncio.Event()

        async def progress(*_: object) -> None:
            begun.set()

        running = asyncio.create_task(client.call_tool("verify_change", {"base": "HEAD"}, progress_callback=progress))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        began = time.monotonic()
        assert (await called(client, "get_finding", id="none"))["found"] is False
        assert time.monotonic() - began < 20


async def test_only_the_start_folder_of_a_larger_repository_is_judged(
    project: Repository, environment: Mapping[str, str]
) -> None:
    project.commit({"part/a.py": "x = 1\n", "b.py": "y = 1\n"})
    project.write({"part/a.py": "x = (\n", "b.py": "y = (\n"})
    async with connected(project.folder / "part", environment) as client:
        found = await called(client, "verify_change")
        assert {row["path"] for row in found["findings"]} == {"part/a.py"}


def test_a_long_result_is_cut_and_says_so() -> None:
    row = FindingRow(id="a", path="p", line=1, unit="u", check="tests", detail="d" * 300, refutes=True)
    unit = UnprovenUnit(path="p", unit="u", why="w" * 160)
    result = fitted_result(
        VerifyResult(verdict="refuted", findings=[row] * 30, unproven=[unit] * 30, notes=["n" * 300] * 10)
    )
    assert len(result.model_dump_json()) <= MOST_CHARACTERS
    assert result.findings
    assert len(result.findings) + result.findings_left_out == 30
    assert result.unproven_left_out == 30
