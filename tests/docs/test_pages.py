"""The generated pages are those that the code makes now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pages.pages import PAGES

from stet_ls.engine.settings import KEYS, TABLES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    """To write them again: .venv/bin/python tests/pages"""
    assert (DOCS / name).read_text() == PAGES[name]()


def test_the_schema_for_editors_has_defaults_for_switches_alone() -> None:
    """A default looks as if it had been set. Switches need one for a checkbox; the extension sends only what is set."""
    properties = json.loads(PAGES["settings.editor.json"]())

    assert set(properties) == {f"stet.{name}" for name in KEYS if name not in TABLES}
    switches = {name for name, each in properties.items() if each["type"] == "boolean"}
    assert "stet.editor.code_lens" in switches
    assert all(each["default"] is None for name, each in properties.items() if name not in switches)
    assert all(
        each["default"] == KEYS[name.removeprefix("stet.")].default
        for name, each in properties.items()
        if name in switches
    )
    assert properties["stet.sandbox.minimum_level"]["scope"] == "machine", "a workspace cannot set it"
    assert properties["stet.deadline"]["scope"] == "resource"


def test_no_schema_offers_api_keys_in_files() -> None:
    schema = json.loads(PAGES["settings.schema.json"]())

    assert "api_key_env" in schema["$defs"]["Provider"]["properties"]
    assert "api_key" not in schema["$defs"]["Provider"]["properties"]
