"""Live syntax errors in every kind of editor: who pulls and who is pushed to, versions, what is stale."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.findings import PUBLISH, REFRESH, URI, editing, empty, messages, pull, pushed, saying, worded
from support.servers.session import EGLOT, NEOVIM, NOTHING, VSCODE
from support.servers.wire import RECORDED, ErrorAnswer, Json, RawClient, recorded

BROKEN = "def area(w, h:\n    return w * h\n"
WHOLE = "def area(w, h):\n    return w * h\n"
MISUSED = "x = 1\nprint(end='', x)\n"
"""Parses by the grammar; Python itself refuses it."""
PULLING = {
    *("neovim-0.11.4", "vim9-yegappan-lsp", "jetbrains-lsp4ij-from-its-source", "sublime-lsp-from-its-source"),
    *(name for name in RECORDED if name.startswith("vscode")),
}

pytestmark = pytest.mark.usefixtures("stet_home")


def test_the_table_matches_the_recorded_editors() -> None:
    offering = {name for name in RECORDED if "diagnostic" in recorded(name)["capabilities"].get("textDocument", {})}
    assert offering == PULLING


@pytest.mark.parametrize("name", [*RECORDED, NOTHING])
async def test_a_client_that_pulls_gets_no_push(name: str) -> None:
    async with editing(name) as client:
        assert client.initialize_result is not None
        offer = client.initialize_result["capabilities"].get("diagnosticProvider")
        client.open(URI, "python", BROKEN)
        if name in PULLING:
            assert offer == {"identifier": "stet", "interFileDependencies": False, "workspaceDiagnostics": False}
            report = await worded(client, "never closed")
            assert report["kind"] == "full"
            assert report["items"][0]["message"].startswith("'(' is never closed")
            pushes = [each["diagnostics"] for each in client.received(PUBLISH)]
            reported = {each["range"]["start"]["line"] for each in report["items"]}
            assert all(each["range"]["start"]["line"] not in reported for items in pushes[-1:] for each in items)
        else:
            assert offer is None
            params = await pushed(client, saying("never closed"))
            assert (params["version"], params["diagnostics"][0]["source"]) == (1, "stet")


async def test_each_version_is_pushed_and_the_last_push_is_of_the_best_checker() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
        client.replace(URI, "h:", "h):")
        await pushed(client, lambda params: params["version"] == 2 and empty(params))
        client.change(URI, MISUSED)
        params = await pushed(client, saying("Positional argument"))
        assert params["version"] == 3
        [found] = params["diagnostics"]
        assert found["range"]["start"]["line"] == 1


async def test_closing_a_document_removes_its_diagnostics() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
        mark = client.mark()
        client.close(URI)
        assert empty(await pushed(client, since=mark))


async def test_a_correct_text_has_empty_diagnostics() -> None:
    """ALE and Flymake show that a check runs until something comes."""
    async with editing("vim9-ale-3.3") as client:
        client.open(URI, "python", WHOLE)
        assert await pushed(client) == {"uri": URI, "diagnostics": [], "version": 1}


async def test_a_pull_with_the_same_result_is_unchanged() -> None:
    async with editing(VSCODE) as client:
        client.open(URI, "python", "return 1\n")  # the grammar takes it
        first = await pull(client)
        await client.wait_notification(REFRESH)  # the best judge had more to say
        second = await pull(client, previous=first["resultId"])
        third = await pull(client, previous=second["resultId"])
        assert (second["kind"], third["kind"]) == ("full", "unchanged")
        assert third["resultId"] == second["resultId"]

        client.replace(URI, "return", "x =")
        fixed = await pull(client, previous=third["resultId"])
        assert (fixed["kind"], fixed["items"]) == ("full", [])
        client.change(URI, WHOLE + "\n")
        assert (await pull(client, previous=fixed["resultId"]))["kind"] == "unchanged"


async def test_a_moved_diagnostic_is_not_unchanged() -> None:
    """Editors move what they show by themselves; the same words at the same place may then be news."""
    async with editing(VSCODE) as client:
        client.open(URI, "toml", "x = ]\ny = 1\n")
        first = await pull(client)
        client.replace(URI, "1", "2")
        second = await pull(client, previous=first["resultId"])
        assert second["kind"] == "full"
        assert second["items"][0]["range"] == first["items"][0]["range"]


async def test_a_client_with_refresh_support_pulls_the_better_message() -> None:
    async with editing(VSCODE) as client:
        client.open(URI, "python", MISUSED)
        assert (await pull(client))["items"] == []
        await client.wait_notification(REFRESH)
        assert messages(await pull(client)) == ["Positional argument cannot follow keyword argument"]
        assert client.received(PUBLISH) == []


async def test_a_client_without_refresh_support_is_pushed_the_rest_until_it_pulls() -> None:
    async with editing(NEOVIM) as client:
        client.open(URI, "python", MISUSED)
        assert (await pull(client))["items"] == []
        params = await pushed(client, saying("Positional argument"))
        assert params["version"] == 1
        mark = client.mark()
        report = await pull(client)
        assert messages(report) == ["Positional argument cannot follow keyword argument"]
        assert empty(await pushed(client, since=mark))
        assert client.received(REFRESH) == []


async def test_no_diagnostics_of_an_outdated_text_are_sent() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", "")
        for count in range(1, 100):
            client.change(URI, "x = (\n" * count)
        client.change(URI, WHOLE)
        await pushed(client, lambda params: params["version"] == 101)
        versions = [params["version"] for params in client.received(PUBLISH)]
        assert versions == sorted(set(versions))
        assert client.received(PUBLISH)[-1]["diagnostics"] == []


async def test_pulls_during_quick_changes_are_answered_for_the_last_text() -> None:
    async with editing(NEOVIM) as client:
        client.open(URI, "python", "")
        calls = []
        for count in range(1, 50):
            client.change(URI, "x = (\n" * count)
            calls.append(client.call("textDocument/diagnostic", {"textDocument": {"uri": URI}}))
        client.change(URI, WHOLE)
        calls.append(client.call("textDocument/diagnostic", {"textDocument": {"uri": URI}}))
        assert (await calls[-1])["items"] == []
        for call in calls:
            await call


async def test_a_pull_is_cancelled_at_once() -> None:
    release = asyncio.Event()

    async def settings(params: Json) -> list[None]:
        await release.wait()
        return [None] * len(params["items"])

    async with editing(VSCODE) as client:
        client.answers["workspace/configuration"] = settings
        client.open(URI, "python", BROKEN)
        call = client.call("textDocument/diagnostic", {"textDocument": {"uri": URI}})
        client.cancel(call)
        with pytest.raises(ErrorAnswer) as refused:
            await call
        assert refused.value.code == -32800
        release.set()


async def test_a_client_gets_only_fields_that_it_supports() -> None:
    async with editing(VSCODE) as full, editing(EGLOT) as little:
        for client in (full, little):
            client.open(URI, "python", "x = (1\ny = 2\n")
        [rich, *_] = (await worded(full, "never closed"))["items"]
        [poor, *_] = (await pushed(little, saying("never closed")))["diagnostics"]
    assert (rich["severity"], rich["code"], rich["source"]) == (1, "unclosed-bracket", "stet")
    [related] = rich["relatedInformation"]
    assert related["location"]["uri"] == URI
    assert related["location"]["range"]["start"]["line"] == 1
    assert rich["data"]["tool"] == "tree-sitter"
    assert not {"relatedInformation", "data", "tags"} & set(poor)


async def test_columns_use_the_encoding_of_the_client() -> None:
    text = "𝒳 = '🦀🦀'; y = (\n"
    for name, column in ((EGLOT, 17), ("vim9-yegappan-lsp", 14), (NEOVIM, 23)):
        async with editing(name) as client:
            client.open(URI, "python", text)
            if name == EGLOT:
                [found, *_] = (await pushed(client, saying("never closed")))["diagnostics"]
            else:
                [found, *_] = (await worded(client, "never closed"))["items"]
            assert found["range"]["start"] == {"line": 0, "character": column}, name


@pytest.mark.parametrize(
    ("uri", "language", "text"),
    [
        ("untitled:Untitled-1", "python", BROKEN),
        ("vscode-remote://ssh/w/a.py", "python", BROKEN),
        ("file:///w/a.rs", "rust", "fn main( {\n}\n"),
        ("file:///w/a.ts", "typescript", "let x = {;\n"),
        ("file:///w/a.toml", "toml", "x = [1\ny = 2\n"),
    ],
)
async def test_every_kind_of_edited_document_is_checked(uri: str, language: str, text: str) -> None:
    async with editing(EGLOT) as client:
        client.open(uri, language, text)
        assert await pushed(client, lambda params: not empty(params), uri=uri)


@pytest.mark.parametrize(
    ("uri", "language", "text"),
    [
        ("file:///w/a.txt", "plaintext", "(((\n"),
        ("file:///w/a.xyz", "xyz", "(((\n"),
        ("vscode-notebook-cell:/w/a.ipynb#1", "python", "%matplotlib inline\n"),
        ("git:/w/a.py", "python", BROKEN),
        ("stet:/explain-1.md", "markdown", BROKEN),
    ],
)
async def test_other_documents_are_not_checked(uri: str, language: str, text: str) -> None:
    async with editing(VSCODE) as client:
        client.open(uri, language, text)
        assert (await pull(client, uri))["items"] == []
    async with editing(EGLOT) as client:
        client.open(uri, language, text)
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
        assert all(empty(params) for params in client.received(PUBLISH) if params["uri"] == uri)


async def test_a_document_that_is_not_open_has_no_diagnostics(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(BROKEN)
    async with editing(VSCODE) as client:
        assert await pull(client, file.as_uri()) == {"kind": "full", "items": [], "resultId": "nothing"}


async def test_a_grammar_that_errs_on_good_code_only_warns() -> None:
    async with editing(EGLOT) as client:
        client.open("file:///w/a.cpp", "cpp", "int f( {\n}\n")
        params = await pushed(client, lambda params: not empty(params), uri="file:///w/a.cpp")
        assert {each["severity"] for each in params["diagnostics"]} == {2}


async def test_binary_data_is_reported_as_such() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", "x = 1\0\n")
        assert await pushed(client, saying("binary data"))


async def test_a_huge_text_is_not_checked_and_reported_once() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN + "#" * 1_000_000)
        said = await client.wait_for(
            lambda message: message.get("method") == "window/logMessage" and "1 MB" in message["params"]["message"]
        )
        assert URI in said["params"]["message"]
        for _ in range(3):
            client.change(URI, "x", ((0, 0), (0, 0)))
        client.open("file:///w/b.py", "python", BROKEN)
        await pushed(client, saying("never closed"), uri="file:///w/b.py")
        assert [params["uri"] for params in client.received(PUBLISH) if params["uri"] == URI] == []
        assert sum("1 MB" in params["message"] for params in client.received("window/logMessage")) == 1
        # cut to a size that can be read, it is
        client.change(URI, BROKEN)
        await pushed(client, saying("never closed"))


async def test_a_reopened_document_is_checked_again() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
        mark = client.mark()
        client.close(URI)
        client.open(URI, "python", WHOLE)
        await pushed(client, lambda params: params.get("version") == 1 and empty(params), since=mark)


async def fix_titles(client: RawClient, diagnostics: list[Json]) -> list[str]:
    where = diagnostics[0]["range"]
    context = {"diagnostics": diagnostics, "only": ["quickfix"], "triggerKind": 1}
    params = {"textDocument": {"uri": URI}, "range": where, "context": context}
    return [action["title"] for action in await client.request("textDocument/codeAction", params)]


async def test_a_diagnostic_of_stet_offers_the_fix() -> None:
    async with editing(VSCODE) as client:
        client.open(URI, "python", BROKEN)
        items = (await worded(client, "never closed"))["items"]
        [title] = await fix_titles(client, items[:1])
        assert title.startswith("Fix with Stet: '(' is never closed")
