"""Rows with few texts and numbers: what one call of an object stores, another one then finds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from random import Random

from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.javascript.inputs.values.conversion import source

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_FEW_TEXTS, _FEW_NUMBERS = ("a", "b", "c"), (0, 1, 2, 3)


def with_few(rows: Iterable[ArgumentRow], seed: int, fixed: Collection[str] = ()) -> Iterator[ArgumentRow]:
    """The rows; in every second, numbers and texts are among a few: one call then meets what another left. Those named
    in `fixed` stay.
    """
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    for number, row in enumerate(rows):
        few = {name: text if name in fixed else _of_few(text, random) for name, text in row.items()}
        yield few if number % 2 else row


def _of_few(text: str, random: Random) -> str:
    value = literal(text)
    if isinstance(value, str):
        return source(text_of(random.choice(_FEW_TEXTS)))
    return _NUMBER.sub(lambda _: str(random.choice(_FEW_NUMBERS)), text) if '"' not in text else text
