"""Texts for what a code has parsed."""

from __future__ import annotations

import ast

import pytest

from stet_ls.engine.execution.python.inputs.values.texts.parsed_texts import parsed_texts

CASES = {
    "json.loads(text)": "[1, 2]",
    "{'RNC': 1}.get(json.loads(text))": '{"RNC": 0}',
    "ip_address(text)": "::1",
    "base64.b64decode(text)": "YWI=",
    "data.decode(text)": "latin-1",
    "email.utils.parsedate_tz(text)": "Sun, 06 Nov 1994 08:49:37 GMT",
}


@pytest.mark.parametrize("code", CASES)
def test_what_a_function_parses(code: str) -> None:
    assert CASES[code] in parsed_texts(ast.parse(code))


def test_a_constant_codec_asks_for_none() -> None:
    assert parsed_texts(ast.parse("text.encode('utf-8')")) == ()


def test_a_handled_overflow_asks_for_numbers_that_are_too_large() -> None:
    code = "try:\n    f(text)\nexcept (ValueError, OverflowError):\n    pass"
    assert "1e400" in parsed_texts(ast.parse(code))
    assert "1e400" not in parsed_texts(ast.parse(code.replace(", OverflowError", "")))
