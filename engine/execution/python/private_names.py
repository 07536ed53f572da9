"""Private attributes of a class that a rewrite replaces: then objects are compared by their methods, not by these."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from stet_ls.engine.execution.python.inputs.subject import Module, known_module


def comparable_unit(texts: tuple[str, str], unit: str, others: Iterable[str]) -> str:
    """The unit; its class, if the unit is a method and a private attribute of that class has another name now.

    Not if one of the `others`, texts of the project, reads that attribute.
    """
    owner, _, method = unit.partition(".")
    modules = [known_module(text) for text in texts]
    if not method or any(module is None or owner not in module.shapes for module in modules):
        return unit
    words = [set(re.findall(r"\w+", text)) for text in texts]
    gone = {name for module in modules[:1] if module for name in _private(module, owner)} - words[1]
    added = {name for module in modules[1:] if module for name in _private(module, owner)} - words[0]
    is_read = any(re.search(rf"\.{re.escape(name)}\b", text) for text in others for name in gone)
    return owner if gone and added and not is_read else unit


def _private(module: Module, owner: str) -> set[str]:
    nodes = ast.walk(module.shapes[owner].node)
    return {each.attr for each in nodes if isinstance(each, ast.Attribute) and re.match(r"_(?!_)", each.attr)}
