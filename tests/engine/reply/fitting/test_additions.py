"""Where the definitions of a reply go when something is added: `¦` is the place, `«»` a target to be changed."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from stet_ls.engine.api.request import Target, TargetKind
from stet_ls.engine.reply.fitting.additions import add_code
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import units
from stet_ls.validators.structure.member_locations import member_end


def added(marked: str, code: str, language: str = "python", *, indent: str = "") -> str:
    """The document with the reply's code in it."""
    marked, code = dedent(marked), dedent(code)
    source = Source(re.sub("[¦«»]", "", marked))
    if "¦" in marked:
        at = len(marked.partition("¦")[0].encode())
        target = Target(TargetKind.INSERTION, Span(at, at), indent=indent)
    elif "«" in marked:
        start, end = marked.index("«"), marked.index("»") - 1
        name = next(unit.qualified for unit in units(source, language) if unit.span.start == start)
        target = Target(TargetKind.UNIT, Span(start, end), name)
    else:
        target = Target(TargetKind.DOCUMENT, source.whole)
    made = add_code(code, source=source, target=target, language=language)
    assert made.problem is None
    return source.splice(made.splices).text


SHOP = """\
    import os


    class Basket:
        def total(self):
            return 0


    def main():
        return Basket()
    """
WORDS = """\
    def words(text):
        return len(text.split())
    """


def with_words(shop: str = SHOP) -> str:
    return f"{dedent(shop)}\n\n{dedent(WORDS)}"


REPLIES = (
    WORDS,
    dedent(SHOP) + "\n\n" + dedent(WORDS),  # the whole file again
    dedent(WORDS) + "\n\n" + dedent(SHOP).partition("\n\n\n")[2],  # in another order, without imports
    dedent(SHOP).partition("\n\n\n")[2] + "\n\n" + dedent(WORDS),
    "def main():\n    return Basket()\n\n\n" + dedent(WORDS),
)


@pytest.mark.parametrize(
    ("reply", "whole"), [*((reply, False) for reply in REPLIES), *((reply, True) for reply in REPLIES[1:])]
)  # of a whole document that is to be changed, a reply without any of it is for the judge of signatures
def test_a_new_function_removes_nothing(reply: str, *, whole: bool) -> None:
    after = added(SHOP if whole else f"{dedent(SHOP)}¦", reply)
    names = [unit.qualified for unit in units(Source(after), "python")]
    assert sorted(names) == ["Basket", "Basket.total", "main", "words"]
    if reply == WORDS and not whole:
        assert after == with_words()


def test_other_units_changed_by_a_reply_are_replaced_in_place() -> None:
    after = added(f"{dedent(SHOP)}¦", "def main():\n    return words('a')\n\n\n" + dedent(WORDS))
    assert after == with_words(SHOP.replace("Basket()", "words('a')"))


def test_imports_are_moved_to_the_top() -> None:
    after = added(f"{dedent(SHOP)}¦", "import re\n\n\ndef words(text):\n    return re.split(' ', text)\n")
    assert after.startswith("import os\nimport re\n\n\nclass Basket")
    assert after.endswith("    return Basket()\n\n\ndef words(text):\n    return re.split(' ', text)\n")


@pytest.mark.parametrize(
    "reply",
    [
        "def add(self, price):\n    self.price = price\n",
        "class Basket:\n    def add(self, price):\n        self.price = price\n",
        "class Basket:\n    # the rest\n    def total(self):\n        return 0\n\n"
        "    def add(self, price):\n        self.price = price\n",
    ],
    ids=["alone", "its class", "the class again"],
)
def test_a_method_is_added_to_its_class(reply: str) -> None:
    source = Source(dedent(SHOP))
    at, indent = member_end(source, "python", units(source, "python")[0])
    after = added(source.text[:at] + "¦" + source.text[at:], reply, indent=indent)
    names = [unit.qualified for unit in units(Source(after), "python")]
    assert names == ["Basket", "Basket.total", "Basket.add", "main"]


def test_a_function_is_placed_after_the_class_at_the_cursor() -> None:
    shop = dedent(SHOP)
    at = shop.index("\n\ndef main")
    after = added(f"{shop[:at]}¦{shop[at:]}", WORDS, indent="    ")
    assert [unit.qualified for unit in units(Source(after), "python")] == ["Basket", "Basket.total", "words", "main"]
    assert "\n\n\ndef words(text):\n    return len(text.split())\n\n\ndef main" in after


def test_an_overload_is_placed_next_to_the_other() -> None:
    after = added("class A {\n  int f() { return 1; }\n¦}\n", "int f(int a) { return a; }", "java", indent="  ")
    assert after == "class A {\n  int f() { return 1; }\n\n  int f(int a) { return a; }\n}\n"


@pytest.mark.parametrize(
    ("language", "document", "reply", "names"),
    [
        ("javascript", "class A {\n  f() { return 1; }\n}\n¦", "g() { return 2; }", ["A", "A.f", "A.g"]),
        ("typescript", "class A {\n  f() { return 1; }\n}\n¦", "function g(): number { return 2; }",
         ["A", "A.f", "g"]),
        ("go", "package x\n\ntype A struct{}\n¦", "package x\n\nfunc (a *A) F() int { return 1 }", ["A", "A.F"]),
        ("rust", "struct A;\n\nimpl A {\n    fn f(&self) {}\n}\n¦",
         "impl Default for A {\n    fn default() -> A { A }\n}",
         ["A", "A", "A.f", "A", "A.default"]),
        ("java", "class A {\n  int f() { return 1; }\n}\n¦", "int g() { return 2; }", ["A", "A.f", "A.g"]),
        ("csharp", "class A\n{\n    int F() { return 1; }\n}\n¦", "int G() { return 2; }", ["A", "A.F", "A.G"]),
        ("cpp", "int f() { return 1; }\n¦", "int g() { return 2; }\n\nint f() { return 1; }", ["f", "g"]),
    ],
)  # fmt: skip
def test_additions_in_other_languages_are_placed(language: str, document: str, reply: str, names: list[str]) -> None:
    after = added(document, reply, language)
    assert [unit.qualified for unit in units(Source(after), language)] == names


def test_a_reply_without_the_target_is_added_next_to_it() -> None:
    after = added("«def f():\n    return 1»\n\n\nx = 2\n", WORDS)
    assert after == f"def f():\n    return 1\n\n\n{dedent(WORDS)}\n\nx = 2\n"


def test_a_constant_that_is_defined_again_is_replaced() -> None:
    after = added("LIMIT = 1\nprint(LIMIT)\n¦", "LIMIT = 2\n\n\ndef f():\n    return LIMIT\n")
    assert after == "LIMIT = 2\nprint(LIMIT)\n\n\ndef f():\n    return LIMIT\n"


def test_a_partial_class_with_other_statements_is_refused() -> None:
    source = Source(dedent(SHOP))
    target = Target(TargetKind.INSERTION, Span(len(source.data), len(source.data)))
    made = add_code("class Basket:\n    tax = 2\n\n    def add(self):\n        pass\n", source=source, target=target,
               language="python")  # fmt: skip
    assert made.problem == 'The reply contains only a part of "Basket".'
