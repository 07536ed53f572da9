"""What is installed is what stands in the tree, under our own name, and the way to the server is light."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.servers.scripted import ScriptedModel
from support.servers.session import fenced

from stet_ls.validators.install_hints import FULL

ROOT = Path(__file__).parents[1]
ROOMS = {"server": "server", "engine": "engine", "validators": "validators", "editors/configs": "editors"}
"""Folders of the tree, and what they are called inside of `stet_ls`."""

PLUGINS = {"editors/emacs": (".el",), "editors/neovim": (".lua", ".txt"), "editors/vscode": ("stet.vsix",)}
"""Folders of plugins, which keep their place, and the ends of the names of what is packaged of them."""

HEAVY = ("openai", "httpx", "lancedb", "numpy", "pydantic", "rich", "xllamacpp", "lizard")
"""What the server must not import before it has answered `initialize`."""


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def tracked(*patterns: str) -> list[str]:
    """Files as git knows them, those not yet committed included; ignored ones are none of ours."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [line for line in output.splitlines() if (ROOT / line).is_file()]


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    return set(result.stdout.split())


def top_level(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.fixture(scope="session")
def wheel(built: Path) -> list[str]:
    """The names of the files in the wheel."""
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that the tree stays as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "tree"
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    with zipfile.ZipFile(copy / "editors" / "vscode" / "stet.vsix", "w") as extension:
        extension.writestr("extension/dist/extension.js", "what node builds")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(copy)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr or result.stdout
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_tree_and_nothing_else(wheel: list[str]) -> None:
    """Built from a clone without symbolic links, so that a checkout that cannot have them builds the same wheel."""
    expected = {"stet_ls/__init__.py", "stet_ls/py.typed"}
    for folder, inside in ROOMS.items():
        for name in tracked(folder):
            relative = Path(name).relative_to(folder)
            expected.add(f"stet_ls/{inside}/{relative.as_posix()}")
    plugins = {name for folder, ends in PLUGINS.items() for name in tracked(folder) if name.endswith(ends)}
    expected |= {f"stet_ls/{name}" for name in (*plugins, "editors/vscode/stet.vsix")}

    assert {name for name in wheel if ".dist-info/" not in name} == expected


def test_no_package_is_installed_under_its_bare_name(wheel: list[str]) -> None:
    """The registry has packages called `engine` and `validators`; installing ours over them would break both."""
    tops = {name.partition("/")[0] for name in wheel}

    assert {name for name in tops if not name.endswith(".dist-info")} == {"stet_ls"}


def test_every_folder_of_code_is_listed(wheel: list[str]) -> None:
    listed = set(project()["tool"]["setuptools"]["packages"])
    found = {"stet_ls", *(f"stet_ls.{folder.replace('/', '.')}" for folder in PLUGINS)}
    for folder, inside in ROOMS.items():
        for name in tracked(f"{folder}/*__init__.py"):
            package = Path(name).parent.relative_to(folder)
            found.add(".".join(["stet_ls", inside, *package.parts]))

    assert listed == found


def test_no_module_is_outside_a_package() -> None:
    """A folder without `__init__.py` would be missing from the wheel."""
    for folder in ROOMS:
        for name in tracked(f"{folder}/*.py"):
            if "/sample/" not in name:
                assert (ROOT / name).with_name("__init__.py").exists(), name


def test_no_package_is_imported_by_its_bare_name(stet_home: Path) -> None:
    loaded = modules_after("import stet_ls.server.app, stet_ls.engine.run, stet_ls.server.cli.run.command")

    assert "stet_ls.engine.run" in loaded
    assert not top_level(loaded) & {"server", "engine", "validators", "editors"}


@pytest.mark.parametrize(
    "statement",
    [
        "import stet_ls.server.__main__",
        "from stet_ls.server.cli.command_table import build_parser; build_parser(['serve']).parse_args(['serve'])",
        "from stet_ls.server.app import create_server; create_server()",
    ],
)
def test_starting_the_server_imports_few_modules(stet_home: Path, statement: str) -> None:
    assert not top_level(modules_after(statement)) & set(HEAVY)


def test_the_core_needs_no_model_library_and_no_compiler() -> None:
    names = {re.split(r"[\[<>=~!; ]", line)[0] for line in project()["project"]["dependencies"]}

    assert "pygls" in names
    assert not names & {"torch", "lancedb", "xllamacpp", "llama-cpp-python", "sentence-transformers", "numpy"}
    assert set(project()["project"]["optional-dependencies"]) >= {
        "local", "memory", "ws", "sentence-transformers", "sandbox", "all-languages", "dev",
    }  # fmt: skip


def test_each_dependency_has_a_comment_with_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    block = text[text.index("\ndependencies = [") : text.index("[project.optional-dependencies]")]
    lines = [line for line in block.splitlines() if line.strip().startswith('"') and "tree-sitter-" not in line]

    assert len(lines) >= 8
    assert [line for line in lines if "#" not in line] == []


def needed(name: str) -> set[str]:
    """The distributions that installing one brings on this machine, itself included, under their normalized names."""
    waiting, seen = [(name, "")], set[tuple[str, str]]()
    while waiting:
        if (row := waiting.pop()) in seen:
            continue
        seen.add(row)
        for line in metadata.requires(row[0]) or []:
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": row[1]}):
                waiting += [(canonicalize_name(wanted.name), extra) for extra in ("", *wanted.extras)]
    return {name for name, _ in seen}


def test_the_full_extra_includes_everything() -> None:
    extras = project()["project"]["optional-dependencies"]
    brought = {
        canonicalize_name(Requirement(line).name)
        for part in Requirement(extras["full"][0]).extras
        for line in extras[part]
        if (marker := Requirement(line).marker) is None or marker.evaluate()
    }
    assert set(FULL) <= brought
    assert {"local", "memory", "sandbox"} <= Requirement(extras["full"][0]).extras


def test_all_pages_show_the_same_install_command() -> None:
    """A page that names a part of the product leaves its reader without the rest, and without a word about it."""
    pages = [name for name in tracked("README.md", "docs", "editors") if name.endswith(SPEAKING)]
    reported = {
        (name, extra) for name in pages for extra in re.findall(r"install '?\.\[([\w,-]+)\]", (ROOT / name).read_text())
    }
    assert {extra for _, extra in reported} <= {"full", "keyring", "mcp"}
    assert {name for name, extra in reported if extra == "full"} >= {
        "README.md", "docs/memory.md", "editors/neovim/lua/stet/health.lua", "editors/vscode/README.md",
    }  # fmt: skip


SPEAKING = (".md", ".lua", ".txt", ".ts", ".json")


@pytest.fixture(scope="session")
def lean(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment in which the wheel is installed with what it needs, and nothing else.

    Its packages are links to those that the tests have: no index is asked.
    """
    folder = tmp_path_factory.mktemp("lean")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in needed("stet-ls") - {"stet-ls"}:
        for top in {file.parts[0] for file in metadata.files(name) or [] if file.parts[0] not in ("..", "__pycache__")}:
            source = Path(str(metadata.distribution(name).locate_file(top)))
            if source.exists() and not (site / top).exists():
                (site / top).symlink_to(source)
    programs = Path(sys.executable).parent
    (folder / "bin" / "ruff").symlink_to(programs / "ruff")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(site)
    return folder / "bin" / "python"


def test_a_lean_installation_works_and_says_once_what_it_lacks(
    lean: Path, stet_home: Path, scripted: ScriptedModel, tmp_path: Path
) -> None:
    def stet(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [lean, "-m", "stet_ls.server", *words]
        variables = {"PATH": "/usr/bin:/bin", "STET_HOME": str(stet_home), "STET_BASE_URL": scripted.base_url}
        return subprocess.run(argv, capture_output=True, text=True, env=variables, cwd=tmp_path)

    file = tmp_path / "a.py"
    file.write_text("def add(a, b):\n    total = a + b\n    return total\n")
    scripted.default = fenced("def add(a, b):\n    return a + b\n")

    parts = json.loads(stet("doctor", "--json").stdout)["parts"]
    (install,) = [part for part in parts if part["name"] == "install"]
    assert install["state"] == "missing"
    assert all(f"no {what} ({name})" in install["detail"] for name, what in FULL.items())
    assert "[full]" in install["detail"]

    done = stet("run", "refactor", str(file), "--apply")
    assert done.returncode == 0, done.stderr
    assert file.read_text() == "def add(a, b):\n    return a + b\n"
    lacks = [line for line in done.stderr.splitlines() if "not installed" in line]
    assert len(lacks) == len(set(lacks)), lacks
    (reported,) = [line for line in lacks if "memory" in line]
    assert reported.startswith("warning: Memory unavailable. The memory is not installed: pip install ")
    assert "[full]" in reported


def test_an_installation_brings_the_plugins_of_editors(lean: Path, tmp_path: Path) -> None:
    recorder = tmp_path / "bin" / "code"
    recorder.parent.mkdir()
    recorder.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/code.log\ncp "$2" {tmp_path}/installed.vsix\n')
    recorder.chmod(0o755)

    def editor(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [lean, "-m", "stet_ls.server", "editor", *words]
        variables = {"PATH": f"{recorder.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
        return subprocess.run(argv, capture_output=True, text=True, env=variables, cwd=tmp_path)

    place = tmp_path / ".local" / "share" / "nvim" / "site" / "pack" / "stet" / "start" / "stet"
    assert f"would copy the Neovim plugin to {place}" in editor("neovim", "--install", "--dry-run").stdout
    assert not place.exists()
    program = f"{lean} -m stet_ls.server"
    assert f"To undo: {program} editor neovim --remove" in editor("neovim", "--install").stdout
    assert str(lean) in (place / "lua" / "stet" / "installed.lua").read_text()
    assert (place / "doc" / "stet.txt").is_file()
    (place / "doc" / "tags").touch()  # Neovim writes it
    assert editor("neovim", "--install").stdout == f"Neovim plugin already up to date: {place}\n"
    assert editor("neovim", "--remove").stdout == f"removed {place}\n"
    assert not (tmp_path / ".local" / "share" / "nvim" / "site" / "pack" / "stet").exists()

    assert f"To undo: {program} editor vscode --remove" in editor("vscode", "--install").stdout
    assert re.fullmatch(r"--install-extension /\S+/stet\.vsix --force\n", (tmp_path / "code.log").read_text())
    (vsix,) = lean.parents[1].glob("lib/python*/site-packages/stet_ls/editors/vscode/stet.vsix")
    with zipfile.ZipFile(vsix) as shipped, zipfile.ZipFile(tmp_path / "installed.vsix") as installed:
        assert installed.testzip() is None
        (mark,) = {*installed.namelist()} - {*shipped.namelist()}
        assert json.loads(installed.read(mark)) == {"command": [*program.split(), "--stdio"]}
    vsix.unlink()
    without = editor("vscode", "--install")
    assert without.returncode == 2
    assert "built without node\nhint: in a clone of Stet run `make vsix`" in without.stderr


def test_lock_files_hold_no_addresses() -> None:
    """Users install from their own index; an address would send them to another."""
    locks = tracked("requirements/*", "*.lock", "*package-lock.json")

    assert "requirements/dev.txt" in locks
    for name in locks:
        text = (ROOT / name).read_text()
        hosts = set(re.findall(r"https?://([\w.:-]+)", text))
        assert not hosts, f"{name}: {hosts}"


def test_no_file_contains_a_path_of_a_developer_machine() -> None:
    """A path of a home or work folder works on one machine only."""
    homes = re.compile(rb"(?<![\w.])/(?:home|Users|root|work)/\w")
    for name in tracked():
        found = [] if name.endswith(PICTURES) else homes.findall((ROOT / name).read_bytes())
        assert not found, f"{name}: {found[:3]}"


PICTURES = (".png", ".gif", ".jpg", ".ico", ".vsix")


def test_the_links_to_the_packages_exist() -> None:
    """Type checkers and editors follow them; the wheel does not need them."""
    for folder, inside in ROOMS.items():
        link = ROOT / "src" / "stet_ls" / inside
        assert link.resolve() == (ROOT / folder).resolve()
