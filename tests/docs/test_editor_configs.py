"""What the editors are given: configurations that parse and say where they belong, and the extension for VS Code.

That Emacs, Vim, Neovim and Kate take theirs is seen in tests/e2e, where they are started with these very files.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pages.settings_page import user_variables

from stet_ls.editors import PLACES
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.errors import UsageError
from stet_ls.engine.settings import KEYS, SettableBy
from stet_ls.server.cli import editor
from stet_ls.server.cli.editor_install import INSTALLERS
from stet_ls.server.handlers.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
VSIX = EXTENSION / "stet.vsix"


def test_every_configuration_says_where_it_belongs() -> None:
    assert set(editor.known()) == set(PLACES)


@pytest.mark.parametrize("name", PLACES)
def test_a_configuration_is_printed_separately_from_its_place(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert editor.run(argparse.Namespace(name=name, install=False, remove=False)) == 0
    out, err = capsys.readouterr()
    text = editor.known()[name].read_text(encoding="utf-8")
    started = re.sub(r'"/[^ ]*"( "-m" "stet_ls.server")? "--stdio"', '"@STET@" "--stdio"', out)
    assert started == text.replace("@EDITORS@", str(ROOT / "editors"))
    assert ("@STET@" in text) == (name == "emacs")
    assert "@STET@" not in out
    assert err == f"{PLACES[name]}\n"


def test_a_plugin_that_was_installed_by_others_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    file = tmp_path / "nvim" / "site" / "pack" / "stet" / "start" / "stet" / "plugin" / "own.lua"
    file.parent.mkdir(parents=True)
    file.touch()
    for change in (INSTALLERS["neovim"].install, INSTALLERS["neovim"].remove):
        with pytest.raises(UsageError, match="was not written by"):
            change(False)
    assert file.exists()


def test_helix_gets_a_server_that_its_languages_name() -> None:
    table = tomllib.loads(editor.known()["helix"].read_text(encoding="utf-8"))
    assert set(table["language-server"]) == {"stet"}
    assert all("stet" in language["language-servers"] for language in table["language"])


@pytest.mark.parametrize("name", [name for name, file in editor.known().items() if file.name.endswith(".json")])
def test_what_is_json_holds_no_comment(name: str) -> None:
    assert "stet" in json.dumps(json.loads(editor.known()[name].read_text(encoding="utf-8")))


@pytest.fixture
def contributes() -> Any:
    """What the extension adds to VS Code."""
    return json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))["contributes"]


def test_the_mcp_server_is_registered_under_the_name_that_is_declared(contributes: Any) -> None:
    [declared] = contributes["mcpServerDefinitionProviders"]
    source = (EXTENSION / "src" / "mcp.ts").read_text(encoding="utf-8")
    assert f'registerMcpServerDefinitionProvider("{declared["id"]}"' in source


def test_the_extension_offers_each_action_of_the_server(contributes: Any) -> None:
    source = (EXTENSION / "src" / "actions.ts").read_text(encoding="utf-8")
    offered = {*ACTIONS, "document"}  # a custom action that ships with Stet
    expected = {f"stet.ui.{action}" for action in offered}

    assert set(re.findall(r'\{ name: "(\w+)"', source)) == offered
    assert {row["command"] for row in contributes["menus"]["stet.menu"]} == expected
    assert expected <= {row["command"] for row in contributes["commands"]}
    keys = [row["command"] for row in contributes["keybindings"]]
    assert expected <= set(keys)


def test_the_extension_uses_only_commands_that_exist(contributes: Any) -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in (EXTENSION / "src").rglob("*.ts"))
    sent = set(re.findall(r'(?:command: |send\()"(stet\.(?!ui\.)[\w.]+)"', sources))
    assert {"stet.result", "stet.cancel", "stet.health", "stet.models"} <= sent <= set(COMMANDS) | {"stet.custom"}
    registered = set(re.findall(r'^    "?([\w.]+)"?(?:: \(|,$)', sources, re.MULTILINE)) | {*ACTIONS, "document"}
    declared = {row["command"].removeprefix("stet.ui.") for row in contributes["commands"]}
    assert declared <= registered


def test_the_plugin_for_neovim_and_the_manual_know_each_action() -> None:
    plugin = (ROOT / "editors" / "neovim" / "lua" / "stet" / "init.lua").read_text(encoding="utf-8")
    listed = re.search(r"^M\.actions = \{ (.*) \}$", plugin, re.MULTILINE)
    assert listed is not None
    assert re.findall(r'"(\w+)"', listed[1]) == list(ACTIONS)

    keys = (ROOT / "editors" / "neovim" / "plugin" / "stet.lua").read_text(encoding="utf-8")
    mapped = re.search(r"^for _, action in ipairs\(\{ (.*) \}\) do$", keys, re.MULTILINE)
    assert mapped is not None
    assert re.findall(r'"(\w+)"', mapped[1]) == [*ACTIONS, "document"]

    manual = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The actions\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\w+) \|", manual, re.MULTILINE)[1:] == list(ACTIONS), "below the table's head"


def test_the_package_for_emacs_knows_each_action() -> None:
    package = (ROOT / "editors" / "emacs" / "stet.el").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\(defconst (stet-\S+)\s+'\(([^)]*)\)", package, re.MULTILINE))

    assert re.findall(r'"(\w+)"', listed["stet-actions"]) == [*ACTIONS, "document"]
    asked = re.findall(r'"(\w+)"', listed["stet--asked"])
    assert asked == [name for name, spec in ACTIONS.items() if spec.needs_instruction]


@pytest.mark.parametrize("plugin", ["neovim", "vscode", "emacs"])
def test_no_plugin_decides_by_the_name_of_an_action(plugin: str) -> None:
    """The server says which result is opened or listed; a plugin lists the names in its tables alone."""
    names = "|".join([*ACTIONS, "document"])
    decided = re.compile(rf"""(?:[=~!]=+\s*|\(equal \S+ )["'](?:{names})["']""")
    sources = [
        file
        for file in (ROOT / "editors" / plugin).rglob("*")
        if file.suffix in (".lua", ".ts", ".el") and "node_modules" not in file.parts
    ]

    assert sources
    assert [file.name for file in sources if decided.search(file.read_text(encoding="utf-8"))] == []


def test_the_extension_has_the_settings_of_the_server(contributes: Any) -> None:
    """Without defaults of its own, which would override the user's file."""
    properties = contributes["configuration"]["properties"]
    generated = json.loads((ROOT / "docs" / "settings.editor.json").read_text(encoding="utf-8"))

    assert {name: row for name, row in properties.items() if not name.startswith("stet.server.")} == generated


def test_no_folder_sets_what_its_user_alone_may_set(contributes: Any) -> None:
    """VS Code reads settings of the scope "machine" from no workspace; "machine-overridable" ones it does."""
    properties = contributes["configuration"]["properties"]
    others = {name for name, row in properties.items() if row["scope"] not in ("machine", "application")}

    assert others == {
        f"stet.{key.name}" for key in KEYS.values() if key.set_by in (SettableBy.ANYONE, SettableBy.TIGHTEN)
    }


def test_the_extension_starts_the_server_with_what_its_user_set() -> None:
    """What comes later from the editor may have been read from the opened folder, and loosens nothing."""
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    source = (EXTENSION / "src" / "environment.ts").read_text(encoding="utf-8")

    assert package["userVariables"] == user_variables()
    assert "?.globalValue" in source
    assert not re.search(r"workspace\w*Value", source)


def test_the_pictures_are_small_and_shown_somewhere() -> None:
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size <= 150_000, picture.name
        assert f"images/{picture.name}" in pages, picture.name


@pytest.mark.skipif(not VSIX.exists(), reason="the extension is not built: make vsix")
def test_the_package_holds_the_bundle_and_nothing_else() -> None:
    assert VSIX.stat().st_size <= 500_000
    with zipfile.ZipFile(VSIX) as package:
        assert set(package.namelist()) == {
            "[Content_Types].xml",
            "extension.vsixmanifest",
            "extension/LICENSE.txt",
            "extension/dist/client.js",
            "extension/dist/extension.js",
            "extension/package.json",
            "extension/readme.md",
        }
        assert package.read("extension/package.json") == (EXTENSION / "package.json").read_bytes()


@pytest.mark.skipif(not VSIX.exists(), reason="the extension is not built: make vsix")
def test_activation_does_not_read_the_language_client() -> None:
    """It is nine tenths of the code, and the editor waits for what is read at the start."""
    with zipfile.ZipFile(VSIX) as package:
        own, client = (len(package.read(f"extension/dist/{name}.js")) for name in ("extension", "client"))
        code = package.read("extension/dist/extension.js").decode()
    assert own < client / 5
    assert re.search(r"\w+\(\)\{return require\(\"\./client\"\)\}", code), "inside of a function alone"
    assert code.count("./client") == 1
