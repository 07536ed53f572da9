"""All inputs for a subject as calls, the likeliest first: of functions, of methods on objects, of object lifetimes."""

from __future__ import annotations

import ast
import itertools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, with_few_texts
from stet_ls.engine.execution.inputs.rows import DOUBLE, DRAWN_ALONE, GUESSED, ArgumentRow
from stet_ls.engine.execution.python.inputs.arguments import arguments, bound
from stet_ls.engine.execution.python.inputs.compared_values import choices, compared_values, keys_read
from stet_ls.engine.execution.python.inputs.contract import is_senseless
from stet_ls.engine.execution.python.inputs.draw import rows_of
from stet_ls.engine.execution.python.inputs.examples import (
    literals,
    named_literals,
    normalized_texts,
    rows_for,
    scripts_for,
    separators,
    stated_texts,
)
from stet_ls.engine.execution.python.inputs.few_values import few_valued
from stet_ls.engine.execution.python.inputs.subject import (
    ClassShape,
    Module,
    Parameter,
    Subject,
    container_methods,
    known_module,
    subclasses,
    subject_of,
)
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import WHOLE, named_kind
from stet_ls.engine.execution.python.inputs.values.kinds.used_kinds import kinds_by_use
from stet_ls.engine.execution.python.inputs.values.objects.collaborators import MADE, collaborators
from stet_ls.engine.execution.python.inputs.values.texts.derived_texts import derived_texts
from stet_ls.validators.ast_text import parse_expression, parse_module, unparse


def _is_tight(number: int) -> bool:
    """Whether the object of this number is made and called with very few values: two in a row, which are compared."""
    return number % 4 < 2


def new_literals(before: str, after: str, qualified: str) -> tuple[str, ...]:
    """The literals of a unit that only its new text has: they name the inputs that are newly handled separately."""
    modules = [known_module(text) for text in (before, after)]
    old, new = (subject_of(module, qualified) if module else None for module in modules)
    if old is None or new is None:
        return ()
    known = set(literals(old.node))
    return tuple(each for each in literals(new.node) if each not in known)


@lru_cache(maxsize=8)
def changed_literals(before: str, after: str, qualified: str) -> tuple[str, ...]:
    """The literals that a change of a unit is about, those that only its new text has among them."""
    from stet_ls.engine.execution.python.inputs.values.texts.changed_texts import changed_texts

    modules = known_module(before), known_module(after)
    old, new = (subject_of(module, qualified) if module else None for module in modules)
    if modules[0] is None or modules[1] is None or old is None or new is None:
        return ()
    return changed_texts((modules[0], old), (modules[1], new))


@lru_cache(maxsize=32)
def calls_for(
    text: str, qualified: str, tests: tuple[str, ...] = (), besides: tuple[str, ...] = (), after: str = ""
) -> tuple[Call, ...]:
    """The inputs of a unit of a text, the same each time; `besides` are literals that count as the unit's own.

    The text `after` the change says of what kinds parameters are that the code before leaves open. Takes tenths of a
    second: not for the event loop.
    """
    module = known_module(text)
    subject = subject_of(module, qualified) if module else None
    if module is None or subject is None:
        return ()
    other = known_module(after) if after else None
    subject = with_likely_kinds(subject, subject_of(other, qualified) if other else None)
    node = subject.node
    named = (
        *besides, *literals(node), *named_literals(module, subject), *derived_texts(module, subject),
        *stated_texts(node), *normalized_texts(node), *separators(node),
    )  # fmt: skip
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


def with_likely_kinds(subject: Subject, other: Subject | None) -> Subject:
    """The subject with the kinds that another version of it uses the parameters as."""
    if other is None or other is subject:
        return subject
    parameters = (
        replace(each, likely=tuple(kinds_by_use(each.name, other.node)[0])) if each.annotation is None else each
        for each in subject.parameters
    )
    return replace(subject, parameters=tuple(parameters))


def call_of(subject: Subject, row: ArgumentRow, origin: str) -> Call:
    """The call of a function with a row of arguments."""
    head = subject.name.partition(".")[0]
    setup, names = bound(subject.parameters, row, head)
    body = f"__out__({subject.name}({arguments(subject.parameters, names)}))"
    return Call(setup, body, tuple(names.values()), origin)


def call_on(subject: Subject, row: ArgumentRow, making: str, earlier: Sequence[str], origin: str) -> Call:
    """The call of a method, or the use of a property, on a new object on which the `earlier` calls were made."""
    setup, names = bound(subject.parameters, row, "obj")
    given, making = _given(making)
    called = f"({arguments(subject.parameters, names)})" if subject.how == "method" else ""
    lines = (setup, *_bindings(given), f"obj = {making}", *_quiet([f"obj.{step}" for step in earlier]))
    return Call(
        "\n".join(filter(None, lines)),
        f"__out__(obj.{subject.callee}{called})",
        ("obj", *given, *names.values()),
        origin,
    )


def step_of(method: Subject, row: ArgumentRow) -> str:
    """What is done to an object: `push(1)`, or `size` for a property."""
    return f"{method.callee}({arguments(method.parameters, row)})" if method.how == "method" else method.callee


def life_of(making: str, steps: Sequence[str], origin: str) -> Call:
    """An object that is created and called several times, with the result of each call."""
    given, making = _given(making)
    body = [*_bindings(given), f"obj = {making}", *_quiet([f"__out__(obj.{step})" for step in steps])]
    return Call("", "\n".join(body), ("obj", *given), origin)


def _on_objects(
    module: Module,
    subject: Subject,
    constants: tuple[str, ...],
    tests: tuple[str, ...],
    rows: Iterator[tuple[ArgumentRow, str]],
    seed: int,
) -> Iterator[Call]:
    """A method's calls, each on a separate object on which other methods were called before."""
    shape = module.shapes[subject.owner]
    wild, few_valued_ones = _object_parts(module, shape, tests, constants, seed)
    known = list(rows)
    few = few_valued(
        [row for row, _ in known],
        subject.parameters,
        seed,
        choices(subject.node, _constants(module, shape)),
        keys_read=keys_read(subject.node),
    )
    known = [(row, origin) if origin == "example" or not _is_tight(number) else (other, origin)
             for number, ((row, origin), other) in enumerate(zip(known, few, strict=True))]  # fmt: skip
    wanted = max(DRAWN_ALONE, len(known))
    for number, (row, origin) in enumerate(itertools.islice(itertools.cycle(known), wanted)):
        parts = few_valued_ones if _is_tight(number) else wild
        earlier = parts.steps[number * 5 : number * 5 + number % 10]
        making = parts.makings[number % len(parts.makings)]
        yield call_on(subject, row, making, earlier, _origin(making, origin))


def _origin(making: str, otherwise: str) -> str:
    return DOUBLE if MADE in making else otherwise


def _lives(
    module: Module, subject: Subject, constants: tuple[str, ...], tests: tuple[str, ...], seed: int
) -> Iterator[Call]:
    """Objects created and called several times, with the result of each call."""
    shape = module.shapes[subject.name]
    both = _object_parts(module, shape, tests, constants, seed)
    yield from _counted_lives(module, shape, both[1], constants, seed)
    is_typed = _is_typed(shape)
    for number in range(DRAWN_ALONE if both[0].steps else len(both[0].makings)):
        parts = both[_is_tight(number)]
        start = number * 5 % max(len(parts.steps), 1)
        making = parts.makings[number % len(parts.makings)]
        life = parts.steps[start : start + 1 + number % 13]
        yield life_of(making, life, _origin(making, "drawn" if is_typed else GUESSED))


_FEWEST, _MOST_OFTEN, _MOST_COUNTED = 5, 500, 3


def _counted_lives(
    module: Module, shape: ClassShape, parts: _ObjectParts, constants: tuple[str, ...], seed: int
) -> Iterator[Call]:
    """Objects on which a method is called as often as a number that the class compares with, and once more."""
    compared = [each for each in compared_values([shape.node]) if isinstance(each, int)]
    numbers = [each for each in compared if _FEWEST < each <= _MOST_OFTEN][:_MOST_COUNTED]
    steps = [few[seed % len(few)] for _, few in _columns(module, shape, constants, seed) if few] if numbers else []
    for number in numbers:
        for step in steps:
            given, making = _given(parts.makings[0])
            often = f"for _ in range({number}):\n    try: obj.{step}\n    except Exception: pass"
            others = [each for each in steps if each != step]
            after = _quiet([f"__out__(obj.{each})" for each in (*others, step, *others)])
            body = [*_bindings(given), f"obj = {making}", often, *after]
            yield Call("", "\n".join(body), ("obj", *given), _origin(making, GUESSED))


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


def _is_typed(shape: ClassShape) -> bool:
    """True if hints state what the class accepts everywhere."""
    given = [*shape.init, *(each for method in shape.methods for each in method.parameters)]
    return all(each.annotation is not None for each in given)


def _quiet(lines: Sequence[str]) -> list[str]:
    """Statements wrapped so that one that fails does not prevent the next."""
    return [f"try: {line}\nexcept Exception as error: {_on_error(line)}" for line in lines]


def _on_error(line: str) -> str:
    return "__out__(error)" if line.startswith("__out__") else "pass"


@dataclass(frozen=True, slots=True)
class _ObjectParts:
    """Expressions that create objects of a class, and calls of its public methods, shuffled."""

    makings: list[str]
    steps: list[str]


def _object_parts(
    module: Module, shape: ClassShape, tests: tuple[str, ...], constants: tuple[str, ...], seed: int
) -> tuple[_ObjectParts, _ObjectParts]:
    """The parts with all kinds of arguments, and those with very few."""
    makings, few = _makings(module, shape, tests, constants, seed)
    columns = _columns(module, shape, constants, seed)
    return tuple(
        _ObjectParts(made, _shuffled([column[tight] for column in columns], seed))
        for tight, made in enumerate((makings, few))
    )  # type: ignore[return-value]


def _makings(
    module: Module, shape: ClassShape, tests: tuple[str, ...], constants: tuple[str, ...], seed: int
) -> tuple[list[str], list[str]]:
    if shape.members:
        members = [f"{shape.name}.{each}" for each in shape.members]
        return members, members
    if not shape.init:
        plain = [each for each in subclasses(module, shape.name) if not module.shapes[each].init]
        objects = [f"{each}()" for each in (shape.name, *plain)]
        return objects, objects
    maker = Subject(shape.name, "function", shape.node, shape.init)
    own = tuple(dict.fromkeys((*constants, *literals(shape.node))))
    written = rows_for(module, maker, tests)
    rows = [row for row, _ in itertools.islice(rows_of(module, maker, own, written, seed, 80), 80)]
    rows = [row for row in rows if all(_makes_sense(each, row[each.name]) for each in shape.init if each.name in row)]
    few = few_valued(rows, shape.init, seed, is_making=True)
    acting = collaborators(shape)
    few = [{name: f"{MADE}{name!r}, {n})" if name in acting else text for name, text in row.items()}
           for n, row in enumerate(few)]  # fmt: skip
    # An object in four is one of a subclass.
    names = [shape.name] * 3 + [
        each for each in subclasses(module, shape.name) if module.shapes[each].init == shape.init
    ]
    made = [[f"{names[n % 4 if n % 4 < 3 else -1]}({arguments(shape.init, row)})" for n, row in enumerate(each)]
            for each in (rows, few)]  # fmt: skip
    return made[0] or [f"{shape.name}()"], made[1] or [f"{shape.name}()"]


def _makes_sense(parameter: Parameter, text: str) -> bool:
    """Whether a value may be meant for a parameter with this name: a size is a number, and not negative."""
    value = literal(text)
    is_guess = parameter.annotation is None and parameter.default is None
    is_other = is_guess and WHOLE.fullmatch(parameter.name) is not None and type(value) is not int
    return not is_other and not is_senseless(parameter.name, value)


def _with_own_class(method: Subject, shape: ClassShape) -> Subject:
    """The method with objects of its own class for what is called `other`."""
    own = ast.Name(shape.name, ast.Load())
    parameters = (replace(each, annotation=own) if each.name == "other" and each.annotation is None else each
                  for each in method.parameters)  # fmt: skip
    return replace(method, parameters=tuple(parameters))


_NAMED = {"int": (int, float), "float": (int, float), "str": (str,)}


def _is_named(parameter: Parameter, text: str) -> bool:
    """Whether a value may be meant for a parameter without a hint, by its name: another kind breaks a sequence."""
    kinds = _NAMED.get(named_kind(parameter.name)) if parameter.annotation is None else None
    if kinds is None or not text:
        return True
    value = literal(text)
    return (isinstance(value, kinds) and not isinstance(value, bool)) or (value is None and text != "None")


_OF_CONTEXTS = ("__enter__()", "__exit__(None, None, None)")


def _columns(
    module: Module, shape: ClassShape, constants: tuple[str, ...], seed: int
) -> list[tuple[list[str], list[str]]]:
    """The calls of each method for users, with all kinds of arguments and with few."""
    own_methods = {each.name for each in shape.node.body if isinstance(each, ast.FunctionDef)}
    columns = [([each], [each]) for each in _OF_CONTEXTS] if {"__enter__", "__exit__"} <= own_methods else []
    known = _constants(module, shape)
    public = [each for each in shape.methods if not each.callee.startswith("_")]
    for method in [_with_own_class(each, shape) for each in (*public[:12], *container_methods(shape))]:
        if method.how == "property":
            columns.append(([method.callee], [method.callee]))
            continue
        own = tuple(dict.fromkeys((*constants, *literals(method.node))))
        written = rows_for(module, method)
        rows = [row for row, _ in itertools.islice(rows_of(module, method, own, written, seed, 120), 120)]
        rows = [
            row for row in rows if all(_is_named(each, row.get(each.name, "")) for each in method.parameters)
        ] or rows
        wild, few = (
            [f"{method.callee}({arguments(method.parameters, row)})" for row in each]
            for each in (
                with_few_texts(rows),
                few_valued(
                    rows, method.parameters, seed, choices(method.node, known), keys_read=keys_read(method.node)
                ),
            )
        )
        columns.append((wild, few))
    return columns


def _constants(module: Module, shape: ClassShape) -> dict[str, ast.expr]:
    """The values of the module's names and of the class's own."""
    own = {
        target.id: each.value
        for each in shape.node.body
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Name)
    }
    return {**module.values, **own}


def _shuffled(columns: list[list[str]], seed: int) -> list[str]:
    from random import Random

    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    return [random.choice(random.choice(columns)) for _ in range(1650)] if columns else []
