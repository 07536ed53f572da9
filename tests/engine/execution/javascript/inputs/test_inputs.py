"""Inputs for JavaScript and TypeScript come from what the code compares with, asks about and says that it takes."""

from __future__ import annotations

import re

import pytest

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.coverage_guided import coverage_guided_calls
from stet_ls.engine.execution.inputs.rows import GUESSED
from stet_ls.engine.execution.javascript.inputs.calls import calls_for, new_constants
from stet_ls.engine.execution.javascript.inputs.constants import constants
from stet_ls.engine.execution.javascript.inputs.guided_changes import changed_call
from stet_ls.engine.execution.javascript.inputs.subject import read_module, subject_of
from stet_ls.engine.execution.javascript.inputs.values.untyped_params import used_as

SHORT = "var s = 1000, m = s * 60;\nfunction f(ms) { return ms >= m ? 'm' : ms; }\n"


def meant(text: str) -> list[str]:
    """The constants of `f` in a text."""
    module = read_module(text, "javascript")
    assert module is not None
    subject = subject_of(module, "f")
    assert subject is not None
    return constants(module, subject.node)


MEANT = {
    "a product of the module's": (SHORT, {"60000", "60001", "59999", "1000"}),
    "one of its own": ("function f(n) { const day = 24 * 60 ** 2; return n % day; }\n", {"86400"}),
    "one in brackets": ("function f(n) { return n > -(3 + 4) * 5; }\n", {"-35", "-34", "-36"}),
    "half of one": ("const h = 3600;\nfunction f(n) { return n > h * 1.5 ? 1 : n > h / 7200; }\n", {"5400", "0.5"}),
    "an object's": (
        "const ROMAN = { IX: 9, V: 5 };\nconst f = (s) => Object.keys(ROMAN).filter((k) => s === k);\n", {"'IX'", "9"},
    ),
    "letters by their codes": ("function f(s) { return s.charCodeAt(0) >= 97; }\n", {"'a'", "'b'", "'`'"}),
    "nothing of what has no number": (
        "function f(n) { return n > 1 / 0 || n > (1 << 99) || n > (0 - 8) ** 0.5 || n > 'a' * 2; }\n", {"'a'"},
    ),
    "nor of what is too deep": (f"function f(n) {{ return n > {'1 + ' * 3000}7; }}\n", {"7"}),
    "nor of what names itself": ("const a = b * 2, b = a * 2;\nfunction f(n) { return n > a; }\n", {"2"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANT)
def test_constants_that_the_code_compares_with_are_found(name: str) -> None:
    text, wanted = MEANT[name]
    assert wanted <= set(meant(text))


def test_powers_of_powers_are_not_computed() -> None:
    assert not {"961", "16"} & set(meant("function f(n) { return n > 9 ** 64 % 1000 || n > (8 << 60) / 2 ** 59; }\n"))
    assert {"9", "64"} <= set(meant("function f(a) { return a + ((((9 ** 64) ** 64) ** 64) ** 64); }\n"))


def test_the_value_of_a_product_is_an_input() -> None:
    assert "const ms = 60000" in {call.setup for call in calls_for(SHORT, "javascript", "f")}


def test_constants_of_the_new_text_alone_are_inputs() -> None:
    new = new_constants(SHORT, SHORT.replace("return ", "if (ms === 7 * 11) return 0;\n  return "), "javascript", "f")
    assert {"7", "11", "77", "76"} <= set(new)
    assert not {"1000", "60000"} & set(new)
    calls = calls_for(SHORT, "javascript", "f", besides=new)
    assert "const ms = 77" in {call.setup for call in calls}


ASKED = {
    "x == null ? 0 : x * 2": {"number", "null", "undefined"},
    "x === undefined ? 0 : x * 2": {"number", "undefined"},
    "x ?? 0": {"number", "null", "undefined"},
    "x?.size": {"object", "null", "undefined"},
    "typeof x === 'string' ? x.trim() : x": {"string", "number"},
    "'boolean' !== typeof x ? x / 2 : 0": {"boolean", "string", "number"},
    "Array.isArray(x) ? x[0] : x": {"array", "number", "string"},
    "x * 2": {"number"},
}


@pytest.mark.parametrize("body", ASKED)
def test_a_parameter_gets_values_of_the_requested_kinds(body: str) -> None:
    module = read_module(f"const f = (x) => {body};\n", "javascript")
    subject = subject_of(module, "f") if module else None
    assert subject is not None
    kind = used_as(subject.node, "x")
    assert {each.name for each in kind.items or (kind,)} == ASKED[body]


SAME = "/**\n * @param {string} one\n * @param {string} other\n */\nfunction f(one, other) { return one === other; }\n"


def test_some_arguments_are_equal_and_some_characters_are_wide() -> None:
    pairs = [re.findall(r'= "(.*)"', call.setup) for call in calls_for(SAME, "javascript", "f")]
    texts = [(one, other) for one, other in (pair for pair in pairs if len(pair) == 2) if one]
    assert sum(one == other for one, other in texts) > 5
    assert sum(one != other and one.lower() == other.lower() for one, other in texts) > 3
    assert any("\\ud83d" in text or "\N{THUMBS UP SIGN}" in text for pair in texts for text in pair)


@pytest.mark.parametrize(
    "value", ["'{}', ''".format("7" * 5000), f"0x{'f' * 5000}, 1"], ids=["in a text", "as a number"]
)
def test_a_number_of_thousands_of_digits_is_an_input(value: str) -> None:
    text = f"function same(one, other) {{ return one === other; }}\nsame({value});\n"
    setups = [call.setup for call in calls_for(text, "javascript", "same")]
    assert any(value[1:4000] in setup for setup in setups)


def test_values_of_literal_types_are_not_varied() -> None:
    text = "export function f(way: 'up' | 'down', by: 1 | 2) { return way + by; }\n"
    setups = {call.setup for call in calls_for(text, "typescript", "f")}
    assert setups == {f"const way = '{way}'\nconst by = {by}" for way in ("up", "down") for by in (1, 2)}


def test_holes_in_array_literals_are_kept() -> None:
    text = "/** @example f([1, , 3]) */\nfunction f(xs) { return xs.length; }\n"
    assert "const xs = [1, , 3]" in {call.setup for call in calls_for(text, "javascript", "f")}


def test_inputs_are_reproducible() -> None:
    first = calls_for(SAME, "javascript", "f")
    calls_for.cache_clear()
    assert calls_for(SAME, "javascript", "f") == first


REACHED = {
    "const n = 5": r"const n = (?:49|50|51)",
    "const xs = [1, 2]": r"const xs = \[(?:-?\d+, ){48,50}-?\d+\]",
    'const s = "ab"': r'const s = "(?:77|.{49,51})"',
    "const o = {a: [1], b: null}": r"const o = \{a: \[(?:49|50|51)\], b: null\}",
    "const m = new Map([['a', 1]])": r"const m = new Map\(\[\[.*\b(?:49|50|51)\b.*\]\]\)",
    "const obj = new Point(1, x => x)": r"const obj = new Point\((?:49|50|51), x => x\)",
}


@pytest.mark.parametrize("setup", REACHED)
def test_constants_replace_literals_in_arguments(setup: str) -> None:
    call = Call(setup, "__out__(f())")
    made = coverage_guided_calls([call], ["50", "'77'"], lambda each, values: changed_call(each, values, is_open=False))
    assert any(re.fullmatch(REACHED[setup], each.setup) for each in made), [each.setup for each in made][:20]
    assert all(each.body == call.body for each in made)


def test_long_arguments_are_varied_only_where_there_are_no_shorter_ones() -> None:
    long, short = (Call(f"const xs = [{', '.join(['1'] * count)}]", "__out__(f(xs))") for count in (900, 2))

    def bases(*calls: Call) -> set[str]:
        seen: set[str] = set()
        coverage_guided_calls(calls, ["50"], lambda each, _: seen.add(each.setup))
        return seen

    assert bases(long, short) == {short.setup}
    assert bases(long) == {long.setup}


def test_arguments_of_method_calls_are_varied() -> None:
    call = Call("", "const obj = new Stack();\ntry { __out__(obj.push(3)) } catch (error) { __out__(error) }")
    made = coverage_guided_calls([call], ["50"], lambda each, values: changed_call(each, values, is_open=False))
    assert {re.sub(r"\d+", "N", each.body) for each in made} == {call.body.replace("3", "N")}


def test_other_kinds_are_tried_only_where_the_kind_was_guessed() -> None:
    for origin, is_open in (("drawn", True), (GUESSED, False), (GUESSED, True)):
        calls = [Call(f"const n = {n}", "__out__(f(n))", origin=origin) for n in range(60)]
        made = coverage_guided_calls(
            calls, ["50"], lambda each, values, how=is_open: changed_call(each, values, is_open=how)
        )  # type: ignore[misc]
        others = [each.setup for each in made if not re.fullmatch(r"const n = -?\d+", each.setup)]
        assert bool(others) == (origin == GUESSED and is_open)
