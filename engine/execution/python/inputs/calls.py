"""All inputs for a subject as calls, the likeliest first: of functions, of methods on objects, of object lifetimes."""

from __future__ import annotations

import ast
import itertools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import with_few_texts
from stet_ls.engine.execution.inputs.rows import DRAWN_ALONE, GUESSED, ArgumentRow
from stet_ls.engine.execution.python.inputs.draw import rows_of
from stet_ls.engine.execution.python.inputs.examples import (
    literals,
    named_literals,
    rows_for,
    scripts_for,
    stated_texts,
)
from stet_ls.engine.execution.python.inputs.subject import (
    ClassShape,
    Module,
    Parameter,
    Subject,
    known_module,
    subject_of,
)
from stet_ls.validators.ast_text import parse_expression, parse_module, unparse


def new_literals(before: str, after: str, qualified: str) -> tuple[str, ...]:
    """The literals of a unit that only its new text has: they name the inputs that are newly handled separately."""
    modules = [known_module(text) for text in (before, after)]
    old, new = (subject_of(module, qualified) if module else None for module in modules)
    if old is None or new is None:
        return ()
    known = set(literals(old.node))
    return tuple(each for each in literals(new.node) if each not in known)


@lru_cache(maxsize=32)
def calls_for(
    text: str, qualified: str, tests: tuple[str, ...] = (), besides: tuple[str, ...] = ()
) -> tuple[Call, ...]:
    """The inputs of a unit of a text, the same each time; `besides` are literals that count as the unit's own.

    Takes tenths of a second: not for the event loop.
    """
    module = known_module(text)
    subject = subject_of(module, qualified) if module else None
    if module is None or subject is None:
        return ()
    named = (*besides, *literals(subject.node), *named_literals(module, subject), *stated_texts(subject.node))
    constants = tuple(dict.fromkeys(named))
    try:
        seed = zlib.crc32(f"{qualified}\0{unparse(subject.node)}".encode())
    except RecursionError:  # an expression of hundreds of terms
        return ()
    scripts = [_script(setup, body) for setup, body in scripts_for(module, subject)]
    if subject.how == "class":
        made = _lives(module, subject, constants, tests, seed)
    else:
        written = rows_for(module, subject, tests)
        rows = rows_of(module, subject, constants, written, seed)
        if subject.how in ("method", "property"):
            made = _on_objects(module, subject, constants, tests, rows, seed)
        else:
            made = (call_of(subject, row, origin) for row, origin in rows)
    return tuple(dict.fromkeys([*scripts, *made]))


def _script(setup: str, body: str) -> Call:
    names = {node.id for node in ast.walk(parse_module(setup)) if isinstance(node, ast.Name)
             and isinstance(node.ctx, ast.Store)}  # fmt: skip
    return Call(setup, body, tuple(sorted(names)), "example")


def _bound(parameters: Sequence[Parameter], row: ArgumentRow, taken: str) -> tuple[str, dict[str, str]]:
    """Statements that bind each argument to a separate name, and the names by parameter."""
    names = {each.name: each.name.lstrip("*") + ("_" if each.name.lstrip("*") == taken else "") for each in parameters}
    lines = [f"{names[each.name]} = {row[each.name]}" for each in parameters if each.name in row]
    return "\n".join(lines), {name: names[name] for name in row}


def call_of(subject: Subject, row: ArgumentRow, origin: str) -> Call:
    """The call of a function with a row of arguments."""
    from stet_ls.engine.execution.python.inputs.values.type_strategies import arguments

    head = subject.name.partition(".")[0]
    setup, names = _bound(subject.parameters, row, head)
    body = f"__out__({subject.name}({arguments(subject.parameters, names)}))"
    return Call(setup, body, tuple(names.values()), origin)


def _on_objects(
    module: Module,
    subject: Subject,
    constants: tuple[str, ...],
    tests: tuple[str, ...],
    rows: Iterator[tuple[ArgumentRow, str]],
    seed: int,
) -> Iterator[Call]:
    """A method's calls, each on a separate object on which other methods were called before."""
    from stet_ls.engine.execution.python.inputs.values.type_strategies import arguments

    shape = module.shapes[subject.owner]
    makings = _makings(module, shape, tests, constants, seed)
    before = _steps(module, shape, constants, seed, leave_out=subject.callee)
    known = list(rows)
    few = with_few_texts([row for row, _ in known])  # so that it finds what another method stored
    known = [(row, origin) if origin == "example" else (other, origin)
             for (row, origin), other in zip(known, few, strict=True)]  # fmt: skip
    wanted = max(DRAWN_ALONE, len(known))
    for number, (row, origin) in enumerate(itertools.islice(itertools.cycle(known), wanted)):
        setup, names = _bound(subject.parameters, row, "obj")
        earlier = [f"obj.{step}" for step in before[number * 5 : number * 5 + number % 6]] if before else []
        given, making = _given(makings[number % len(makings)])
        called = f"({arguments(subject.parameters, names)})" if subject.how == "method" else ""
        yield Call(
            "\n".join(part for part in (setup, *_bindings(given), f"obj = {making}", *_quiet(earlier)) if part),
            f"__out__(obj.{subject.callee}{called})",
            ("obj", *given, *names.values()),
            origin,
        )


def _lives(
    module: Module, subject: Subject, constants: tuple[str, ...], tests: tuple[str, ...], seed: int
) -> Iterator[Call]:
    """Objects created and called several times, with the result of each call."""
    shape = module.shapes[subject.name]
    makings = _makings(module, shape, tests, constants, seed)
    steps = _steps(module, shape, constants, seed)
    told = _is_told(shape)
    for number in range(DRAWN_ALONE if steps else len(makings)):
        start = number * 5 % max(len(steps), 1)
        life = [f"__out__(obj.{step})" for step in steps[start : start + 1 + number % 13]]
        given, making = _given(makings[number % len(makings)])
        body = "\n".join([*_bindings(given), f"obj = {making}", *_quiet(life)])
        yield Call("", body, ("obj", *given), "drawn" if told else GUESSED)


def _given(call: str) -> tuple[dict[str, str], str]:
    """The lists and similar containers among a call's arguments, under new names, and the call with these names: an
    object may keep its arguments, and the caller sees what becomes of them.
    """
    tree = parse_expression(call).body
    given: dict[str, str] = {}
    if not isinstance(tree, ast.Call):
        return given, call

    def named(value: ast.expr) -> ast.expr:
        if not isinstance(value, ast.List | ast.Dict | ast.Set):
            return value
        name = f"given{len(given) + 1}"
        given[name] = unparse(value)
        return ast.Name(name)

    tree.args = [named(each) for each in tree.args]
    for keyword in tree.keywords:
        keyword.value = named(keyword.value)
    return given, unparse(tree) if given else call


def _bindings(given: Mapping[str, str]) -> list[str]:
    return [f"{name} = {text}" for name, text in given.items()]


def _is_told(shape: ClassShape) -> bool:
    """True if hints state what the class accepts everywhere."""
    given = [*shape.init, *(each for method in shape.methods for each in method.parameters)]
    return all(each.annotation is not None for each in given)


def _quiet(lines: Sequence[str]) -> list[str]:
    """Statements wrapped so that one that fails does not prevent the next."""
    return [f"try: {line}\nexcept Exception as error: {_tell(line)}" for line in lines]


def _tell(line: str) -> str:
    return "__out__(error)" if line.startswith("__out__") else "pass"


def _makings(
    module: Module, shape: ClassShape, tests: tuple[str, ...], constants: tuple[str, ...], seed: int
) -> list[str]:
    """Expressions that create objects of a class."""
    from stet_ls.engine.execution.python.inputs.values.type_strategies import arguments

    if shape.members:
        return [f"{shape.name}.{each}" for each in shape.members]
    if not shape.init:
        return [f"{shape.name}()"]
    maker = Subject(shape.name, "function", shape.node, shape.init)
    own = tuple(dict.fromkeys((*constants, *literals(shape.node))))
    written = rows_for(module, maker, tests)
    rows = [row for row, _ in itertools.islice(rows_of(module, maker, own, written, seed, 80), 80)]
    return [f"{shape.name}({arguments(shape.init, row)})" for row in rows] or [f"{shape.name}()"]


def _steps(module: Module, shape: ClassShape, constants: tuple[str, ...], seed: int, leave_out: str = "") -> list[str]:
    """Calls of a class' public methods, shuffled."""
    from stet_ls.engine.execution.python.inputs.values.type_strategies import arguments

    columns: list[list[str]] = []
    methods = [each for each in shape.methods if each.callee != leave_out and not each.callee.startswith("_")]
    for method in methods[:12]:
        if method.how == "property":
            columns.append([method.callee] * 40)
            continue
        own = tuple(dict.fromkeys((*constants, *literals(method.node))))
        written = rows_for(module, method)
        rows = [row for row, _ in itertools.islice(rows_of(module, method, own, written, seed, 120), 120)]
        columns.append([f"{method.callee}({arguments(method.parameters, row)})" for row in with_few_texts(rows)])
    if not columns:
        return []
    from random import Random

    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    return [random.choice(random.choice(columns)) for _ in range(1600)]
