"""Rows of arguments: those that somebody wrote, near misses of them, and draws from the parameters' strategies."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from stet_ls.engine.execution.inputs.mutations import like_items, literal, meeting, mutated, with_keys
from stet_ls.engine.execution.inputs.rows import DRAWN_ALONE, DRAWN_BESIDE, GUESSED, MUTATED, ArgumentRow
from stet_ls.engine.execution.python.inputs.observed_types import hinted
from stet_ls.engine.execution.python.inputs.subject import Module, Parameter, Subject
from stet_ls.engine.storage.paths import user_paths

_DRAWING = 2.0
"""Seconds after which the rest of the draws is left out."""


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
    near = itertools.islice(mutated(changeable, constants, seed), MUTATED)
    count = min(most, DRAWN_BESIDE if changeable else DRAWN_ALONE)
    parameters = hinted(subject.parameters, written)
    drawn = draws(module, parameters, subject.node, constants, count, seed)
    origin = "drawn" if all(each.annotation is not None for each in parameters) else GUESSED
    # One draw to six near misses, so that a bound on their number cuts neither off.
    for number, row in enumerate(near):
        yield row, "near an example"
        if number % 6 == 0 and drawn:
            yield drawn.pop(0), origin
    for row in drawn:
        yield row, origin


class _Enough(Exception):
    """Drawing took its time."""


def draws(
    module: Module, parameters: Sequence[Parameter], node: ast.AST, constants: tuple[str, ...], count: int, seed: int
) -> list[ArgumentRow]:
    """Rows from the strategies of the parameters' hints, or of what is guessed; fewer where each takes long to draw."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import seed as seeded

    from stet_ls.engine.execution.python.inputs.type_strategies import ModuleContext, of_parameters
    from stet_ls.engine.execution.python.inputs.untyped_params import items_compared, of_parameter

    _alone()
    rows: list[ArgumentRow] = []
    strategy = of_parameters(
        parameters, ModuleContext(module, of_parameter, constants), lambda each, known: of_parameter(each, node, known)
    )

    began = time.thread_time()

    @seeded(seed)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate], verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    @given(strategy)
    def collect(row: ArgumentRow) -> None:
        # The processor's time, not the clock's: the same inputs are drawn while the machine is busy.
        if time.thread_time() - began > _DRAWING:
            raise _Enough
        rows.append(row)

    with suppress(_Enough):
        collect()
    return with_keys(like_items(meeting(rows, seed), items_compared(parameters, node), seed), seed)


def _alone() -> None:
    """Has Hypothesis draw the same in each process, and leave nothing in the folder that the process stands in.

    Constants of the loaded modules that stand in no `site-packages` would be drawn, too; nothing public turns that off.
    """
    from hypothesis.configuration import set_hypothesis_home_dir
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    set_hypothesis_home_dir(user_paths().cache / "hypothesis")
    if hasattr(providers, "_get_local_constants"):
        setattr(providers, "_get_local_constants", Constants)  # noqa: B010 - it is none of its module's names
