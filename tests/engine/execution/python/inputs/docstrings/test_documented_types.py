"""Types of parameters in docstrings, in the forms of Google, Sphinx and NumPy."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.inputs.docstrings.documented_types import documented_types
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.validators.ast_text import unparse


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Counts.\n\n    Args:\n        name (str): Who.\n        age (int, optional): How old. Or 3.\n", "str int"),
        ("Counts.\n\n    :param str name: who\n    :type age: int or None\n", "str int|None"),
        ("F.\n\n    Parameters\n    ----------\n    name : list of str\n        Who.\n    age : float, default 2\n",
         "list[str] float"),
        ("Counts.\n\n    Args:\n        name (:class:`~datetime.date`): x.\n        age (list[int] or None): x.\n",
         "date list[int]|None"),
        ("Counts.\n\n    Args:\n        name (dict of str to ints): x.\n        age (int, float, str): x.\n",
         "dict[str,int] int|float|str"),
        ("Counts.\n\n    Args:\n        name (iterable of strings): x.\n        age (Tuple[int, str]): x.\n",
         "Iterable[str] Tuple[int,str]"),
        ("Counts.\n\n    Args:\n        name (list): x.\n        age (Node): x.\n", ""),
        ("Counts.\n\n    Args:\n        name (required): x.\n        age (see below): x.\n", ""),
        ("Counts.\n\n    name : the name of the person\n    age - how old (int)\n", ""),
    ],
)  # fmt: skip
def test_a_type_in_a_docstring_is_a_hint(doc: str, expected: str) -> None:
    found = documented_types(doc)
    assert " ".join(unparse(hint).replace(" ", "") for hint in found.values()) == expected
    assert list(found) == (["name", "age"] if expected else [])


def test_a_written_hint_counts_more_than_a_documented_one() -> None:
    text = 'def f(a, b: str, *, c):\n    """\n    :param int a: x\n    :param int b: x\n    :type c: bool\n    """\n'
    module = known_module(text)
    assert module is not None
    subject = subject_of(module, "f")
    assert subject is not None
    assert [each.annotation and unparse(each.annotation) for each in subject.parameters] == ["int", "str", "bool"]
