"""Arguments out of very few values: what one method stores under a key, another one finds, and limits are reached.

A cache for two entries whose keys are one of three drops one within a handful of calls; with any text as a key, and any
number as its size, it hardly ever does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random
from types import MappingProxyType

from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.python.inputs.subject import Parameter
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import named_kind

_TEXTS, _NUMBERS, _FLOATS = ("'a'", "'b'", "'c'"), ("1", "2", "3"), ("1.0", "2.0", "3.0")
_FUNCTIONS = tuple(f"(lambda *given, **named: ({each}, *given))" for each in _TEXTS)


_CHOSEN = 6
"""Of so many values of a parameter that the code compares with others, all but one are one of these."""


def few_valued(
    rows: Sequence[ArgumentRow],
    parameters: Sequence[Parameter],
    seed: int,
    choices: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    keys_read: Collection[str] = (),
    is_making: bool = False,
) -> list[ArgumentRow]:
    """The rows with small numbers and one of three texts for all single values and the parts of tables; others stay.

    `choices` are the values that the code compares a parameter, or a part of a record, with: nearly all of its values
    are some of them. A record with keys of `keys_read` keeps its keys.

    A parameter without a hint gets what its name suggests. If that is nothing, it gets a number if it is for making an
    object, where most such are sizes; of a method, in one half of the rows too, in the other half the first is a text,
    as most keys are.
    """
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    open_ones = [each.name for each in parameters if each.annotation is None and each.name[0] != "*"]
    texts = [name for name in open_ones if not is_making and named_kind(name) == "str"]
    called = [name for name in open_ones if not is_making and named_kind(name) == "Callable"]
    free = [name for name in open_ones if not named_kind(name)]
    kept = ("{", "(lambda", "__import__")
    found = []
    for number, row in enumerate(rows):
        keys = (
            [] if is_making or number % 4 < 2 else [each for each in free[:1] if not row.get(each, "").startswith("{")]
        )
        found.append(
            {
                name: random.choice(choices[name]) if choices.get(name) and random.randrange(_CHOSEN)
                else random.choice(_TEXTS) if name in keys or name in texts
                else random.choice(_FUNCTIONS) if name in called
                else random.choice(_NUMBERS) if name in open_ones and not text.startswith(kept)
                else _fewer(text, random, choices, keys_read)
                for name, text in row.items()
            }
        )  # fmt: skip
    return found


def _fewer(text: str, random: Random, choices: Mapping[str, Sequence[str]], keys_read: Collection[str]) -> str:
    value = literal(text)
    if isinstance(value, dict) and value and all(isinstance(each, str) for each in value):
        parts = {
            key: random.choice(choices[key]) if choices.get(key) and random.randrange(_CHOSEN)
            else _fewer(text_of(each), random, choices, keys_read)
            for key, each in value.items()
        }  # fmt: skip
        if not value.keys().isdisjoint(keys_read):
            return "{" + ", ".join(f"{key!r}: {each}" for key, each in parts.items()) + "}"
        held = list(parts.values())[: len(_TEXTS)]
        keys = random.sample(_TEXTS, len(held))
        return "{" + ", ".join(f"{key}: {each}" for key, each in zip(keys, held, strict=True)) + "}"
    for kind, values in ((str, _TEXTS), (bool, (text,)), (int, _NUMBERS), (float, _FLOATS)):
        if isinstance(value, kind):
            return random.choice(values)
    return text
