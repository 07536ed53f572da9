"""Texts made of those that the code names, as far as it does something that they are for."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.texts.derived_texts import derived_texts

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("does", "made"),
    [
        ("text.lower() == 'kb'", {"Kb", "KB"}),
        ("int(text[:-2]) if text[-2:] == 'kb' else 0", {"12kb", "3 kb"}),
        ("text.endswith('.py')", {"ab.py"}),
        (f"set('{ALPHABET}') <= set(text)", {ALPHABET, ALPHABET[1:], ALPHABET[:-1], ALPHABET[::-1]}),
        ("set(string.ascii_lowercase) <= set(text)", {ALPHABET, ALPHABET[1:], ALPHABET[:-1], ALPHABET[::-1]}),
        ("text == 'kb'", set[str]()),
    ],
)
def test_texts_are_made_for_what_the_code_does(does: str, made: set[str]) -> None:
    module = known_module(f"import string\n\ndef f(text):\n    return {does}\n")
    assert module is not None
    subject = subject_of(module, "f")
    assert subject is not None
    assert set(derived_texts(module, subject)) == set(map(repr, made))
