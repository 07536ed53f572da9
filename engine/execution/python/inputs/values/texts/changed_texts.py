"""Texts that what changed in a unit decides on: entries of tables, words, letters in regular expressions.

A table in which one entry changed is the same for all other keys, and a pattern with one more letter for all texts
without it: inputs drawn without knowing of the change seldom have either.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from stet_ls.engine.execution.python.inputs.examples import literals, named_literals
from stet_ls.engine.execution.python.inputs.subject import Module, Subject
from stet_ls.engine.execution.python.inputs.values.texts.regex_texts import patterns_of, texts_matched_by
from stet_ls.validators.ast_text import dump

_ALIKE = 0.5
"""From which similarity on two texts are taken for one that was edited."""
_LONGEST_PART, _PER_PATTERN, _MOST = 20, 6, 48


def changed_texts(old: tuple[Module, Subject], new: tuple[Module, Subject]) -> tuple[str, ...]:
    """The literals that a change of a unit, or of the constants that it uses, is about; the likeliest first."""
    sides = [(*literals(subject.node), *named_literals(module, subject)) for module, subject in (old, new)]
    added, gone = ([each for each in side if each not in other] for side, other in (sides, sides[::-1]))
    words = [each for each in (*added, *gone) if each[0] in "'\""]
    found = [*_changed_keys(old, new), *added, *gone, *_edited_parts(words), *_patterned(old, new)]
    return tuple(dict.fromkeys(found))[:_MOST]


def _changed_keys(old: tuple[Module, Subject], new: tuple[Module, Subject]) -> Iterator[str]:
    """The keys of dictionaries whose values are not the same in both texts."""
    sides = [dict(_entries(*side)) for side in (old, new)]
    for key in dict.fromkeys((*sides[0], *sides[1])):
        if sides[0].get(key) != sides[1].get(key):
            yield key


def _entries(module: Module, subject: Subject) -> Iterator[tuple[str, str]]:
    """The keys with their values, in all dictionaries that a unit writes or names."""
    used = {each.id for each in ast.walk(subject.node) if isinstance(each, ast.Name)}
    parts = (subject.node, *(value for name, value in module.values.items() if name in used))
    for each in (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Dict)):
        for key, value in zip(each.keys, each.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str | bytes | int | float):
                yield repr(key.value), dump(value)


def _edited_parts(words: list[str]) -> Iterator[str]:
    """What is in one of two similar texts and not in the other."""
    values = [value for each in words if isinstance(value := ast.literal_eval(each), str)]
    for number, one in enumerate(values):
        for other in values[number + 1 :]:
            matcher = SequenceMatcher(None, one, other, autojunk=False)
            if matcher.quick_ratio() < _ALIKE or matcher.ratio() < _ALIKE:
                continue
            for kind, begin, end, start, stop in matcher.get_opcodes():
                parts = () if kind == "equal" else (one[begin:end], other[start:stop])
                yield from (repr(part) for part in parts if 0 < len(part) <= _LONGEST_PART)


def _patterned(old: tuple[Module, Subject], new: tuple[Module, Subject]) -> Iterator[str]:
    """Texts that a pattern of one side alone matches."""
    sides = [
        {(each.pattern, each.flags): each for each in patterns_of(module, subject.node)}
        for module, subject in (old, new)
    ]
    for key in dict.fromkeys((*sides[0], *sides[1])):
        if key in sides[0] and key in sides[1]:
            continue
        texts = dict.fromkeys(texts_matched_by(sides[0].get(key) or sides[1][key]))
        yield from map(repr, list(texts)[:_PER_PATTERN])
