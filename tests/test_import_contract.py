"""The import contract: what it forbids, planted into a copy of the packages, is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTION = "[tool.importlinter]"

PLANTED = {
    "an import up from package to package": (
        "validators/parsing/planted.py", "import stet_ls.engine.errors", "stet_ls.validators.parsing.planted ->",
    ),
    "an import up from floor to floor": (
        "engine/storage/planted.py", "import stet_ls.engine.run", "storage.planted -> stet_ls.engine.run",
    ),
    "an import between strangers on one floor": (
        "engine/storage/planted.py", "import stet_ls.engine.markdown", "storage.planted -> stet_ls.engine.markdown",
    ),
    "a circle inside a folder": (
        "engine/reply/parsing/fences.py", "import stet_ls.engine.reply.parsing.parse_reply", ".fences -> .parse_reply",
    ),
    "a judge that asks another": (
        "engine/judges/timing.py", "import stet_ls.engine.judges.doctest", "timing -> stet_ls.engine.judges.doctest",
    ),
    "a folder that has no floor": ("engine/planted/__init__.py", "", "stet_ls.engine.planted"),
    "the protocol in the engine": ("engine/storage/planted.py", "import lsprotocol", "-> lsprotocol"),
    "a settings library in the validators": ("validators/parsing/planted.py", "import pydantic", "-> pydantic"),
}  # fmt: skip
"""A file, what it imports, and what the report says."""


def test_no_action_but_the_one_made_of_them_knows_another() -> None:
    actions = {path.stem for path in (ROOT / "engine" / "actions").glob("*.py") if "\nACTION" in path.read_text()}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (each for each in contracts if each["name"] == "Actions do not know each other")
    assert {each.rpartition(".")[2] for each in contract["modules"]} == actions - {"task"}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages as they are, with the contract alone."""
    root = tmp_path_factory.mktemp("contract")
    package = root / "src" / "stet_ls"
    for name in ("server", "engine", "validators"):
        shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__", "sample"))
    shutil.copy(ROOT / "src" / "stet_ls" / "__init__.py", package)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (root / "pyproject.toml").write_text(settings[settings.index(SECTION) :], encoding="utf-8")
    return root


def test_the_packages_keep_the_import_contract(clean: Path) -> None:
    status, report = linted(clean)

    assert status == 0, report


@pytest.mark.parametrize("name", PLANTED)
def test_a_forbidden_import_is_found(name: str, clean: Path, tmp_path: Path) -> None:
    file, code, said = PLANTED[name]
    shutil.copytree(clean, tmp_path, dirs_exist_ok=True)
    planted = tmp_path / "src" / "stet_ls" / file
    planted.parent.mkdir(exist_ok=True)
    with planted.open("a", encoding="utf-8") as stream:
        stream.write(f"{code}\n")

    status, report = linted(tmp_path)

    assert status == 1
    assert said in report


def linted(root: Path) -> tuple[int, str]:
    """The exit status of import-linter in `root`, and what it reports."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": "src", "COLUMNS": "200"}
    ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr
