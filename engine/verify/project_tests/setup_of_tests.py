"""The set-up of tests: files that decide how tests run and what they expect, without being tests."""

from __future__ import annotations

import configparser
import tomllib
from pathlib import PurePath
from typing import Any

from stet_ls.engine.verify.changes.change import ChangedFile, is_of_tests, is_test_name

_SNAPSHOTS = frozenset({".ambr", ".snap", ".storyshot"})
_SECTIONS = ("pytest", "tool:pytest")


def is_setup(file: ChangedFile) -> bool:
    """Whether a change touches the set-up of tests: a conftest, helpers, data, snapshots, the settings of pytest.

    New data concerns no former test.
    """
    path = PurePath(file.path)
    if is_of_tests(file.path) or path.suffix in _SNAPSHOTS:
        is_test = is_test_name(file.path) or is_test_name(file.was)
        return not is_test and (file.before is not None or path.name == "conftest.py")
    if path.suffix not in (".toml", ".ini", ".cfg"):
        return False
    return bool(_settings(file, file.before) != _settings(file, file.after))


def _settings(file: ChangedFile, data: bytes | None) -> Any:
    """pytest's own settings in a file; None if it holds none or cannot be read."""
    text = file.text(data) or ""
    try:
        if file.path.endswith(".toml"):
            return dict(tomllib.loads(text).get("tool", {})).get("pytest")
        parser = configparser.RawConfigParser()
        parser.read_string(text)
    except (tomllib.TOMLDecodeError, configparser.Error, ValueError):
        return text
    return [[*parser.items(name)] for name in _SECTIONS if parser.has_section(name)] or None
