"""JavaScript for the loop: a module without its bodies, its tests, and whether Node can load it for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.actions.thorough.guard import Count
from stet_ls.engine.sandbox.runners import expected
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import units
from stet_ls.validators.units import Unit, tree_of

_HIDDEN = "{ /* hidden */ }"
_KEPT = frozenset({"import_statement", "hash_bang_line"})
_LARGEST = 1_000_000
_ASSERTS = re.compile(r"\b(?:assert(?:\.\w+)*|expect)\s*\(")
_NODE = (("test", 'import test from "node:test";'), ("assert", 'import assert from "node:assert/strict";'))


def specification(before: str, after: str, unit: str) -> str | None:
    """The candidate without bodies and without words of its own; None if it does not hold `unit` at its top."""
    source, told = Source(after), {each.qualified: each.doc for each in units(Source(before), "javascript")}
    found = units(source, "javascript")
    parsed = tree_of(source, "javascript")
    if parsed is None or unit.partition(".")[0] not in {each.qualified for each in found}:
        return None
    cuts = list(_bodies(found))
    cuts += [Splice(each.doc_span, "") for each in found if each.doc_span and told.get(each.qualified) != each.doc]
    for node in parsed.root.named_children:
        span = Span(node.start_byte, node.end_byte)
        holds = any(span.overlaps(each.span) for each in found)
        if not holds and node.type not in _KEPT and source.slice(span) not in before:
            cuts.append(Splice(span, ""))
    return source.splice(_outermost(cuts)).text


def _bodies(found: tuple[Unit, ...]) -> Iterator[Splice]:
    yield from (Splice(each.body, _HIDDEN) for each in found if each.body is not None and each.kind != "class")


def _outermost(cuts: list[Splice]) -> list[Splice]:
    """Those that lie within no other."""
    kept: list[Splice] = []
    for cut in sorted(cuts, key=lambda each: (each.span.start, -each.span.end)):
        if not kept or cut.span.start >= kept[-1].span.end:
            kept.append(cut)
    return kept


def new_unit(before: str, after: str) -> str:
    """The first function or class that a candidate added at the top of a module; "" if there is none."""
    known = {each.qualified for each in units(Source(before), "javascript")}
    fresh = (each.qualified for each in units(Source(after), "javascript") if each.qualified not in known)
    return next((name for name in fresh if "." not in name), "")


def unloadable(path: Path, text: str, unit: str) -> str:
    """Why no test could import `unit` from a text at `path`, in words; "" if one can."""
    name = re.escape(unit.partition(".")[0])
    module = re.search(rf"^\s*export\b[^;\n]*\b{name}\b", text, re.MULTILINE) is not None
    common = re.search(rf"(?:module\.)?exports(?:\.{name}\b|\s*=[^;]*\b{name}\b)", text) is not None
    if not module and not common:
        return f"`{unit}` is not exported, so no test can import it"
    if module and path.suffix == ".js" and not _is_module(path):
        return "Node reads a .js file as a module only below a package.json that says so"
    return ""


def _is_module(path: Path) -> bool:
    for folder in path.parents:
        try:
            told = json.loads(read_regular(folder / "package.json", most=_LARGEST))
        except (OSError, ValueError):
            continue
        return isinstance(told, dict) and told.get("type") == "module"
    return False


def tests(code: str) -> tuple[str, ...]:
    """The names of the tests, below those of the blocks around them."""
    return tuple(expected.javascript(code))


def ready(code: str) -> str:
    """The tests with the imports that models leave out."""
    missing = [line for name, line in _NODE if f"node:{name}" not in code and re.search(rf"\b{name}\b", code)]
    return "\n".join([*missing, code])


def count(text: str) -> Count:
    """What a text tests."""
    names = tests(text)
    return Count(len(names), len(_ASSERTS.findall(text)) if names else 0)
