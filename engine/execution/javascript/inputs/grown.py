"""Calls with two sizes of large arguments, whose times tell how the cost grows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stet_ls.engine.execution.harness_run import Call, GrownCall
from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.engine.execution.javascript.inputs.guided_changes import argument_literals
from stet_ls.engine.execution.javascript.inputs.values.conversion import source
from stet_ls.engine.execution.python.inputs.grown import LARGER, SMALLER
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units
from stet_ls.validators.structure.units import tree_of

_MOST, _LOOKED_AT = 8, 120
_LOOPS = re.compile(
    r"\b(?:for|while|do)\b|\.(?:map|filter|reduce(?:Right)?|forEach|some|every|find\w*|flatMap|includes|indexOf|sort)\("
)


def grown_calls(calls: Sequence[Call], texts: tuple[str, str], language: str, unit: str) -> tuple[GrownCall, ...]:
    """Some of the calls of a unit with larger arguments, of different kinds; none if neither text has a loop."""
    if not any(_LOOPS.search(_own(text, language, unit)) for text in texts):
        return ()
    found: dict[str, GrownCall] = {}
    for number, call in enumerate(calls[:_LOOKED_AT]):
        parsed = None if call.again or not call.setup else tree_of(Source(call.setup), "typescriptreact")
        if parsed is None:
            continue
        data, kind = parsed.data, []
        for node, value in reversed(list(argument_literals(parsed.root))):
            if text := _grown(value):
                data = data[: node.start_byte] + text.encode() + data[node.end_byte :]
                kind.append(re.sub(r"\d+", "0", text))
        key = "\n".join(kind)
        if kind and key not in found:
            setup = data.decode("utf-8", "replace").removesuffix("\n")
            sizes = [setup.replace("_SIZE_", str(size)) for size in (SMALLER, LARGER)]
            found[key] = GrownCall(number, call.body, sizes[0], sizes[1])
    return tuple(found.values())[:_MOST]


def _own(text: str, language: str, unit: str) -> str:
    read = Source(text)
    return next((read.slice(each.span) for each in units(read, language) if each.qualified == unit), "")


def _grown(value: Any) -> str:
    """The source of a large value like this one, with different items; "" if it has no size."""
    if isinstance(value, str) and value:
        return 'Array.from({ length: _SIZE_ }, (_, n) => "w" + n).join(" ")'
    if isinstance(value, list) and value:
        return f"Array.from({{ length: _SIZE_ }}, (_, n) => ({_item(value[0])}))"
    return ""


def _item(value: Any) -> str:
    """An item like this one that depends on its number `n`."""
    if isinstance(value, bool) or value is None:
        return source(text_of(value))
    if isinstance(value, int | float):
        return "n * 7919 % 100003"
    if isinstance(value, str):
        return '"k" + n'
    if isinstance(value, list):
        return "[" + ", ".join(map(_item, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source(text_of(str(key)))}: {_item(each)}" for key, each in value.items()) + "}"
    return source(text_of(value))
