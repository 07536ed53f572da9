"""Rows of arguments: those that somebody wrote, near misses of them, and draws from the parameters' strategies."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from stet_ls.engine.judges.inputs.examples import Row
from stet_ls.engine.judges.inputs.kinds import hinted
from stet_ls.engine.judges.inputs.mutate import like_items, literal, meeting, mutated, with_keys
from stet_ls.engine.judges.inputs.subject import Module, Parameter, Subject
from stet_ls.engine.paths import user_paths

MUTATED = 400
"""Near misses of written examples (engine facts 1.3: with 400, 98.7 % of the bugs of HumanEvalPack show)."""
DRAWN_BESIDE, DRAWN_ALONE = 60, 320
"""Draws from strategies, where there are examples and where there are none."""

_DRAWING = 2.0
"""Seconds after which the rest of the draws is left out."""

GUESSED = "guessed"
"""The origin of an input of which nothing says that the code was meant for its kind."""
ODD = "odd"
"""As GUESSED, tried only to see more: what refused it by chance, by an operator's error, may take it from now on."""
UNSURE = frozenset({GUESSED, ODD})


def rows_of(
    module: Module,
    subject: Subject,
    constants: tuple[str, ...],
    written: Sequence[Row],
    seed: int,
    most: int = DRAWN_ALONE,
) -> Iterator[tuple[Row, str]]:
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
) -> list[Row]:
    """Rows from the strategies of the parameters' hints, or of what is guessed; fewer where each takes long to draw."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import seed as seeded

    from stet_ls.engine.judges.inputs.guess import items_compared, of_parameter
    from stet_ls.engine.judges.inputs.hints import Known, of_parameters

    _alone()
    rows: list[Row] = []
    strategy = of_parameters(parameters, Known(module, constants), lambda each, known: of_parameter(each, node, known))

    began = time.thread_time()

    @seeded(seed)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate], verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    @given(strategy)
    def collect(row: Row) -> None:
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
