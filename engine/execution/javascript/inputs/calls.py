"""All inputs for a JavaScript or TypeScript unit, the likeliest first: written examples, near misses, draws."""

from __future__ import annotations

import itertools
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, mutated_rows
from stet_ls.engine.execution.inputs.rows import DRAWN_ALONE, DRAWN_WITH_EXAMPLES, GUESSED, MUTATED, ArgumentRow
from stet_ls.engine.execution.inputs.stated_forms import stated_forms
from stet_ls.engine.execution.javascript.inputs.arguments import arguments, bound
from stet_ls.engine.execution.javascript.inputs.constants import constants
from stet_ls.engine.execution.javascript.inputs.equal_args import with_alike
from stet_ls.engine.execution.javascript.inputs.examples import TestText, rows_for
from stet_ls.engine.execution.javascript.inputs.few_values import with_few
from stet_ls.engine.execution.javascript.inputs.handled_errors import failing_functions
from stet_ls.engine.execution.javascript.inputs.subject import (
    Module,
    Parameter,
    Subject,
    parameters_of,
    read_module,
    shape_of,
    subclasses,
    subject_of,
)
from stet_ls.engine.execution.javascript.inputs.values.conversion import kind_of, source
from stet_ls.engine.execution.javascript.inputs.values.untyped_params import used_as
from stet_ls.engine.execution.javascript.inputs.values.value_draws import ValueDraws
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import ValueKind, text_of

if TYPE_CHECKING:
    import tree_sitter

_PRINTER = "console.log"
_RowWithOrigin = tuple[ArgumentRow, str]
"""A row of JavaScript, and its origin."""


def new_constants(before: str, after: str, language: str, qualified: str) -> tuple[str, ...]:
    """The constants of a unit that only its new text has: they name the inputs that are newly handled separately."""
    sides: list[list[str]] = []
    for text in (before, after):
        module = read_module(text, language)
        subject = subject_of(module, qualified) if module else None
        sides.append(constants(module, subject.node) if module and subject else [])
    return tuple(each for each in sides[1] if each not in set(sides[0]))


@lru_cache(maxsize=32)
def calls_for(
    text: str, language: str, qualified: str, tests: tuple[TestText, ...] = (), besides: tuple[str, ...] = ()
) -> tuple[Call, ...]:
    """The inputs of a unit of a text, the same each time; none if it is not callable.

    `besides` are constants that count as the unit's own.
    """
    module = read_module(text, language)
    subject = subject_of(module, qualified) if module else None
    if module is None or subject is None:
        return ()
    return tuple(dict.fromkeys(_Inputs(module, subject, tests, besides).calls()))


def call_of(module: Module, subject: Subject, row: ArgumentRow, origin: str) -> Call:
    """The call of a function with a row of arguments."""
    return _Inputs(module, subject, (), ()).call(_as_source(row), origin)


def fixed_parameters(text: str, language: str, qualified: str) -> tuple[str, ...]:
    """The parameters of a unit that are declared to have one of a few values."""
    module = read_module(text, language)
    subject = subject_of(module, qualified) if module else None
    return tuple(_fixed_parameters(subject)) if subject is not None else ()


class _Inputs:
    """Makes the calls of one subject."""

    def __init__(self, module: Module, subject: Subject, tests: tuple[TestText, ...], besides: tuple[str, ...]) -> None:
        self._module, self._subject, self._tests, self._besides = module, subject, tests, besides
        self._made = _made_function(subject.node)
        self._seed = zlib.crc32(f"{subject.name}\0{text_of(subject.node)}".encode())

    def calls(self) -> Iterator[Call]:
        """The calls; every generator among them is finite."""
        subject = self._subject
        if subject.how == "class":
            return self._lives()
        rows = self._rows(subject)
        if subject.how in ("method", "getter", "setter"):
            return self._on_objects(list(rows))
        return (self.call(row, origin) for row, origin in rows)

    def _rows(self, subject: Subject, most: int = MUTATED) -> Iterator[_RowWithOrigin]:
        """Rows of JavaScript for the parameters of a subject."""
        if not subject.parameters:
            yield {}, "no argument"
            return
        written = rows_for(self._module, subject, self._tests)
        for row in written:
            yield _as_source(row), "example"
        changeable = [row for row in written if any(literal(text) is not None for text in row.values())]
        stated = [f"{json.dumps(each)}" for each in stated_forms(subject.doc.partition("@example")[0])]
        found = [*self._besides, *constants(self._module, subject.node), *stated]
        changed = map(_as_source, itertools.islice(mutated_rows(changeable, found, self._seed), most))
        near = with_alike(changed, self._seed, [*map(_as_source, changeable)])
        failing = failing_functions(text_of(subject.node), self._module.classes)
        draws = ValueDraws(self._seed, found, self._plain_makings(subject), failing)
        kinds, is_guessed = _kinds(subject, written)
        origin = GUESSED if is_guessed else "drawn"
        count = DRAWN_WITH_EXAMPLES if changeable else DRAWN_ALONE
        blind = (_drawn(draws, subject.parameters, kinds) for _ in range(count))
        drawn = with_alike(blind, self._seed, fixed=_fixed_parameters(subject))
        # One draw to six near misses, so that a limit on the total cuts off neither.
        for number, row in enumerate(near):
            yield row, "near an example"
            if number % 6 == 0 and (one := next(drawn, None)) is not None:
                yield one, origin
        awaits = _AWAITS_VALUE.search(text_of(subject.node)) is not None
        for number, row in enumerate(drawn):
            yield (_promised(row), GUESSED) if awaits and number % 4 == 0 else (row, origin)

    def call(self, row: ArgumentRow, origin: str) -> Call:
        """The call of a function with a row of JavaScript."""
        setup, names = bound(self._subject.parameters, row, self._subject.name.partition(".")[0])
        called = f"{self._subject.name}({arguments(self._subject.parameters, names)})"
        if self._made is None:
            return Call(setup, f"__out__({called})", tuple(names.values()), origin, _PRINTER)
        # What it takes is a guess, even where its maker's arguments are not. Bound arguments show what becomes of them.
        given = self._given_to(self._made, setup)
        names_of = [[f"given{n}{k}" for k in range(len(each))] for n, each in enumerate(given)]
        pairs = [pair for each, texts in zip(names_of, given, strict=True) for pair in zip(each, texts, strict=True)]
        lines = [setup, *(f"const {name} = {text}" for name, text in pairs)]
        steps = [f"const made = {called}", *(f"__out__(made({', '.join(each)}))" for each in names_of)]
        all_names = (*names.values(), *(name for name, _ in pairs))
        return Call("\n".join(filter(None, lines)), "\n".join(steps), all_names, GUESSED, _PRINTER)

    def _given_to(self, made: tree_sitter.Node, setup: str) -> Sequence[Sequence[str]]:
        """Arguments for some calls of a function that was made: of the kinds that it uses, or any if these are open."""
        parameters = parameters_of(self._module, made)
        kinds = [used_as(made, each.name) if each.kind.name == "any" else each.kind for each in parameters]
        if all(each.name in ("any", "number", "string") for each in kinds):
            return _GIVEN[len(setup) % len(_GIVEN)]
        draws = ValueDraws(zlib.crc32(setup.encode()), constants(self._module, self._subject.node))
        return [[draws.value(kind) for kind in kinds] for _ in range(_TIMES_CALLED)]

    def _on_objects(self, rows: list[_RowWithOrigin]) -> Iterator[Call]:
        """A method's calls, each on a separate object on which other methods were called before."""
        subject = self._subject
        makings, before = self._makings(subject.owner), self._steps(subject.owner, subject.callee)
        wanted = max(DRAWN_ALONE, len(rows))
        for number, (row, origin) in enumerate(itertools.islice(itertools.cycle(rows), wanted)):
            setup, names = bound(subject.parameters, row, "obj")
            earlier = [f"obj.{step}" for step in before[number * 3 : number * 3 + number % 4]]
            called = f"({arguments(subject.parameters, names)})" if subject.how == "method" else ""
            body = f"__out__(obj.{subject.callee}{called})"
            if subject.how == "setter":
                body = f"obj.{subject.callee} = {arguments(subject.parameters, names)}"
            making = f"const obj = {makings[number % len(makings)]}"
            yield Call(
                "\n".join(part for part in (setup, making, *_quiet(earlier)) if part),
                body,
                ("obj", *names.values()),
                origin,
                _PRINTER,
            )

    def _lives(self) -> Iterator[Call]:
        """Objects created and called several times, with the result of each call."""
        name = self._subject.name
        makings, steps = self._makings(name), self._steps(name)
        shape = shape_of(self._module, name)
        given = [*shape.init.parameters, *(each for method in shape.methods for each in method.parameters)]
        origin = "drawn" if all(each.kind.known for each in given) else GUESSED
        for number in range(DRAWN_ALONE if steps else len(makings)):
            start = number * 5 % max(len(steps), 1)
            length = 1 + number % 13 if number % 3 != 1 else 24
            life = [f"__out__(obj.{step})" for step in steps[start : start + length]]
            making = f"const obj = {makings[number % len(makings)]}"
            yield Call("", "\n".join([making, *_quiet(life), "__out__(obj)"]), (), origin, _PRINTER)

    def _makings(self, owner: str) -> list[str]:
        """Expressions that create objects of a class."""
        init = shape_of(self._module, owner).init
        # An object in four is one of a subclass.
        names = [owner] * 3 + [each for each in subclasses(self._module, owner)
                               if shape_of(self._module, each).init.parameters == init.parameters]  # fmt: skip
        if not init.parameters:
            return [f"new {each}()" for each in dict.fromkeys(names)]
        named = replace(init, name=owner)
        rows = with_few(
            (row for row, _ in itertools.islice(self._rows(named), 80)), self._seed, _fixed_parameters(named)
        )
        return [
            f"new {names[n % 4 if n % 4 < 3 else -1]}({arguments(init.parameters, row)})" for n, row in enumerate(rows)
        ]

    def _plain_makings(self, subject: Subject) -> dict[str, list[str]]:
        """Expressions that create objects of the classes that a subject accepts."""
        wanted = {each.text for parameter in subject.parameters for each in _within(parameter.kind)} - {""}
        return {name: self._makings(name) for name in wanted & self._module.classes if name != subject.owner}

    def _steps(self, owner: str, leave_out: str = "") -> list[str]:
        """Calls of a class' public methods, shuffled."""
        columns: list[list[str]] = []
        for method in shape_of(self._module, owner).methods[:12]:
            if method.callee == leave_out:
                continue
            if method.how == "getter":
                columns.append([method.callee] * 40)
                continue
            rows = with_few(
                (row for row, _ in itertools.islice(self._rows(method, 60), 120)), self._seed, _fixed_parameters(method)
            )
            columns.append([f"{method.callee}({arguments(method.parameters, row)})" for row in rows])
        random = Random(self._seed)  # noqa: S311 - inputs must be reproducible
        return [random.choice(random.choice(columns)) for _ in range(1600)] if columns else []


_AWAITS_VALUE = re.compile(r"\bawait\s+[\w$.]+\s*[;,)\]+\-*/]")
_ITEM = re.compile(r'(?<=[\[ ])(-?\d[\d.]*|"[^"\\]*")(?=[,\]])')


def _promised(row: ArgumentRow) -> ArgumentRow:
    """A row whose arrays hold promises: code that awaits a value expects some."""
    return {
        name: _ITEM.sub(r"Promise.resolve(\1)", text) if text.startswith("[") else text for name, text in row.items()
    }


_TIMES_CALLED = 3
_GIVEN: Sequence[Sequence[Sequence[str]]] = (
    (["3"], ["3"], ["4"]), (["2"], ['"a b"'], []), (['"a"'], ['"b"'], ['"a"']), (["[1, 2]"], ["[3]"], ["5", "1"]),
)  # fmt: skip
"""What a function that was made is called with, one call after the other."""


def _made_function(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The function that a function returns, if it is written in it."""
    body = node.child_by_field_name("body")
    if body is None or body.type in _FUNCTIONS:
        return body
    pending = [body]
    while pending:
        each = pending.pop()
        if each.type == "return_statement":
            return next((part for part in each.named_children if part.type in _FUNCTIONS), None)
        pending += [part for part in each.named_children if part.type not in _FUNCTIONS]
    return None


_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function_declaration"})


def _kinds(subject: Subject, written: Sequence[ArgumentRow]) -> tuple[list[ValueKind], bool]:
    """The kinds of the parameters, and whether any of them is a guess."""
    kinds, is_guessed = [], False
    for each in subject.parameters:
        kind = each.kind
        if not kind.known and (texts := [row[each.name] for row in written if each.name in row]):
            shown = kind_of(texts)
            kind = shown if shown.known else kind
        if kind.name == "any" or (kind.name == "array" and not kind.known):
            used = used_as(subject.node, each.name)
            is_guessed = True
            kind = used if kind.name == "any" or used.name == "array" else kind
        kinds.append(kind)
    return kinds, is_guessed or not all(kind.known for kind in kinds)


def _drawn(draws: ValueDraws, parameters: Sequence[Parameter], kinds: Sequence[ValueKind]) -> ArgumentRow:
    row: ArgumentRow = {}
    for parameter, kind in zip(parameters, kinds, strict=True):
        if parameter.optional and draws.random.random() < 0.3:
            break
        row[parameter.name] = draws.value(kind)
    return row


def _fixed_parameters(subject: Subject) -> list[str]:
    """The parameters that are documented to have a fixed set of values."""
    return [
        each.name
        for each in subject.parameters
        if any(kind.name == "literal" for kind in (each.kind, *each.kind.items))
    ]


def _within(kind: ValueKind) -> Iterator[ValueKind]:
    if kind.name == "class":
        yield kind
    for each in (*kind.items, *(field for _, field, _ in kind.fields)):
        yield from _within(each)


def _as_source(row: ArgumentRow) -> ArgumentRow:
    return {name: source(text) for name, text in row.items()}


def _quiet(lines: Sequence[str]) -> list[str]:
    """Statements wrapped so that one that fails does not prevent the next."""
    caught = "__out__(error)"
    return [f"try {{ {line} }} catch (error) {{ {caught if line.startswith('__out__') else ''} }}" for line in lines]
