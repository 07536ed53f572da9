"""Detects code that continues after the requested unit is complete: a small model that never ends its reply."""

from __future__ import annotations

from collections import Counter

from stet_ls.engine.reply.parsing.fences import FencedBlock, scan
from stet_ls.validators import structure
from stet_ls.validators.source import Source

_MOST_AFTER = 600
"""Bytes outside of any unit that may follow the requested one: a usage example is shorter."""
_MOST_DEFINED = 3
"""So many times in all: a first version, a corrected one, and no more."""


def continues_after_unit(reply: str, language: str, unit: str) -> bool:
    """True if a reply, so far, continues after the code of `unit`: with its definition again, or with other code.

    `unit` is the name of the requested unit, "" if the reply is new code of any name.
    """
    simple = unit.rpartition(".")[2]
    headers: Counter[str] = Counter()
    for block in scan(reply).blocks:
        again = _headers(block, language, simple)
        headers.update(again)
        if simple and (max(again.values(), default=0) > 1 or _after(block, language, simple) > _MOST_AFTER):
            return True
    return any(count >= _MOST_DEFINED for count in headers.values())


def _headers(block: FencedBlock, language: str, simple: str) -> Counter[str]:
    """How often a block defines each outermost unit that has that name (any, without one), by its first line."""
    return Counter(unit.signature for unit in _outermost(block, language) if simple in ("", unit.name) and unit.body)


def _after(block: FencedBlock, language: str, simple: str) -> int:
    """The bytes below the unit that belong to no other unit."""
    found = _outermost(block, language)
    own = next((unit for unit in found if unit.name == simple), None)
    if own is None:
        return 0
    after = [unit for unit in found if unit.span.start >= own.span.end]
    return (
        len(block.text.encode("utf-8", "replace"))
        - own.span.end
        - sum(each.span.end - each.span.start for each in after)
    )


def _outermost(block: FencedBlock, language: str) -> list[structure.Unit]:
    return [unit for unit in structure.units(Source(block.text), language) if unit.name == unit.qualified]
