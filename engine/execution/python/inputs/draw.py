"""Rows of arguments: written ones, near misses of them, and draws from the parameters' strategies."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from stet_ls.engine.execution.inputs.mutations import (
    like_items,
    literal,
    mutated_rows,
    with_keys,
    with_shared_elements,
    with_shared_keys,
)
from stet_ls.engine.execution.inputs.rows import DRAWN_ALONE, DRAWN_WITH_EXAMPLES, GUESSED, MUTATED, ArgumentRow
from stet_ls.engine.execution.python.inputs.compared_values import compared_texts
from stet_ls.engine.execution.python.inputs.subject import Module, Parameter, Subject
from stet_ls.engine.execution.python.inputs.values.observed_types import with_observed_hints
from stet_ls.validators.ast_text import unparse

if TYPE_CHECKING:
    from stet_ls.engine.execution.python.inputs.values.plain_values import ModuleContext, TextStrategy

_MOST_CAUGHT = 3
_DRAWING, _LOOKS = 2.0, 50
"""Seconds after which the rest of the draws is left out, and after how many rows the clock is read."""


def rows_of(
    module: Module,
    subject: Subject,
    constants: tuple[str, ...],
    written: Sequence[ArgumentRow],
    seed: int,
    most: int = DRAWN_ALONE,
) -> Iterator[tuple[ArgumentRow, str]]:
    """Rows and their origins, the likeliest first; `most` are drawn."""
    if not subject.parameters:
        yield {}, "no argument"
        return
    for row in written:
        yield row, "example"
    changeable = [row for row in written if any(literal(text) is not None for text in row.values())]
    near = itertools.islice(mutated_rows(changeable, constants, seed), MUTATED)
    count = min(most, DRAWN_WITH_EXAMPLES if changeable else DRAWN_ALONE)
    parameters = with_observed_hints(subject.parameters, written)
    drawn = draws(module, parameters, subject.node, constants, count, seed)
    origin = "drawn" if _are_typed(module, parameters) else GUESSED
    # One draw to six near misses, so that a limit on the total cuts off neither.
    for number, row in enumerate(near):
        yield row, "near an example"
        if number % 6 == 0 and drawn:
            yield drawn.pop(0), origin
    for row in drawn:
        yield row, origin


def _are_typed(module: Module, parameters: Sequence[Parameter]) -> bool:
    """Whether all parameters have hints that say something here."""
    from stet_ls.engine.execution.python.inputs.values.plain_values import ModuleContext
    from stet_ls.engine.execution.python.inputs.values.type_strategies import of_hint
    from stet_ls.engine.execution.python.inputs.values.untyped_params import of_parameter

    known = ModuleContext(module, of_parameter)
    return all(each.annotation is not None and of_hint(each.annotation, known) is not None for each in parameters)


def draws(
    module: Module, parameters: Sequence[Parameter], node: ast.AST, constants: tuple[str, ...], count: int, seed: int
) -> list[ArgumentRow]:
    """Rows from the strategies of the parameters' hints, or of guesses."""
    from stet_ls.engine.execution.python.inputs.values.plain_values import ModuleContext
    from stet_ls.engine.execution.python.inputs.values.texts.regex_texts import matching_texts
    from stet_ls.engine.execution.python.inputs.values.untyped_params import items_compared, of_parameter

    context = ModuleContext(
        module, of_parameter, constants, matching_texts(module, node, seed), compared_texts(node), caught_errors(node)
    )
    rows = drawn_rows(parameters, context, lambda each, known: of_parameter(each, node, known), count, seed)
    rows = with_shared_keys(with_shared_elements(rows, seed), seed)
    return with_keys(like_items(rows, items_compared(parameters, node), seed), seed)


def caught_errors(node: ast.AST) -> tuple[str, ...]:
    """The errors that code handles by name."""
    handled = (each.type for each in ast.walk(node) if isinstance(each, ast.ExceptHandler) and each.type is not None)
    kinds = (kind for each in handled for kind in (each.elts if isinstance(each, ast.Tuple) else [each]))
    return tuple(dict.fromkeys(map(unparse, kinds)))[:_MOST_CAUGHT]


def drawn_rows(
    parameters: Sequence[Parameter],
    context: ModuleContext,
    strategy: Callable[[Parameter, ModuleContext], TextStrategy],
    count: int,
    seed: int,
) -> list[ArgumentRow]:
    """Rows from a strategy for each parameter; fewer if each takes long to draw."""
    from stet_ls.engine.execution.inputs.strategies import examples
    from stet_ls.engine.execution.python.inputs.values.type_strategies import of_parameters

    began = time.thread_time()

    def is_late(tried: int) -> bool:
        # Processor time, not wall time: the same inputs are drawn while the machine is busy.
        return tried > 0 and tried % _LOOKS == 0 and time.thread_time() - began > _DRAWING

    return examples(of_parameters(parameters, context, strategy), count, seed, is_late)
