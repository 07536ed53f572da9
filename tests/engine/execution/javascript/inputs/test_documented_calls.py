"""Calls with their results are read from doc comments and from what a user says; nothing is guessed."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.javascript.inputs.known_calls.documented_calls import documented_calls, stated_calls

DOC = """/**
 * Adds.
 * @example
 * add(1, 2) // => 3
 * add([1], {a: 2}); // [1]
 * add(2, 2) returns 4. It is fine. add(0, 0) is 0.
 * >>> add(5)
 * "x"
 * add(-1) throws a RangeError
 * `add(9)` → `[9, "a"]`
 * add(7) = add(8), add(x) => 1 for a x, add(6) is fast
 * add([2], (x) => x + 1) equals 7
 * add(3) => 3 or add(3) => 4
 */
export function add(a, b) { return a; }
"""


def test_forms_of_documentation_are_read() -> None:
    found = {each.source: each.want or each.error for each in documented_calls(DOC, "javascript", "add")}
    assert found == {
        "add(1, 2)": "3", "add([1], {a: 2})": "[1]", "add(2, 2)": "4", "add(0, 0)": "0", "add(5)": '"x"',
        "add(-1)": "RangeError", "add(9)": '[9, "a"]', "add([2], (x) => x + 1)": "7",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "want", "certain"),
    [
        ("add(2, 3) returns 6 instead of 5", "5", True),
        ("add(2) should return 4 but returns 3", "4", True),
        ("add(1) gives 2, expected 3", "3", True),
        ("add(1) returns 3", "3", False),
    ],
)
def test_what_a_user_says_is_read(words: str, want: str, *, certain: bool) -> None:
    (found,) = stated_calls(words, "add", from_user=True)
    assert (found.want, found.certain) == (want, certain)
    assert stated_calls(found.text, "add")[0].want == stated_calls(found.text, "")[0].want == want


def test_methods_are_called_on_new_objects() -> None:
    (found,) = stated_calls("new Cart(1).total() => 3, total() => 4", "Cart.total")
    assert found.source == "new Cart(1).total()"
