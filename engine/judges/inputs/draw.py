"""All inputs for a subject, the likeliest first: what people wrote, near misses of it, and draws from strategies."""

from __future__ import annotations

import ast
import itertools
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from stet_ls.engine.judges.harness.trial import Call
from stet_ls.engine.judges.inputs.examples import Row, literals, rows_for, scripts_for
from stet_ls.engine.judges.inputs.kinds import hinted
from stet_ls.engine.judges.inputs.mutate import literal, meeting, mutated, with_few_texts
from stet_ls.engine.judges.inputs.subject import Module, Parameter, Shape, Subject, read_module, subject_of

MUTATED = 400
"""Near misses of written examples (engine facts 1.3: with 400, 98.7 % of the bugs of HumanEvalPack show)."""
DRAWN_BESIDE, DRAWN_ALONE = 60, 320
"""Draws from strategies, where there are examples and where there are none."""

_DRAWING = 2.0
"""Seconds after which the rest of the draws is left out."""

GUESSED = "guessed"
"""The origin of an input of which nothing says that the code was meant for its kind."""


def new_literals(before: str, after: str, qualified: str) -> tuple[str, ...]:
    """The literals of a unit that only its new text has: an input that is treated apart is named by one."""
    modules = [read_module(text) for text in (before, after)]
    old, new = (subject_of(module, qualified) if module else None for module in modules)
    if old is None or new is None:
        return ()
    known = set(literals(old.node))
    return tuple(each for each in literals(new.node) if each not in known)


class _Enough(Exception):
    """Drawing took its time."""


@lru_cache(maxsize=32)
def calls_for(
    text: str, qualified: str, tests: tuple[str, ...] = (), besides: tuple[str, ...] = ()
) -> tuple[Call, ...]:
    """The inputs of a unit of a text, the same each time; `besides` are literals that count as its own.

    Takes tenths of a second: not for the event loop.
    """
    module = read_module(text)
    subject = subject_of(module, qualified) if module else None
    if module is None or subject is None:
        return ()
    constants = (*besides, *literals(subject.node))
    try:
        seed = zlib.crc32(f"{qualified}\0{ast.unparse(subject.node)}".encode())
    except RecursionError:  # an expression of hundreds of terms
        return ()
    scripts = [_script(setup, body) for setup, body in scripts_for(module, subject)]
    if subject.how == "class":
        made = _lives(module, subject, constants, tests, seed)
    else:
        written = rows_for(module, subject, tests)
        rows = _rows(module, subject, constants, written, seed)
        if subject.how in ("method", "property"):
            made = _on_objects(module, subject, constants, tests, rows, seed)
        else:
            made = (_call(subject, row, origin) for row, origin in rows)
    return tuple(dict.fromkeys([*scripts, *made]))


def _rows(
    module: Module,
    subject: Subject,
    constants: tuple[str, ...],
    written: Sequence[Row],
    seed: int,
    most: int = DRAWN_ALONE,
) -> Iterator[tuple[Row, str]]:
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


def draws(
    module: Module, parameters: Sequence[Parameter], node: ast.AST, constants: tuple[str, ...], count: int, seed: int
) -> list[Row]:
    """Rows from the strategies of the parameters' hints, or of what is guessed; fewer where each takes long to draw."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import seed as seeded

    from stet_ls.engine.judges.inputs.guess import of_parameter
    from stet_ls.engine.judges.inputs.hints import Known, of_parameters

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
    return meeting(rows, seed)


def _script(setup: str, body: str) -> Call:
    names = {node.id for node in ast.walk(ast.parse(setup)) if isinstance(node, ast.Name)
             and isinstance(node.ctx, ast.Store)}  # fmt: skip
    return Call(setup, body, tuple(sorted(names)), "example")


def _bound(parameters: Sequence[Parameter], row: Row, taken: str) -> tuple[str, dict[str, str]]:
    """Statements that bind each argument to a name of its own, and the names by parameter."""
    names = {each.name: each.name.lstrip("*") + ("_" if each.name.lstrip("*") == taken else "") for each in parameters}
    lines = [f"{names[each.name]} = {row[each.name]}" for each in parameters if each.name in row]
    return "\n".join(lines), {name: names[name] for name in row}


def _call(subject: Subject, row: Row, origin: str) -> Call:
    from stet_ls.engine.judges.inputs.hints import arguments

    head = subject.name.partition(".")[0]
    setup, names = _bound(subject.parameters, row, head)
    body = f"__out__({subject.name}({arguments(subject.parameters, names)}))"
    return Call(setup, body, tuple(names.values()), origin)


def _on_objects(
    module: Module,
    subject: Subject,
    constants: tuple[str, ...],
    tests: tuple[str, ...],
    rows: Iterator[tuple[Row, str]],
    seed: int,
) -> Iterator[Call]:
    """A method's calls, each on an object of its own that other methods were called on before."""
    from stet_ls.engine.judges.inputs.hints import arguments

    shape = module.shapes[subject.owner]
    makings = _makings(module, shape, tests, constants, seed)
    before = _steps(module, shape, constants, seed, leave_out=subject.callee)
    known = list(rows)
    wanted = max(DRAWN_ALONE, len(known))
    for number, (row, origin) in enumerate(itertools.islice(itertools.cycle(known), wanted)):
        setup, names = _bound(subject.parameters, row, "obj")
        earlier = [f"obj.{step}" for step in before[number * 3 : number * 3 + number % 4]] if before else []
        making = f"obj = {shape.name}({makings[number % len(makings)]})"
        called = f"({arguments(subject.parameters, names)})" if subject.how == "method" else ""
        yield Call(
            "\n".join(part for part in (setup, making, *_quiet(earlier)) if part),
            f"__out__(obj.{subject.callee}{called})",
            ("obj", *names.values()),
            origin,
        )


def _lives(
    module: Module, subject: Subject, constants: tuple[str, ...], tests: tuple[str, ...], seed: int
) -> Iterator[Call]:
    """Objects made and called several times, each call's result told."""
    shape = module.shapes[subject.name]
    makings = _makings(module, shape, tests, constants, seed)
    steps = _steps(module, shape, constants, seed)
    told = _is_told(shape)
    for number in range(DRAWN_ALONE if steps else len(makings)):
        start = number * 5 % max(len(steps), 1)
        life = [f"__out__(obj.{step})" for step in steps[start : start + 1 + number % 13]]
        making = f"obj = {shape.name}({makings[number % len(makings)]})"
        yield Call("", "\n".join([making, *_quiet(life)]), ("obj",), "drawn" if told else GUESSED)


def _is_told(shape: Shape) -> bool:
    """True if hints say what the class takes everywhere."""
    given = [*shape.init, *(each for method in shape.methods for each in method.parameters)]
    return all(each.annotation is not None for each in given)


def _quiet(lines: Sequence[str]) -> list[str]:
    """Statements of which one that fails does not keep the next from being run."""
    return [f"try: {line}\nexcept Exception as error: {_tell(line)}" for line in lines]


def _tell(line: str) -> str:
    return "__out__(error)" if line.startswith("__out__") else "pass"


def _makings(module: Module, shape: Shape, tests: tuple[str, ...], constants: tuple[str, ...], seed: int) -> list[str]:
    from stet_ls.engine.judges.inputs.hints import arguments

    if not shape.init:
        return [""]
    maker = Subject(shape.name, "function", shape.node, shape.init)
    own = tuple(dict.fromkeys((*constants, *literals(shape.node))))
    written = rows_for(module, maker, tests)
    rows = [row for row, _ in itertools.islice(_rows(module, maker, own, written, seed, 80), 80)]
    return [arguments(shape.init, row) for row in rows] or [""]


def _steps(module: Module, shape: Shape, constants: tuple[str, ...], seed: int, leave_out: str = "") -> list[str]:
    """Calls of a class' public methods, mixed."""
    from stet_ls.engine.judges.inputs.hints import arguments

    columns: list[list[str]] = []
    methods = [each for each in shape.methods if each.callee != leave_out and not each.callee.startswith("_")]
    for method in methods[:12]:
        if method.how == "property":
            columns.append([method.callee] * 40)
            continue
        own = tuple(dict.fromkeys((*constants, *literals(method.node))))
        written = rows_for(module, method)
        rows = [row for row, _ in itertools.islice(_rows(module, method, own, written, seed, 120), 120)]
        columns.append([f"{method.callee}({arguments(method.parameters, row)})" for row in with_few_texts(rows)])
    if not columns:
        return []
    from random import Random

    random = Random(seed)  # noqa: S311 - the same each time is what is wanted
    return [random.choice(random.choice(columns)) for _ in range(1600)]
