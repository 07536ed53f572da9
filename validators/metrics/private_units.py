"""Which units of a text are for their own file alone, by the rules of each language."""

from __future__ import annotations

import re
from collections.abc import Callable

from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.structure.units import UnitNode

PYTHON_VARIABLE = re.compile(rb"^(_[A-Za-z]\w*)[ \t]*(?::[^=\n]{1,200})?=(?!=)", re.MULTILINE)

IsPrivate = Callable[[Parsed, UnitNode, "UnitNode | None"], bool]
"""True if a unit is for its own file alone. The argument is the class around it, None at top level."""


def python(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """An underscore, unless a base class or a decorator may use the unit."""
    name = one.unit.name
    if not name.startswith("_") or name.startswith("__") or _is_decorated(one):
        return False
    # The base class may call the method.
    return around is None or around.node.child_by_field_name("superclasses") is None


def _is_decorated(one: UnitNode) -> bool:
    parent = one.node.parent
    return parent is not None and parent.type == "decorated_definition"


_MODULE = re.compile(rb"^(?:import|export)\b", re.MULTILINE)


def ecmascript(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """`#` and `private` in a class; what a module does not export."""
    if one.unit.name.startswith("#") or re.match(r"private\b", one.unit.signature):
        return one.unit.kind == "method" and one.unit.name != "constructor"
    exported = parsed.data[one.unit.span.start : one.unit.span.end].lstrip().startswith((b"export", b"@", b"/**"))
    is_top = "." not in one.unit.qualified and one.node.parent is not None and one.node.parent.type == "program"
    return is_top and not exported and bool(_MODULE.search(parsed.data))


_KEYWORD = re.compile(r"(?:^|\s)private\s")


def by_keyword(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """Java, Kotlin, Swift, PHP: by a word in the head; a framework may call annotated code."""
    head = parsed.data[one.unit.span.start : one.node.start_byte + 1]
    return (
        one.unit.kind != "class"
        and "@" not in one.unit.signature
        and b"[" not in head
        and bool(_KEYWORD.search(one.unit.signature))
        and (around is None or one.unit.name != around.unit.name)
        and one.unit.name not in _CALLED_BY_THE_RUNTIME
    )


_CALLED_BY_THE_RUNTIME = frozenset({"readObject", "writeObject", "readResolve", "writeReplace", "readObjectNoData"})


def csharp(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """C#: as the others; another file may hold a part of the class."""
    return b"partial " not in parsed.data and by_keyword(parsed, one, around)


def c(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """`static` functions."""
    return around is None and one.unit.kind == "function" and bool(re.match(r"static\b", one.unit.signature))


def go(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """Functions in lower case."""
    name = one.unit.name
    return one.unit.kind == "function" and name[:1].islower() and name not in ("main", "init")


def rust(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """Functions without `pub`; an attribute may use one."""
    head = parsed.data[one.unit.span.start : one.node.start_byte]
    return (
        around is None
        and one.node.type == "function_item"
        and not re.search(r"\b(?:pub|extern)\b", one.unit.signature)
        and one.unit.name != "main"
        and b"#[" not in head
    )


def lua(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    """`local` functions."""
    return one.unit.signature.startswith("local function")
