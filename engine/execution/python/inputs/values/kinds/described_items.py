"""The items of a list as a docstring describes them: `a bid is (name, amount)`, `each is (day, cents)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from stet_ls.engine.execution.python.inputs.subject import Function

_ITEM = re.compile(
    r"(?i)\b(?:an? (?P<noun>\w+)|(?P<each>each|every)(?: (?P<of>\w+))?) (?:is|are) \((?P<parts>[^()]+)\)"
)
_LIST_OF = re.compile(
    r"(?i)`?(?P<name>\w+)`?(?: is| are|:|,) (?:a list of |lists? of )?\((?P<parts>[^()]+)\)(?: pairs| tuples)?"
)
_PART = re.compile(r"\s*(\w+)")
_PLAIN = {"int", "str", "float", "bool", "list[str]"}
_NO_LIST = frozenset({
    "contents", "letters", "bits", "digits", "characters", "chars", "brackets", "parentheses", "address", "status",
    "class", "process", "access", "success", "progress", "basis", "css", "dns", "this", "args", "kwargs", "series",
    "bytes",
})  # fmt: skip
"""Names in the plural, or that seem so, of what is seldom a list."""


def is_plural(name: str) -> bool:
    """Whether a name says that a parameter holds several things."""
    last = name.lower().rpartition("_")[2]
    return len(last) > 3 and last.endswith("s") and not last.endswith("ss") and last not in _NO_LIST


def described_item(name: str, node: ast.AST, kind_of: Callable[[str], str]) -> tuple[str, ...]:
    """The kinds of the parts of an item of a parameter, as hints, if the docstring of `node` names them; else ().

    `kind_of` gives the kind that a name suggests; "" stands for a part whose name suggests none.
    """
    docs = (ast.get_docstring(node) or "").partition(">>>")[0] if isinstance(node, Function) else ""
    parts = next((each["parts"] for each in _ITEM.finditer(docs) if _is_of(each["noun"] or each["of"], name)), "")
    parts = parts or next((each["parts"] for each in _LIST_OF.finditer(docs) if each["name"] == name), "")
    words = [match[1] for each in parts.split(",") if (match := _PART.match(each))]
    if len(words) < 2 or len(words) != parts.count(",") + 1:
        return ()
    return tuple(kind if kind in _PLAIN else "" for kind in map(kind_of, words))


def _is_of(noun: str | None, name: str) -> bool:
    """Whether a noun in the singular is an item of what a name in the plural holds; any parameter for `each is`."""
    if not noun:
        return True
    noun, last = noun.lower(), name.lower().rpartition("_")[2]
    return last in (noun, f"{noun}s", f"{noun}es", f"{noun[:-1]}ies")
