"""Texts made of those that a unit names: in other letters, behind a number, at the end of a name, letter by letter."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator

from stet_ls.engine.execution.python.inputs.examples import literals, named_literals
from stet_ls.engine.execution.python.inputs.subject import Module, Subject

_CASES = {"lower", "upper", "casefold"}
_CONVERTS = {"int", "float", "Decimal"}
_ENDS = {"endswith", "removesuffix"}
_LETTERS = {name: getattr(string, name) for name in ("ascii_lowercase", "ascii_uppercase", "ascii_letters", "digits")}
_MOST, _LONGEST, _LEAST_LETTERS = 8, 16, 10


def derived_texts(module: Module, subject: Subject) -> list[str]:
    """The texts as literals; none if the code does nothing that they are for."""
    own = (*literals(subject.node), *named_literals(module, subject))
    words = [value for each in dict.fromkeys(own) if each[0] in "'\"" and (value := ast.literal_eval(each))]
    return list(dict.fromkeys(map(repr, _derived(subject.node, words))))


def _derived(node: ast.AST, words: list[str]) -> Iterator[str]:
    short = [each for each in words if len(each) <= _LONGEST]
    called = {getattr(each.func, "id", getattr(each.func, "attr", "")) for each in ast.walk(node)
              if isinstance(each, ast.Call)}  # fmt: skip
    if called & _CASES:
        cased = [each for each in short if each.upper() != each.lower()][:_MOST]
        yield from (form for each in cased for form in (each.title(), each.upper()))
    if called & _CONVERTS:
        units = [each for each in short if re.fullmatch(r"[^\W\d_]+|[%$]", each)][:_MOST]
        yield from (form for each in units for form in (f"12{each}", f"3 {each}"))
    if called & _ENDS:
        yield from (f"ab{each}" for each in short[:_MOST])
    names = {getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node)}
    for letters in (*words, *(text for name, text in _LETTERS.items() if name in names)):
        if len(letters) >= _LEAST_LETTERS and len({*letters}) == len(letters) and len(letters.split()) <= 1:
            yield from (letters.strip(), letters[1:], letters[:-1], letters[::-1])
