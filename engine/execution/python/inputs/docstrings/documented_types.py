"""The types that a docstring gives for parameters, in the three usual forms, as hints.

Args:                        :param str name: ...         Parameters
    name (str): ...          :type name: str              ----------
                                                          name : str
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from stet_ls.validators.ast_text import try_parse_expression

_FORMS = (
    re.compile(r"(?m)^[ \t]+[*]{0,2}(?P<name>\w+)[ \t]*\((?P<type>[^\n]*?)\)[ \t]*(?::|--?[ \t])"),
    re.compile(r"(?m)^[ \t]*:(?:param|parameter|arg)[ \t]+(?P<type>[^:\n]+?)[ \t]+[*\\]{0,4}(?P<name>\w+)[ \t]*:"),
    re.compile(r"(?m)^[ \t]*:type[ \t]+[*\\]{0,4}(?P<name>\w+)[ \t]*:[ \t]*(?P<type>[^\n]+)$"),
    re.compile(r"(?m)^[ \t]*[*]{0,2}(?P<name>\w+)[ \t]+:[ \t]+(?P<type>[^\n]+)$"),
)
_BESIDES = re.compile(r"(?i),?\s*\b(?:optional|required|keyword[- ]only)\b|,?\s*\bdefaults?\b.*$|:\w+:|[`~\\]|\.$")
"""What is said with the type, and the marks of a link."""
_OR = re.compile(r"\s*(?:,\s*or\b|\bor\b|[,|/])\s*(?![^\[(]*[\])])")
_OR_NONE = re.compile(r"(?i),?\s*(?:\bor|\|)\s*none$")
_PLAIN = {
    "str": "str", "string": "str", "text": "str", "unicode": "str", "int": "int", "integer": "int",
    "whole number": "int",
    "float": "float", "number": "int | float", "numeric": "int | float", "bool": "bool", "boolean": "bool",
    "bytes": "bytes", "none": "None", "callable": "Callable", "function": "Callable", "date": "date",
    "datetime": "datetime", "timedelta": "timedelta", "decimal": "Decimal", "complex": "complex",
}  # fmt: skip
_HOLDERS = {
    "list": "list", "sequence": "list", "array": "list", "collection": "list", "iterable": "Iterable",
    "iterator": "Iterator", "tuple": "tuple", "set": "set", "frozenset": "frozenset",
}  # fmt: skip
_OF = re.compile(rf"(?i)(?:an? )?(?P<holder>{'|'.join(_HOLDERS)})s? (?:of|with) (?P<item>.+)")
_TABLE = re.compile(r"(?i)(?:an? )?(?:dict|dictionary|mapping)s? (?:of|from) (?P<key>[\w ]+?) (?:to|->) (?P<value>.+)")
_GENERICS = frozenset(
    {"list", "dict", "set", "frozenset", "tuple", "List", "Dict", "Set", "FrozenSet", "Tuple", "Sequence", "Iterable",
     "Iterator", "Mapping", "Optional", "Union", "Collection", "Literal", "Callable"}
)  # fmt: skip


@lru_cache(maxsize=256)
def documented_types(doc: str) -> dict[str, ast.expr]:
    """The hints by parameter. A type that is not understood whole, or a container of unsaid items, gives none."""
    found: dict[str, ast.expr] = {}
    for form in _FORMS:
        for match in form.finditer(doc):
            text = _hint(_BESIDES.sub("", match["type"]).strip(" .,"))
            hint = try_parse_expression(text) if text else None
            if hint is not None:
                found.setdefault(match["name"], hint)
    return found


def _hint(words: str) -> str:
    """The hint that words say; "" for none."""
    if absent := _OR_NONE.search(words):
        return _filled("{} | None", words[: absent.start()])
    if table := _TABLE.fullmatch(words):
        return _filled("dict[{}, {}]", table["key"], table["value"])
    if held := _OF.fullmatch(words):
        holder = _HOLDERS[held["holder"].lower()]
        return _filled("tuple[{}, ...]" if holder == "tuple" else f"{holder}[{{}}]", held["item"])
    options = [each for each in _OR.split(words) if each.strip()]
    if len(options) > 1:
        return _filled(" | ".join("{}" for _ in options), *options)
    single = words.lower().removeprefix("a ").removeprefix("an ").rpartition(".")[2]
    if hint := _PLAIN.get(single) or _PLAIN.get(single.removesuffix("s")) or _PLAIN.get(single.removesuffix("es")):
        return hint
    return words if _is_generic(words) else ""


def _filled(form: str, *parts: str) -> str:
    """The form with the hints of all parts; "" if one says none."""
    hints = [_hint(each.strip()) for each in parts]
    return form.format(*hints) if all(hints) else ""


def _is_generic(words: str) -> bool:
    """Whether words are a hint as code has it, with what is in the container."""
    tree = try_parse_expression(words)
    return isinstance(tree, ast.Subscript) and all(map(_is_known, _names(tree)))


def _names(tree: ast.expr) -> Iterator[str]:
    return (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))


def _is_known(name: str) -> bool:
    return name in _GENERICS or name.lower() in _PLAIN
