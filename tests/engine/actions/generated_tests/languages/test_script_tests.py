"""The tests of a JavaScript text by their names."""

from __future__ import annotations

import pytest

from stet_ls.engine.actions.generated_tests.languages.script_tests import named_tests

TEXT = """\
describe('suite', () => {
  it.only("inner", async () => { check(1); });
  for (const each of CASES) test(each.name, () => check(each));
});
test(`whole`, { skip: true }, (t) => { check(2); });
pattern.test('not a test', () => 1);
test('todo');
"""


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_tests_are_calls_with_a_name_that_is_written_out(language: str) -> None:
    found = named_tests(TEXT, language)
    assert [*found] == ["suite", "suite.inner", "whole"]
    assert found["suite.inner"] == 'it.only("inner", async () => { check(1); })'


def test_a_deep_text_is_read() -> None:
    assert named_tests("[" * 3000 + "]" * 3000 + "\ntest('a', () => 1);\n", "javascript").keys() >= {"a"}
