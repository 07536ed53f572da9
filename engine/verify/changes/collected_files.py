"""Whether a test runner still finds a file of tests that a change renamed: a test that no one runs is deleted."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import PurePath

from stet_ls.engine.verify.changes.tree import Tree
from stet_ls.validators.languages import language_of
from stet_ls.validators.test_files import for_language

CONFIGURATION = frozenset({"pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc"})
"""Files that decide how Python's tests run, by being there."""
_OF_UNITTEST = "test*.py"
_SETTING = re.compile(r"^[ \t]*python_files[ \t]*=(?P<value>.*(?:\n[ \t\]].*)*)", re.MULTILINE)
_WORD = re.compile(r"[^\s\"',\[\]]+")


def is_lost(old: str, new: str, text: bytes, head: Tree) -> bool:
    """Whether test runners that go by names collect a file by its old path and not by its new one. Reads the
    configuration in `head`.
    """
    patterns = for_language(language_of(old)).collected
    if not _fits(old, patterns) or _fits(new, patterns):
        return False
    if b"TestCase" in text and _fits(new, (_OF_UNITTEST,)):
        return False
    files = head.read(sorted(CONFIGURATION & head.files.keys())).values()
    values = (match["value"] for each in files for match in _SETTING.finditer(each.decode("utf-8", "replace")))
    return not any(_fits(new, _WORD.findall(value)) for value in values)


def _fits(path: str, patterns: tuple[str, ...] | list[str]) -> bool:
    return any(fnmatch(PurePath(path).name, each) for each in patterns)
