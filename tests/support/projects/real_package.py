"""A small feature over several files of a real package: a copy of `iniconfig`, which pytest reads its settings with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from support.engine import asks_for_tests
from support.servers.scripted import Body, ScriptedModel

WORDS = "describe a ParseError in one line, and list the names of the sections of a text"
PLAN = """\
generate | exceptions.py | describe | the place and the message of a ParseError in one line
generate | iniconfig/__init__.py | section_names | the names of the sections of a text, in their order
   accept: example section_names("[a]\\nx=1\\n[b]\\ny=2") == ["a", "b"]
check | - | - | the tests of the package
"""
DESCRIBE = 'def describe(error: ParseError) -> str:\n    return f"line {error.lineno + 1}: {error.msg}"\n'
NAMES = (
    "def section_names(text: str) -> list[str]:\n"
    '    return [section.name for section in IniConfig("text", text)]\n'
)  # fmt: skip
TESTS = """\
from iniconfig import IniConfig, ParseError


def test_values_are_read():
    assert IniConfig("x.ini", "[a]\\nb = 1\\n")["a"]["b"] == "1"


def test_errors_have_a_line():
    try:
        IniConfig("x.ini", "[a]\\n b = 1\\n  [")
    except ParseError as error:
        assert error.lineno >= 0
"""


def copy_package(folder: Path) -> Path:
    """Copies the package below a folder, with tests; its first module."""
    spec = find_spec("iniconfig")
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, folder / "iniconfig", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    (folder / "tests" / "test_config.py").write_text(TESTS)
    (folder / "pyproject.toml").write_text('[project]\nname = "iniconfig"\nversion = "0"\n')
    return folder / "iniconfig" / "__init__.py"


def play(scripted: ScriptedModel) -> None:
    """The model's part of the feature."""
    scripted.on(asks_for_tests, "none")
    scripted.on(_does(1), _block(DESCRIBE)).on(_does(2), _block(NAMES))
    scripted.reply(PLAN)


def _does(number: int) -> Callable[[Body], bool]:
    def matches(body: Body) -> bool:
        return f"Now do step {number} alone" in str(body["messages"])

    return matches


def _block(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"
