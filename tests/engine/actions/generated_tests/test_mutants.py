"""Mutants are bugs: each parses, differs from the text and from the others, and leaves the documentation alone."""

from __future__ import annotations

import ast

from stet_ls.engine.actions.generated_tests.mutants import mutants_of

TEXT = '''
LIMIT = 3


def f(xs, n=1):
    """Text with 1 + 1 in it."""
    found = []
    for x in xs:
        if x > n and x != LIMIT:
            found.append(x + 1)
    return found
'''


def test_each_mutant_has_one_change_and_all_kinds_occur() -> None:
    mutants = mutants_of(TEXT, "f")
    texts = {mutant.text for mutant in mutants}
    assert len(texts) == len(mutants) >= 9
    assert ast.unparse(ast.parse(TEXT)) not in texts
    assert all("Text with 1 + 1 in it." in text and "LIMIT = 3" in text for text in texts)
    changes = " ".join(mutant.change for mutant in mutants)
    for kind in (
        "Gt became GtE",
        "And became Or",
        "Add became Sub",
        "condition negated",
        "`x > n` is always true",
        "`x != LIMIT` is always false",
        "returns None",
        "removed `found",
    ):
        assert kind in changes


def test_a_limited_choice_of_mutants_is_repeatable() -> None:
    assert mutants_of(TEXT, "f", most=4) == mutants_of(TEXT, "f", most=4)
    assert len(mutants_of(TEXT, "f", most=4)) == 4
    assert mutants_of("def f(:", "f") == mutants_of(TEXT, "nowhere") == []
