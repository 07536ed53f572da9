"""The generated pages are those that the code makes now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pages.pages import pages
from pages.settings_page import NOT_IN_VSCODE

from stet_ls.engine.settings import KEYS, TABLES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", pages())
def test_a_page_is_up_to_date(name: str) -> None:
    """To write them again: .venv/bin/python tests/pages"""
    assert (DOCS / name).read_text() == pages()[name]


def test_the_schema_for_editors_has_no_defaults() -> None:
    """An editor sends defaults as if they had been set, and would override the user's file with them."""
    properties = json.loads(pages()["settings.editor.json"])

    assert set(properties) == {f"stet.{name}" for name in KEYS if name not in TABLES} - {
        f"stet.{name}" for name in NOT_IN_VSCODE
    }
    assert {each["default"] for each in properties.values()} == {None}
    assert properties["stet.sandbox.minimum_level"]["scope"] == "machine", "a workspace cannot set it"
    assert properties["stet.deadline"]["scope"] == "resource"


def test_no_schema_offers_api_keys_in_files() -> None:
    schema = json.loads(pages()["settings.schema.json"])

    assert "api_key_env" in schema["$defs"]["Provider"]["properties"]
    assert "api_key" not in schema["$defs"]["Provider"]["properties"]
