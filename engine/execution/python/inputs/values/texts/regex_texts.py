"""Texts that the regular expressions of the code match: blind draws almost never do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from random import Random
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.python.inputs.subject import Module
from stet_ls.validators.ast_text import unparse

SEARCHES = frozenset({"match", "fullmatch", "search", "findall", "finditer"})
"""The methods of a pattern, or functions of `re`, whose text has to match."""
_FUNCTIONS = SEARCHES | {"compile", "sub", "subn", "split"}
_PER_PATTERN, _MOST, _REPEATS = 40, 80, 3
_CATEGORIES = {op.CATEGORY_DIGIT: "0123456789", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "abcXY019_",
               op.CATEGORY_NOT_DIGIT: "ab -", op.CATEGORY_NOT_SPACE: "ab1.", op.CATEGORY_NOT_WORD: " -."}  # fmt: skip
_ANY = "ab1 .-"


def matching_texts(module: Module, node: ast.AST, seed: int) -> tuple[str, ...]:
    """Texts, as literals, that the patterns match which a part of a module writes, or uses by name."""
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    found = (text for pattern in patterns_of(module, node) for text in _matched_by(pattern, random))
    return tuple(dict.fromkeys(map(repr, found)))[:_MOST]


def texts_matched_by(pattern: re.Pattern[str]) -> Iterator[str]:
    """Some texts that a pattern matches, the same each time."""
    return _matched_by(pattern, Random(len(pattern.pattern)))  # noqa: S311 - inputs must be reproducible


def patterns_of(module: Module, node: ast.AST) -> Iterator[re.Pattern[str]]:
    """The patterns that a part of a module writes, or uses by name."""
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    named = [value for name, value in module.values.items() if name in used]
    bare = {part.asname or part.name: part.name for each in module.tree.body
            if isinstance(each, ast.ImportFrom) and each.module == "re" for part in each.names}  # fmt: skip
    for each in (call for part in (node, *named) for call in ast.walk(part)):
        if isinstance(each, ast.Call) and each.args and _function_of_re(each.func, bare) in _FUNCTIONS:
            pattern = literal(unparse(each.args[0]))
            if isinstance(pattern, str) and (compiled := _compiled(pattern, each)) is not None:
                yield compiled


def _function_of_re(called: ast.expr, bare: Mapping[str, str]) -> str:
    """The name of a function of `re` that is called, or that was imported from it; "" for any other."""
    if isinstance(called, ast.Attribute):
        return called.attr if getattr(called.value, "id", "") == "re" else ""
    return bare.get(getattr(called, "id", ""), "")


def _compiled(pattern: str, call: ast.Call) -> re.Pattern[str] | None:
    """A pattern with the flags that are named among its call's arguments."""
    named = (part.attr for each in (*call.args[1:], *(word.value for word in call.keywords)) for part in ast.walk(each)
             if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "re")  # fmt: skip
    flags = (getattr(re, each) for each in named if isinstance(getattr(re, each, None), re.RegexFlag))
    try:
        return re.compile(pattern, reduce(or_, flags, re.NOFLAG))
    except (re.error, OverflowError, RecursionError):
        return None


def _matched_by(pattern: re.Pattern[str], random: Random) -> Iterator[str]:
    """Some texts that a pattern matches; what looks around is left to chance."""
    parsed = parser.parse(pattern.pattern, pattern.flags)
    for _ in range(_PER_PATTERN):
        text = _text(parsed, {}, random)
        if pattern.search(text):
            yield text


def _text(items: Iterable[tuple[Any, Any]], groups: dict[int, str], random: Random) -> str:
    return "".join(_part(kind, value, groups, random) for kind, value in items)


def _part(kind: Any, value: Any, groups: dict[int, str], random: Random) -> str:
    """A text for one part of a parsed pattern; "" for what takes no letters."""
    match kind:
        case op.LITERAL:
            return chr(value)
        case op.NOT_LITERAL:
            return random.choice([each for each in _ANY if ord(each) != value])
        case op.ANY:
            return random.choice(_ANY)
        case op.IN:
            return random.choice(_letters(value) or " ")
        case op.BRANCH:
            return _text(random.choice(value[1]), groups, random)
        case op.SUBPATTERN:
            text = _text(value[3], groups, random)
            groups[value[0]] = text
            return text
        case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
            least, most, inner = value
            count = random.randint(least, min(most, max(least, 1) + _REPEATS))
            return "".join(_text(inner, groups, random) for _ in range(count))
        case op.ATOMIC_GROUP:
            return _text(value, groups, random)
        case op.GROUPREF:
            return groups.get(value, "")
    return ""


def _letters(members: list[tuple[Any, Any]]) -> str:
    """Some of the letters of a set such as `[a-z_]` or `[^,]`."""
    found = ""
    for kind, value in members:
        if kind is op.LITERAL:
            found += chr(value)
        elif kind is op.RANGE:
            low, high = value
            found += "".join(map(chr, range(low, min(high, low + 2) + 1))) + chr(high)
        elif kind is op.CATEGORY:
            found += _CATEGORIES[value]
    if members[0][0] is op.NEGATE:
        return "".join(each for each in _ANY + "xyz_,;/" if each not in found)
    return found
