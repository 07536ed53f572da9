"""The texts that decide which packages a run of Python tests needs: the tests, their conftests, and pytest itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from stet_ls.validators.project_files import read_text

_PYTEST_STYLE = re.compile(r"^(?:async )?def test|^class Test\w*(?!.*TestCase)", re.MULTILINE)
"""A test that `unittest` would not find."""
_LARGEST = 400_000
"""Bytes of the largest `conftest.py` that is read."""


def texts(root: Path, tests: Mapping[str, str], buffers: Mapping[Path, str]) -> tuple[str, ...]:
    """The texts, for `tests` by their paths relative to `root`. Reads files: not for an event loop."""
    folders = {folder for path in tests for folder in (root / path).parents if folder.is_relative_to(root)}
    conftests = (_text(folder / "conftest.py", buffers) for folder in sorted(folders))
    runner = ["import pytest"] if any(_PYTEST_STYLE.search(text) for text in tests.values()) else []
    return (*tests.values(), *filter(None, conftests), *runner)


def _text(file: Path, buffers: Mapping[Path, str]) -> str:
    if file in buffers:
        return buffers[file]
    return read_text(file, most=_LARGEST) or ""
