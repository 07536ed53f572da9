"""docs/messages.md is a page for people: its examples show values, and parts appear in their messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages.example_values import EXAMPLES, OF_FILE
from pages.message_table import messages, messages_in
from pages.messages_page import example, first_fragments, is_odd

ROOT = Path(__file__).resolve().parents[2]

CODE = """
def stopped(name):
    at = f" at the stage `{name}`" if name else ""
    raise DeadlineError(f"The job did not end and was stopped{at}; see the setting deadline.")
"""


def test_nearly_all_placeholders_have_example_values() -> None:
    names = [name for each in messages(ROOT) for name in re.findall(r"\{(\w+?)(?:_\d)?\}", each.text)]
    without = [name for name in names if name not in EXAMPLES]
    assert len(without) < len(names) / 50, f"add them to tests/pages/example_values.py: {sorted(set(without))}"


def test_an_example_is_never_the_name_of_its_placeholder() -> None:
    assert not [name for name, value in EXAMPLES.items() if value == name.replace("_", " ")]


def test_values_of_one_file_are_of_files_that_exist() -> None:
    assert all((ROOT / path).is_file() for path in OF_FILE)


def test_a_message_shows_the_part_that_its_variable_holds() -> None:
    found = messages_in("a.py", CODE)
    whole = next(each for each in found if each.kind == "error")
    assert "was stopped at the stage `" in example(whole, first_fragments(found))


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{name} is at {name_2}", "total is at \0"),
        ("{passing} tests pass", "4 tests pass tests pass"),
        ("no Python for the sandbox: {reasons}. Set it.", "no Python for the sandbox: . Set it."),
        ("{found} of {tried} examples", "5 of nothing examples"),
    ],
)
def test_an_odd_example_is_left_out(text: str, filled: str) -> None:
    assert is_odd(text, filled)


def test_a_plain_example_stays() -> None:
    assert not is_odd("{failed} of {tests} tests fail", "2 of 4 tests fail")
    assert not is_odd("unknown host {host}; try 127.0.0.1", "unknown host 0.0.0.0; try 127.0.0.1")


def test_two_values_of_one_name_have_two_names() -> None:
    (found,) = messages_in("a.py", 'text = f"Moved from {a.name} to {b.name}, and {a.name} is gone."')
    assert found.text == "Moved from {name} to {name_2}, and {name} is gone."
