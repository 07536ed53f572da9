"""Small edits of a function of JavaScript or TypeScript: each kind of everyday bug is one of them."""

from __future__ import annotations

import pytest

from stet_ls.engine.actions.syntax_edits.edits import script_edits_of
from stet_ls.engine.actions.syntax_edits.script import EditedScript
from stet_ls.engine.execution.javascript.inputs.subject import read_module
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

BUGS = {
    "operator": ("return a - b;", "return a + b;"),
    "comparison": ("return a <  b;", "return a <=  b;"),
    "equality": ("return a === b;", "return a !== b;"),
    "loose equality": ("return a == b;", "return a === b;"),
    "connective": ("return a && b;", "return a || b;"),
    "default that hides zero": ("return a || b;", "return a ?? b;"),
    "condition": ("if (a) return b;", "if (!a) return b;"),
    "negation too much": ("return !a;", "return a;"),
    "step": ("a++;", "a--;"),
    "off by one": ("return a[a.length];", "return a[a.length - 1];"),
    "bound of a slice": ("return a.slice(1, b);", "return a.slice(1, b + 1);"),
    "constant": ("return a * 3;", "return a * 4;"),
    "nearby text": ("a.x('-');\n  return a.y('+');", "a.x('+');\n  return a.y('+');"),
    "truth": ("return a(b, true);", "return a(b, false);"),
    "name": ("return a + a;", "return a + b;"),
    "misspelled name": ("const total = a;\n  return totl;", "const total = a;\n  return total;"),
    "push and unshift": ("a.push(b);", "a.unshift(b);"),
    "slice and splice": ("return a.splice(1);", "return a.slice(1);"),
    "indexOf and includes": ("return a.indexOf(b);", "return a.includes(b);"),
    "forEach and map": ("return a.forEach(b);", "return a.map(b);"),
    "some and every": ("return a.some(b);", "return a.every(b);"),
    "find and filter": ("return a.find(b);", "return a.filter(b);"),
    "min and max": ("return Math.min(a, b);", "return Math.max(a, b);"),
    "floor and ceil": ("return Math.floor(a);", "return Math.ceil(a);"),
    "case": ("return a.toUpperCase();", "return a.toLowerCase();"),
    "length and size": ("return a.length;", "return a.size;"),
    "arguments swapped": ("return b(a, 7);", "return b(7, a);"),
    "argument too much": ("return b(a, 7);", "return b(a);"),
    "comparison missing": ("return a.sort();", "return a.sort((a, b) => a - b);"),
    "return missing": ("a(b);", "return a(b);"),
    "result missing": ("const total = a;", "const total = a;\n  return total;"),
    "return missing in a callback": ("return a.map((x) => { x + 1; });", "return a.map((x) => x + 1);"),
    "return within a loop": (
        "for (const each of a) {\n    b += each;\n    return b;\n  }",
        "for (const each of a) {\n    b += each;\n  }\n  return b;",
    ),
    "statement outside a loop": (
        "for (const each of a) {\n    b += each;\n  }\n  a += 1;\n  return b;",
        "for (const each of a) {\n    b += each;\n    a += 1;\n  }\n  return b;",
    ),
    "for in": ("for (const x in a) b(x);", "for (const x of a) b(x);"),
    "statements swapped": ("a.x();\n  b.y();", "b.y();\n  a.x();"),
    "statement too much": ("a.x();\n  b.y();", "b.y();"),
    "break missing": (
        "switch (a) {\n    case 1:\n      b = 2;\n    default:\n      b = 3;\n  }",
        "switch (a) {\n    case 1:\n      b = 2;\n      break;\n    default:\n      b = 3;\n  }",
    ),
    "copy missing": ("const c = a;", "const c = [...a];"),
    "types stay": ("const c: number = (a as number) - 1;", "const c: number = (a as number) + 1;"),
}


def texts(text: str, language: str = "typescript") -> set[str]:
    source, module = Source(text), read_module(text, language)
    assert module is not None
    edits = script_edits_of(EditedScript(source, module.found["f"].node))
    return {source.splice(sorted(edit.splices, key=lambda each: each.span)).text for edit in edits}


@pytest.mark.parametrize(("broken", "fixed"), BUGS.values(), ids=list(BUGS))
def test_one_edit_fixes_an_everyday_bug(broken: str, fixed: str) -> None:
    assert f"function f(a, b) {{\n  {fixed}\n}}\n" in texts(f"function f(a, b) {{\n  {broken}\n}}\n")


def test_a_default_that_all_calls_share_is_copied() -> None:
    text = "const BASE = {};\nfunction f(x, to = BASE) {\n  to.x = x;\n  return to;\n}\n"
    assert text.replace("= BASE", "= { ...BASE }") in texts(text)


def test_a_missing_await_is_added() -> None:
    text = "async function f(a) {\n  return a.read() + 1;\n}\n"
    assert text.replace("a.read()", "(await a.read())") in texts(text)


def test_most_edits_parse_and_types_stay() -> None:
    text = "function f(xs: Array<1 | 2>, n: number = 1): number[] {\n  const found = xs.filter((x) => x > n);\n"
    text += "  if (!found.length) return [];\n  return found.slice(1).map((x: number) => x * 2);\n}\n"
    made = texts(text)
    parsed = [tree_of(Source(each), "typescript") for each in made]
    assert sum(each is not None and not each.root.has_error for each in parsed) > 0.95 * len(made) > 50
    assert all("xs: Array<1 | 2>" in each for each in made)
