"""The kinds of values that names suggest."""

from __future__ import annotations

import re

_NAMES = (
    (r"n|m|k|i|j|x|y|z|a|b|c|num|number|count|size|index|idx|limit|length|width|height|year|month|day|age|depth|step"
     r"|start|stop|end|low|high|lo|hi|left|right|base|exp|max\w*|min\w*|\w*_(count|size|id|index)|seconds|offset|target",
     "int"),
    (r"s|t|st|txt|text|string|str\w*|name|word|line|path|key|prefix|suffix|sep|char|ch|letter|title|message|msg|sentence"
     r"|pattern|url|source|token|label|\w*_(name|text|str|string)|paragraph|brackets|date|planet\w*|dna", "str"),
    (r"(is|has|with|should|use|allow|no)_\w+|flag|verbose|strict|reverse|ascending|inclusive", "bool"),
    (r"price|rate|ratio|amount|total|weight|score|threshold|tolerance|eps\w*|factor|percent\w*|temperature|radius",
     "float"),
    (r"words|names|lines|strings|tokens|keys|labels|\w*_names|texts|strs", "list[str]"),
    (r"matrix|grid|rows|table|board|intervals|points|edges|pairs|lists|lst_of_lists", "list[list[int]]"),
    (r"numbers|nums|values|items|xs|ys|lst|l|arr|array|list\w*|data|seq\w*|elements|prices|scores|vector|ints|array\w*",
     "list[int]"),
    (r"d|dic|dict\w*|mapping|map|config|options|counts|settings|record|graph|params", "dict[str, int]"),
    (r"f|fn|func\w*|callback|predicate|key_?func\w*|op|handler", "Callable"),
)  # fmt: skip


def named_kind(name: str) -> str:
    """The kind that a name suggests, as a hint; "" for none."""
    return next((kind for pattern, kind in _NAMES if re.fullmatch(pattern, name.lower())), "")
