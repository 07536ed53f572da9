"""Small edits of a function: each kind of everyday bug is one of them, and the rest of the text stays as it is."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from stet_ls.engine.actions.syntax_edits.edit import EditedFunction
from stet_ls.engine.actions.syntax_edits.edits import edits_of, functions_in
from stet_ls.validators.source import Source

BUGS = {
    "operator": ("return a - b", "return a + b"),
    "operator next to a comment": (
        "return (a\n        # a - b\n        - b)",
        "return (a\n        # a - b\n        + b)",
    ),
    "comparison": ("return a <  b", "return a <=  b"),
    "membership": ("return a in b", "return a not in b"),
    "connective": ("return a and b", "return a or b"),
    "chain of connectives": ("return a and b and a", "return a or b or a"),
    "condition": ("if a:\n        return b", "if not a:\n        return b"),
    "off by one": ("return range(len(a))", "return range(len(a) + 1)"),
    "bound of a slice": ("return a[1:b]", "return a[1:b + 1]"),
    "bound too much": ("return a[1:]", "return a[:]"),
    "constant": ("return a * 3", "return a * 4"),
    "nearby text": ("a.x('-')\n    return a.y('+')", "a.x('+')\n    return a.y('+')"),
    "truth": ("return a(b, True)", "return a(b, False)"),
    "name": ("return a + a", "return a + b"),
    "misspelled name": ("total = a\n    return totl", "total = a\n    return total"),
    "misspelled attribute": ("return a.apend(b)", "return a.append(b)"),
    "method of a pair": ("return a.startswith(b)", "return a.endswith(b)"),
    "function of a pair": ("return min(a, b)", "return max(a, b)"),
    "arguments swapped": ("return b(a, a + 1)", "return b(a + 1, a)"),
    "argument too much": ("return range(1, b)", "return range(b)"),
    "keyword missing": ("return sorted(a)", "return sorted(a, reverse=True)"),
    "call missing": ("return a", "return sorted(a)"),
    "call too much": ("return sorted(a)", "return a"),
    "return missing": ("sorted(a)", "return sorted(a)"),
    "result missing": ("total = a", "total = a\n    return total"),
    "return within a loop": (
        "for each in a:\n        b += each\n        return b",
        "for each in a:\n        b += each\n    return b",
    ),
    "statement outside a loop": (
        "for each in a:\n        b += each\n    a += 1\n    return b",
        "for each in a:\n        b += each\n        a += 1\n    return b",
    ),
    "statements swapped": ("a.x()\n    b.y()", "b.y()\n    a.x()"),
    "statement too much": ("a.x()\n    b.y()", "b.y()"),
    "break": ("for each in a:\n        break", "for each in a:\n        continue"),
    "too much of a sum": ("return a + b", "return a"),
    "tuple swapped": ("a, b = b", "b, a = b"),
}


def texts(text: str) -> set[str]:
    """What all edits make of the functions of a text."""
    source = Source(text)
    functions = [EditedFunction(source, node) for node in functions_in(ast.parse(text))]
    edits = [edit for function in functions for edit in edits_of(function)]
    return {source.splice(sorted(edit.splices, key=lambda each: each.span)).text for edit in edits}


@pytest.mark.parametrize(("broken", "fixed"), BUGS.values(), ids=list(BUGS))
def test_one_edit_fixes_an_everyday_bug(broken: str, fixed: str) -> None:
    head = 'def f(a, b):\n    """Not 1 + 1."""\n    '
    assert f"{head}{fixed}\n" in texts(f"{head}{broken}\n")


def test_a_default_that_all_calls_share_is_created_per_call() -> None:
    text = 'def f(x, found=[]):\n    """Doc."""\n    found.append(x)\n    return found\n'
    fixed = 'def f(x, found=None):\n    """Doc."""\n    if found is None:\n        found = []\n    found.append(x)\n'
    assert f"{fixed}    return found\n" in texts(text)


def test_a_missing_await_is_added() -> None:
    assert "async def f(a):\n    return await a.read()\n" in texts("async def f(a):\n    return a.read()\n")


def test_places_are_bytes_and_line_ends_stay() -> None:
    text = "class Größe:\r\n    def f(self):\r\n        return 'ä€' + self.x\r\n"
    assert text.replace("+", "-") in texts(text)


def test_most_edits_are_python_and_documentation_stays() -> None:
    text = dedent(
        '''
        def f(xs, n=1):
            """Text with 1 + 1 in it."""
            found = [x for x in xs if x > n and x != 3]
            if not found:
                return None
            return sum(found[1:]) / len(found)
        '''
    )
    made = texts(text)
    parsed = [each for each in made if _parses(each)]
    assert len(parsed) > 0.95 * len(made) > 50
    assert all("Text with 1 + 1 in it." in each for each in made)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
