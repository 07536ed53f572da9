"""Infers the values of parameters without a hint from their default, their name and their use."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.stated_forms import stated_forms
from stet_ls.engine.execution.python.inputs.subject import Parameter, Subject
from stet_ls.engine.execution.python.inputs.values import plain_values, type_strategies
from stet_ls.engine.execution.python.inputs.values.kinds.dates import is_name
from stet_ls.engine.execution.python.inputs.values.kinds.described_items import described_item, is_plural
from stet_ls.engine.execution.python.inputs.values.kinds.item_kinds import kinds_of_parts
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import named_kind
from stet_ls.engine.execution.python.inputs.values.kinds.used_kinds import (
    is_only_compared,
    is_only_tested,
    kinds_by_use,
)
from stet_ls.engine.execution.python.inputs.values.objects.linked_objects import linked_objects
from stet_ls.engine.execution.python.inputs.values.plain_values import ModuleContext, TextStrategy
from stet_ls.engine.execution.python.inputs.values.texts.time_texts import formats_of, time_texts
from stet_ls.engine.execution.python.inputs.values.type_strategies import of_hint
from stet_ls.validators.ast_text import parse_expression, unparse

_ALIKE = ("int", "str", "list[int]", "list[str]", "dict[str, int]")
_CONTAINERS = ("set", "frozenset", "dict", "list", "tuple")
_MOST_NAMES = 8
_LARGEST = 2**64
_TRUTHS = ("True", "False")
_TESTED = ("None", "0", "''", "[]", "1", "'a'", "[0]")
"""Other values of which code may only ask whether they are true."""
_FALSE = ("None", "0", "''", "False", "'a b&c=\"<d>'")


def of_parameter(parameter: Parameter, node: ast.AST, known: ModuleContext) -> TextStrategy:
    """The strategy of a parameter of `node`, by its hint or else by all evidence for a kind."""
    if parameter.name.startswith("**"):
        return _keywords(of_hint(parameter.annotation, known), known, parameter.name, node)
    if parameter.name.startswith("*"):
        one = of_hint(parameter.annotation, known)
        # Arguments of the same kind, whatever it is, fit each other.
        alike = [one] if one is not None else [_one_of([kind], known) for kind in _ALIKE]
        return st.one_of([plain_values.lists(each, most=plain_values.FEW) for each in alike])

    def hinted_value(each: Parameter) -> TextStrategy | None:
        return of_hint(each.annotation, known.deeper())

    if (linked := linked_objects(parameter, node, known, hinted_value)) is not None:
        return linked
    if parameter.name in (forms := formats_of(node)) and _may_be_text(parameter):
        times = time_texts(forms[parameter.name])
        return st.one_of(times, times, times, plain_values.SHORT(known))
    numerals = [*_numerals(parameter, node, known), *_split_numbers(parameter, node)]
    if (hinted := of_hint(parameter.annotation, known)) is not None:
        return st.one_of(hinted, st.sampled_from(numerals)) if numerals else hinted
    own = _own_class(parameter.name, known) if parameter.annotation is None else None
    if own is not None:
        return own
    if isinstance(parameter.default, ast.Name) and (name := parameter.default.id) in _LIKE_CLASS:
        return st.sampled_from([name, *_LIKE_CLASS[name]])
    guessed = _guessed(parameter, node, known)
    return st.one_of(guessed, st.sampled_from(numerals)) if numerals else guessed


def _may_be_text(parameter: Parameter) -> bool:
    return parameter.annotation is None or unparse(parameter.annotation) in ("str", "'str'")


def _numerals(parameter: Parameter, node: ast.AST, known: ModuleContext) -> list[str]:
    """Texts of the whole numbers in the code and their neighbors, for a text of which it makes a number."""
    if not _may_be_text(parameter):
        return []
    parsed = (each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args
              and getattr(each.func, "id", "") in ("int", "float", "Decimal"))  # fmt: skip
    if not any(is_name(part, parameter.name) for each in parsed for part in ast.walk(each.args[0])):
        return []
    found = [value for each in known.constants if type(value := literal(each)) is int and abs(value) < _LARGEST]
    return [repr(str(value + step)) for value in dict.fromkeys((*found, 0, 10)) for step in (0, -1, 1)]


_SPLIT = (
    ("1", "2", "3"), ("1", "10"), ("2", "0"), ("0",), ("1", "2", "0"), ("10", "0", "1"), ("1", "2"),
    ("1", "2", "3", "4"), ("a", "0"), ("a", "1", "0"), ("a", "-1"),
)  # fmt: skip
"""Numbers of a text, some of which are equal or in another order as texts."""


_SPLITS = frozenset({"split", "rsplit", "partition", "rpartition"})


def _split_numbers(parameter: Parameter, node: ast.AST) -> list[str]:
    """Texts of numbers between the separator at which the code splits a text, if it makes numbers of the pieces."""
    called = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    asks = any(getattr(each, "id", "") == "int" or getattr(each, "attr", "") == "isdigit" for each in called)
    docs = ast.get_docstring(node) or "" if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
    forms, found = stated_forms(docs), list[str]()
    for each in ast.walk(node) if asks else ():
        match each:
            case ast.Call(func=ast.Attribute(value=held, attr=method), args=[ast.Constant(value=str(sign)), *_]):
                held = held.func.value if isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute) else held
                if method in _SPLITS and is_name(held, parameter.name):
                    stated = {form.count(sign) for form in forms if sign in form}
                    texts = (sign.join(numbers) for numbers in _SPLIT)
                    found += [repr(text) for text in texts if not stated or text.count(sign) in stated]
    return found


def _guessed(parameter: Parameter, node: ast.AST, known: ModuleContext) -> TextStrategy:
    """The strategy of a parameter by its uses, its default and its name."""
    kinds, weak = kinds_by_use(parameter.name, node)
    if not kinds and not is_only_compared(parameter.name, node):
        kinds = [each for each in parameter.likely if each != "str" or not is_plural(parameter.name)]
    if parts := kinds_of_parts(node, {parameter.name}):
        kinds, weak = (_with_parts(each, parts) for each in (kinds, weak))
    if any(_is_copied(each, parameter.name) for each in ast.walk(node)):
        kinds = ["dict[str, list[int]]", "list[list[int]]", *kinds]  # with parts that a copy may share
    if (described := described_item(parameter.name, node, named_kind)) and (kinds or weak):
        items = [f"tuple[{', '.join(part or other for part in described)}]" for other in ("int", "str")]
        is_list = "list[int]" in weak or _are_pairs(kinds)
        return _one_of([f"list[{each}]" for each in items] if is_list else items, known)
    if "list[int]" in weak and is_plural(parameter.name):
        weak = [each for each in weak if each != "str"]
    if enums := _compared_enums(parameter.name, node, known):
        return st.one_of(_one_of(enums, known), st.just("None"), plain_values.SHORT(known))
    default = parameter.default
    kinds = [*_kinds_of_default(default), *kinds]
    if named_kind(parameter.name) == "dict[str, str]":
        kinds = ["dict[str, str]" if each == "dict[str, int]" else each for each in kinds]
    if not kinds and not weak and not named_kind(parameter.name) and is_only_compared(parameter.name, node):
        return st.one_of(plain_values.INTEGERS(known), plain_values.SHORT(known))
    if not kinds and not weak and is_only_tested(parameter.name, node):
        truths = st.sampled_from(_TRUTHS)
        return st.one_of(truths, truths, truths, st.sampled_from(_TESTED))
    if not kinds:
        named = [kind] if (kind := named_kind(parameter.name)) else []
        guessed = _one_of(weak if weak and named == ["int"] else [*named, *weak], known)
        return st.one_of(guessed, guessed, guessed, ANY(known))
    strategy = _one_of(kinds, known)
    if isinstance(default, ast.Constant) and default.value is None:
        return st.one_of(strategy, st.just("None"))
    return strategy


_LIKE_CLASS = {
    "dict": ["__import__('collections').OrderedDict"], "list": ["tuple"], "tuple": ["list"], "set": ["frozenset"],
    "str": ["repr"], "int": ["float"], "float": ["int"], "bool": [], "bytes": ["bytearray"],
}  # fmt: skip
"""What may be given for a parameter whose default is a class: another one that makes the like."""


def _kinds_of_default(default: ast.expr | None) -> list[str]:
    if isinstance(default, ast.Constant) and default.value is not None:
        return [type(default.value).__name__]
    if isinstance(default, ast.List | ast.Dict | ast.Set | ast.Tuple):
        return [type(default).__name__.lower()]
    made_by = getattr(default.func, "id", "") if isinstance(default, ast.Call) else ""
    return [made_by] if made_by in _CONTAINERS else []


def _are_pairs(kinds: Sequence[str]) -> bool:
    """Whether the only kind that the uses imply is a list of what a loop takes apart."""
    return bool(kinds) and all(each.startswith("list[tuple") for each in kinds)


def _with_parts(kinds: Sequence[str], parts: Sequence[str]) -> list[str]:
    """The kinds; containers of numbers also with parts of other kinds."""
    mixed = f"int | {' | '.join(parts)}"
    found = [[f"dict[Label, {mixed}]", each] if each == "dict[str, int]" else
             [f"list[{mixed}]", each] if each == "list[int]" else [each] for each in kinds]  # fmt: skip
    return [kind for each in found for kind in each]


def _own_class(name: str, known: ModuleContext) -> TextStrategy | None:
    """Objects of the class of the module that a parameter is called like: `employee` of `Employee`."""
    named = "".join(part.capitalize() for part in name.split("_"))
    return type_strategies.class_objects(named, known) if named in known.module.shapes else None


_OF_NUMBERS = re.compile(r"nums|numbers|ints|prices|scores|vector")
_TOPS = {
    "int": {"int", "bool"}, "float": {"int", "float"}, "bool": {"bool"}, "str": {"str"}, "list": {"List"},
    "dict": {"Dict"},
}  # fmt: skip
_WORDS = (
    (r"texts?|strings?|words?|sentences?|letters?|characters?|paragraphs?", "str"),
    (r"lists?|arrays?|sequences?|numbers|values|items|matrix|grid|rows", "list"),
    (r"dictionar(y|ies)|mappings?|dicts?", "dict"),
)


def meant_kinds(subject: Subject) -> dict[str, frozenset[str]]:
    """The kinds of literals that names suggest for parameters without a hint; a docstring's words for a single one."""
    docs = (ast.get_docstring(subject.node) or "").partition(">>>")[0].lower()
    is_whole = re.search(r"\b(whole number|integer)", docs) and not re.search(r"\b(float|decimal|real)", docs)
    found = {}
    open_ones = [each for each in subject.parameters if each.annotation is None and each.name[0] != "*"]
    for each in open_ones:
        kind, _, items = named_kind(each.name).partition("[")
        is_of_lists = re.search(r"\b(two|both|some) (\w+ )?(lists|arrays|sequences)\b", docs) is not None
        if len(open_ones) == 1:
            # The word that comes first is what the function is about.
            met = [(match.start(), top) for words, top in _WORDS if (match := re.search(rf"\b({words})\b", docs))]
            kind = min(met)[1] if met else kind
        uses, weak = kinds_by_use(each.name, subject.node)
        parts = described_item(each.name, subject.node, named_kind)
        is_list = "list[int]" in weak or _are_pairs(uses)
        if is_of_lists and is_list:
            kind = "list"
        if (
            (not uses or _are_pairs(uses))
            and is_list
            and (parts or (is_plural(each.name) and kind in ("", "str", "dict")))
        ):
            kind = "list"
        if kind in _TOPS and not (kind == "int" and not is_whole):
            inner = {"list[int]]": "List of List", "str]": "List of str"}.get(items, "") if kind == "list" else ""
            inner = "List of Tuple" if parts and kind == "list" else inner
            inner = "" if _has_records(each.name, subject.node) else inner
            is_of_numbers = _OF_NUMBERS.fullmatch(each.name) and not parts
            numbers = {f"List of {top}" for top in _TOPS["float"]} if is_of_numbers else set()
            found[each.name] = frozenset({*_TOPS[kind], *numbers, inner} - {""})
    return found


def _has_records(name: str, node: ast.AST) -> bool:
    """Whether the items of a name are asked for keys: `for row in rows: row["email"]`."""
    items = {each.target.id for each in ast.walk(node) if isinstance(each, ast.For | ast.comprehension)
             and isinstance(each.target, ast.Name) and is_name(each.iter, name)}  # fmt: skip
    keyed = (each.value for each in ast.walk(node) if isinstance(each, ast.Subscript)
             and isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str))  # fmt: skip
    return any(isinstance(each, ast.Name) and each.id in items for each in keyed)


_TAKEN = {
    "print": ("sep", "end"), "sorted": ("reverse",), "dumps": ("indent", "sort_keys"), "open": ("encoding", "errors"),
    "max": ("default",), "min": ("default",), "round": ("ndigits",), "enumerate": ("start",),
}  # fmt: skip
"""Names that functions of the standard library take, by the function to which code passes its own `**` on."""


def _keywords(one: TextStrategy | None, known: ModuleContext, name: str, node: ast.AST) -> TextStrategy:
    """Dictionaries for `**`: names that the code or the functions it calls know, and unsorted other ones."""
    others = [each for each in known.module.tree.body if isinstance(each, ast.FunctionDef)]
    named = [each.arg for other in others for each in (*other.args.args, *other.args.kwonlyargs)]
    keys = [str(text) for each in known.constants if (text := _word(each))]
    taken = list(dict.fromkeys((*_passed_on(name, node), *keys)))[:_MOST_NAMES]
    names = list(dict.fromkeys(("b", "some_key", "a", *named)))[:_MOST_NAMES]
    value = one if one is not None else st.one_of(_one_of(["str", "int", "bool"], known), st.sampled_from(_FALSE))
    drawn = [_pairs_of(each, value) for each in (taken, taken, [*names, *taken]) if each]
    return drawn[0] if len(drawn) == 1 else st.one_of(*drawn)


def _pairs_of(names: Sequence[str], value: TextStrategy) -> TextStrategy:
    pairs = st.lists(st.tuples(st.sampled_from(names), value), max_size=3, unique_by=lambda pair: pair[0])
    return pairs.map(lambda found: "{" + ", ".join(f"{name!r}: {text}" for name, text in found) + "}")


def _passed_on(name: str, node: ast.AST) -> Iterator[str]:
    """The names that a function of the standard library takes, to which `**name` is passed on."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and any(
            word.arg is None and isinstance(word.value, ast.Name) and word.value.id == name.lstrip("*")
            for word in each.keywords
        ):
            yield from _TAKEN.get(getattr(each.func, "attr", getattr(each.func, "id", "")), ())


def _word(text: str) -> str:
    value = literal(text)
    return value if isinstance(value, str) and value.isidentifier() else ""


def items_compared(parameters: Sequence[Parameter], node: ast.AST) -> dict[str, str]:
    """Parameters without a hint that `node` compares with another's items, and that other one."""
    names = {each.name for each in parameters}
    holders = {each.target.id: each.iter for each in ast.walk(node)
               if isinstance(each, ast.For | ast.comprehension) and isinstance(each.target, ast.Name)}  # fmt: skip
    holders |= {each.targets[0].id: each.value.value for each in ast.walk(node) if isinstance(each, ast.Assign)
                and isinstance(each.targets[0], ast.Name) and isinstance(each.value, ast.Subscript)}  # fmt: skip
    found = {}
    for each in ast.walk(node):
        if not isinstance(each, ast.Compare):
            continue
        for one, other in itertools.permutations([each.left, *each.comparators], 2):
            holder = other.value if isinstance(other, ast.Subscript) else holders.get(getattr(other, "id", ""))
            if isinstance(one, ast.Name) and isinstance(holder, ast.Name) and {one.id, holder.id} <= names:
                found[one.id] = holder.id
    open_ones = {each.name for each in parameters if each.annotation is None}
    return {one: holder for one, holder in found.items() if one in open_ones and one != holder}


def _one_of(kinds: list[str], known: ModuleContext) -> TextStrategy:
    """Any of some kinds, each written as a hint; anything at all if none of them is known."""
    found = [of_hint(parse_expression(kind).body, known) for kind in dict.fromkeys(kinds)]
    options = [each for each in found if each is not None]
    return st.one_of(options) if options else ANY(known)


def ANY(known: ModuleContext) -> TextStrategy:
    """One of the kinds that functions mostly accept, if nothing is known."""
    return st.one_of(
        plain_values.INTEGERS(known),
        plain_values.SHORT(known),
        plain_values.lists(plain_values.INTEGERS(known)),
        plain_values.lists(plain_values.SHORT(known)),
        st.sampled_from(["None", "True", "0.5", "{}", "[[1, 2], [3]]", "{'a': 1}", "(1, 2)"]),
    )  # fmt: skip


def _is_copied(node: ast.AST, name: str) -> bool:
    """Whether a node is `deepcopy` of that name."""
    if not isinstance(node, ast.Call):
        return False
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return called == "deepcopy" and any(is_name(argument, name) for argument in node.args)


def _compared_enums(name: str, node: ast.AST, known: ModuleContext) -> list[str]:
    """The enumerations of the module that a name is compared with the members of."""
    enums = {shape.name for shape in known.module.shapes.values() if shape.members}
    compared = [each for each in ast.walk(node) if enums and isinstance(each, ast.Compare) and is_name(each.left, name)]
    inner = (part for each in compared for other in each.comparators for part in ast.walk(other))
    return list(dict.fromkeys(part.id for part in inner if isinstance(part, ast.Name) and part.id in enums))
