"""The kinds of values that names suggest."""

from __future__ import annotations

import re

_NAMES = (
    (r"n|m|k|i|j|x|y|z|a|b|c|num|number|count|size|index|idx|limit|length|width|height|year|month|day|age|depth|step"
     r"|start|stop|end|low|high|lo|hi|left|right|base|exp|max\w*|min\w*|\w*_(count|size|id|index)|seconds|offset|target|cents|quantity|qty|visits|votes|seats|level|priority"
     r"|version|port|hour|hours|minute|minutes|second|days|weeks|months|years|weekday|wanted|most|capacity|times|attempts|retries|tries",
     "int"),
    (r"s|t|st|txt|text|string|str\w*|name|word|line|path|key|prefix|suffix|sep|char|ch|letter|title|message|msg|sentence"
     r"|pattern|url|source|token|label|\w*_(name|text|str|string)|paragraph|brackets|date|planet\w*|dna|currency|country|city|code|kind|type|state|category|mail|email|address"
     r"|customer|product|sku|role|unit|color|colour|language|locale|nickname|user_?name", "str"),
    (r"(is|has|with|should|use|allow|no)_\w+|flag|verbose|strict|reverse|ascending|inclusive", "bool"),
    (r"price|rate|ratio|amount|total|weight|score|threshold|tolerance|eps\w*|factor|percent\w*|temperature|radius"
     r"|capital|interest|balance|cost|fee|salary|income|tax|deposit|discount|budget|revenue|profit|margin|distance|speed",
     "float"),
    (r"words|names|lines|strings|tokens|keys|labels|\w*_names|texts|strs", "list[str]"),
    (r"matrix|grid|rows|table|board|intervals|points|edges|pairs|lists|lst_of_lists", "list[list[int]]"),
    (r"numbers|nums|values|items|xs|ys|lst|l|arr|array|list\w*|data|seq\w*|elements|prices|scores|vector|ints|array\w*",
     "list[int]"),
    (r"env|environ|environment|headers|cookies|query", "dict[str, str]"),
    (r"d|dic|dict\w*|mapping|map|config|options|counts|settings|record|graph|params", "dict[str, int]"),
    (r"f|fn|func\w*|callback|predicate|key_?func\w*|op|handler", "Callable"),
)  # fmt: skip


BOUNDS = {
    "year": (1, 2100), "month": (1, 12), "day": (1, 28), "weekday": (0, 6), "hour": (0, 23), "minute": (0, 59),
    "second": (0, 59),
}  # fmt: skip
"""What parts of dates and times can be."""
WHOLE = re.compile(
    r"(?:\w+_)?(?:counts?|sizes?|lengths?|quantit(?:y|ies)|qty|ages?|visits|votes|seats|capacity|window|limit|maxlen|maxsize|max_\w+|ttl|timeout|interval|attempts|retries|workers|wanted|years|months|weeks|per_page|page|pages|page_size|done)"
)
"""Names of whole numbers that are never negative."""
COUNTED = re.compile(rf"{WHOLE.pattern}|(?:\w+_)?(?:width|height|days|hours|minutes|seconds)")
"""Names of numbers that are never negative."""


def named_kind(name: str) -> str:
    """The kind that a name suggests, as a hint; "" for none."""
    return next((kind for pattern, kind in _NAMES if re.fullmatch(pattern, name.lower())), "")


METHODS = {
    name: kind
    for kind, names in {
        "str": (
            "split strip lower upper replace startswith endswith isdigit isalpha encode format join find title isupper"
            " islower splitlines lstrip rstrip capitalize swapcase ljust rjust center zfill partition rpartition"
            " removeprefix removesuffix casefold isalnum isspace istitle isnumeric isdecimal rsplit expandtabs"
        ),
        "list[int]": "append extend insert sort reverse pop",
        "dict[str, int]": "items keys values get setdefault",
        "set[int]": "add union intersection difference discard issubset",
        "float": "is_integer bit_length",
        "date": "weekday isoweekday isoformat toordinal strftime isocalendar",
    }.items()
    for name in names.split()
}
"""The kind whose method a name is."""
