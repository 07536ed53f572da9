"""What was defined stays defined: in every language, moved or not, unless the instruction lets go of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.text import definitions
from stet_ls.engine.judges.text.definitions import removed_names
from stet_ls.validators.source import Source


@dataclass(frozen=True)
class Text:
    """A text of a language with two definitions, one of which goes away in `less`; `moved` has it elsewhere."""

    language: str
    whole: str
    less: str
    lost: str
    moved: str


TEXTS = (
    Text(
        "python", "class A:\n    def f(self):\n        return 1\n\n\ndef g():\n    return 2\n",
        "def g():\n    return 2\n", "A",
        "def g():\n    return 2\n\n\nclass A:\n    def f(self):\n        return 1\n",
    ),
    Text(
        "javascript", "class A {\n  f() { return 1; }\n}\n\nfunction g() { return 2; }\n",
        "class A {\n  f() { return 1; }\n}\n", "g", "const g = () => 2;\n\nclass A {\n  f() { return 1; }\n}\n",
    ),
    Text(
        "typescript", "export class A {\n  f(): number { return 1; }\n  g(): number { return 2; }\n}\n",
        "export class A {\n  f(): number { return 1; }\n}\n", "A.g",
        "export class A {\n  f(): number { return 1; }\n}\n\nexport function g(): number { return 2; }\n",
    ),
    Text(
        "go", "package x\n\ntype A struct{}\n\nfunc (a *A) F() int { return 1 }\n\nfunc G() int { return 2 }\n",
        "package x\n\ntype A struct{}\n\nfunc G() int { return 2 }\n", "A.F",
        "package x\n\nfunc G() int { return 2 }\n\ntype A struct{}\n\nfunc (a *A) F() int { return 1 }\n",
    ),
    Text(
        "rust", "struct A;\n\nimpl A {\n    pub fn f(&self) -> i32 { 1 }\n}\n\nfn g() -> i32 { 2 }\n",
        "struct A;\n\nimpl A {\n    pub fn f(&self) -> i32 { 1 }\n}\n", "g",
        "struct A;\n\nimpl A {\n    pub fn f(&self) -> i32 { 1 }\n    fn g() -> i32 { 2 }\n}\n",
    ),
    Text(
        "java", "class A {\n  int f() { return 1; }\n  int f(int a) { return a; }\n}\n",
        "class A {\n  int f(int a) { return a; }\n}\n", "A.f",
        "class A {\n  int f(int a) { return a; }\n  int f() { return 1; }\n}\n",
    ),
    Text(
        "cpp", "class A {\n  int f();\n};\n\nint A::f() { return 1; }\n\nint g() { return 2; }\n",
        "class A {\n  int f();\n};\n\nint A::f() { return 1; }\n", "g",
        "class A {\n  int f() { return 1; }\n};\n\nint g() { return 2; }\n",
    ),
    Text(
        "csharp", "class A\n{\n    public int F() { return 1; }\n    public int P { get; set; }\n}\n",
        "class A\n{\n    public int F() { return 1; }\n}\n", "A.P",
        "class A\n{\n    public int P { get; set; }\n    public int F() { return 1; }\n}\n",
    ),
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.language)
def test_a_removed_definition_is_reported_and_a_moved_one_is_not(text: Text) -> None:
    assert removed_names(Source(text.whole), Source(text.less), text.language) == [text.lost]
    assert removed_names(Source(text.whole), Source(text.moved), text.language) == []
    assert removed_names(Source(text.less), Source(text.whole), text.language) == []


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("LIMIT = 1\n\n\ndef f():\n    return 1\n", "def f():\n    return 1\n", ["LIMIT"]),
        ("_limit = 1\n\n\ndef f():\n    return 1\n", "def f():\n    return 1\n", []),
        ("_limit = 1\n\n\ndef f():\n    return _limit\n", "def f():\n    return _limit\n", ["_limit"]),
        ("def f():\n    def inner():\n        return 1\n    return inner()\n", "def f():\n    return 1\n", []),
        ("def f():\n    return 1\n", "from other import f\n", []),
        ("def f(x):\n    return g(x)\n", "f = g\n", []),
        ("class A:\n    def f(self):\n        return 1\n", "def f():\n    return 1\n", ["A"]),
        ("def f():\n    return 1\n\n\nclass A:\n    pass\n", "class A:\n    def f(self):\n        return 1\n", []),
        ("class A:\n    x: int = 1\n    y: int = 2\n", "class A:\n    x: int = 1\n", ["A.y"]),
        (
            "class A:\n    @property\n    def p(self):\n        return 1\n\n"
            "    @p.setter\n    def p(self, v):\n        pass\n",
            "class A:\n    @property\n    def p(self):\n        return 1\n",
            ["A.p"],
        ),
    ],
)
def test_kinds_of_definitions_are_recognized(before: str, after: str, lost: list[str]) -> None:
    assert removed_names(Source(before), Source(after), "python") == lost


BEFORE = "class Basket:\n    def total(self):\n        return 0\n\n\ndef words(text):\n    return text.split()\n"
ONLY_WORDS = "def words(text):\n    return len(text.split())\n"


def case(after: str, instruction: str = "", unit: str = "words", language: str = "python") -> Case:
    return Case("refactor", language, Path("a.py"), Source(BEFORE), Source(after), unit, instruction=instruction)


@pytest.mark.parametrize(
    ("instruction", "verdict"),
    [
        ("", Ruling.FAIL),
        ("make it faster", Ruling.FAIL),
        ("remove words", Ruling.FAIL),
        ("remove Basket", Ruling.PASS),
        ("count the words, Basket is no longer needed", Ruling.PASS),
    ],
)
async def test_only_definitions_named_in_the_instruction_may_be_removed(instruction: str, verdict: Ruling) -> None:
    evidence = await definitions.judge(case(ONLY_WORDS, instruction))
    assert evidence.verdict is verdict, evidence
    reported = "`Basket` is gone"
    if instruction:
        reported += ", and the instruction does not say `remove Basket`"
    assert verdict is Ruling.PASS or (evidence.trusted and evidence.detail == reported)


async def test_a_requested_renaming_is_not_a_removal() -> None:
    after = BEFORE.replace("def words(", "def count(")
    assert (await definitions.judge(case(after, "rename words to count"))).verdict is Ruling.PASS
    assert (await definitions.judge(case(after, "rename it to count"))).verdict is Ruling.PASS
    assert (await definitions.judge(case(after, "count the words"))).verdict is Ruling.FAIL


async def test_many_removed_definitions_are_counted() -> None:
    before = Source("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(6)))
    evidence = await definitions.judge(replace(case("def f0():\n    return 0\n"), before=before))
    assert evidence.detail == "`f1`, `f2`, `f3` and 2 more are gone"


SHOP = """\
import os
from dataclasses import dataclass

__all__ = ["Basket", "words"]


@dataclass(frozen=True)
class Basket:
    prices: list


def words(text):
    return text.split()


if __name__ == "__main__":
    print(words("a"), os.sep)
"""
SCRIPT = """\
import fs from "fs";
import "./polyfill";
const cache = new Map();
function words(text) { return fs.read(text).split(cache); }
app.use(words);
export { cache };
module.exports = { words };
"""


@pytest.mark.parametrize(
    ("language", "piece", "lost"),
    [
        ("python", "@dataclass(frozen=True)\n", "`@dataclass` of `Basket` is gone"),
        ("python", '"Basket", ', "`Basket` is gone from `__all__`"),
        ("python", SHOP[SHOP.index("if __name__") :], '`if __name__ == "__main__":` is gone'),
        ("javascript", 'import fs from "fs";\n', '`import fs from "fs";` is gone'),
        ("javascript", 'import "./polyfill";\n', '`import "./polyfill";` is gone'),
        ("javascript", "export { cache };\n", "`export { cache };` is gone"),
        ("javascript", "app.use(words);\n", "`app.use(words);` is gone"),
        ("javascript", "module.exports = { words };\n", "`module.exports = { words };` is gone"),
        ("rust", "#[derive(Debug)]\n", "`Debug` of `A` is gone"),
        ("go", '\t"os"\n', '`"os"` is gone'),
    ],
)  # fmt: skip
async def test_other_statements_must_be_kept_too(language: str, piece: str, lost: str) -> None:
    texts = {
        "python": SHOP,
        "javascript": SCRIPT,
        "rust": "#[derive(Debug)]\nstruct A;\n",
        "go": 'package x\n\nimport (\n\t"os"\n\t"fmt"\n)\n\nfunc F() { fmt.Print(os.Args) }\n',
    }
    whole = texts[language]
    base = replace(case("", language=language, unit=""), before=Source(whole), after=Source(whole.replace(piece, "")))
    evidence = await definitions.judge(base)
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True), evidence
    assert evidence.detail.startswith(lost)
    named = " ".join(lost.replace("`", " ").replace("@", "").split())
    assert (await definitions.judge(replace(base, instruction=f"without {named}"))).verdict is not Ruling.FAIL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@dataclass(frozen=True)", "@dataclass"),
        ('print(words("a"), os.sep)', "raise SystemExit(words('b') and os.sep)"),
        ('__all__ = ["Basket", "words"]', '__all__ = ["words", "Basket", "more"]'),
        ("import os\n", "import os.path as os\n"),
        ("print(words", "main()\n    print(words"),
    ],
)  # fmt: skip
async def test_a_changed_definition_is_not_removed(old: str, new: str) -> None:
    evidence = await definitions.judge(
        replace(case("", unit=""), before=Source(SHOP), after=Source(SHOP.replace(old, new)))
    )
    assert evidence.verdict is Ruling.PASS, evidence


@pytest.mark.parametrize(
    ("body", "instruction", "meant", "verdict"),
    [
        ("[]", "add a function lines", frozenset(), Ruling.FAIL),
        ("[]", "add a function lines, and let words return nothing", frozenset(), Ruling.PASS),
        ("[]", "mach das kürzer", frozenset({"words"}), Ruling.PASS),
        ("text.strip().split()", "add a function lines", frozenset(), Ruling.PASS),
    ],
)
async def test_an_addition_must_keep_existing_code(
    body: str, instruction: str, meant: frozenset[str], verdict: Ruling
) -> None:
    after = BEFORE.replace("text.split()", body) + "\n\ndef lines(text):\n    return text.splitlines()\n"
    evidence = await definitions.judge(
        replace(case(after, instruction, unit=""), action="generate", changeable_units=meant)
    )
    assert evidence.verdict is verdict, evidence
    assert verdict is Ruling.PASS or evidence.detail.startswith("`words` lost code")


@pytest.mark.parametrize(
    ("head", "is_lost"),
    [
        ("@dataclass\nclass A:\n    x: int\n", True),
        ("@dataclass(frozen=True)\nclass A:\n    x: int\n", False),
        ("class A(NamedTuple):\n    x: int\n", False),
        ("class A:\n    x: int\n", True),
    ],
)
def test_methods_that_a_dataclass_makes_are_not_lost(head: str, is_lost: bool) -> None:
    methods = "".join(f"    def {name}(self, *given):\n        pass\n\n" for name in ("__init__", "__eq__", "__hash__"))
    case = Case("refactor", "python", None, Source(f"class A:\n{methods}"), Source(head), "A")
    found = asyncio.run(definitions.judge(case))
    assert (found.verdict is Ruling.FAIL) is is_lost, found.detail
    if "@dataclass\n" in head:
        assert found.detail.startswith("`A.__hash__` is gone"), "without `frozen`, objects have no hash any more"


HELPED = "def _part(n):\n    return n + 1\n\n\ndef whole(n):\n    return _part(n)\n"


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        pytest.param(HELPED, "def whole(n):\n    return n + 1\n", [], id="inlined"),
        pytest.param(HELPED, "def whole(n):\n    return _part(n)\n", ["_part"], id="still used"),
        pytest.param(HELPED.replace("return _part(n)", "return n"), "def whole(n):\n    return n\n", ["_part"],
                     id="never used here: another file may"),
        pytest.param(HELPED.replace("_part", "part"), "def whole(n):\n    return n + 1\n", ["part"], id="public"),
        pytest.param("class A:\n    def _f(self):\n        return 1\n\n    def g(self):\n        return self._f()\n",
                     "class A:\n    def g(self):\n        return 1\n", [], id="a method"),
    ],
)  # fmt: skip
def test_a_private_helper_may_go_with_its_uses(before: str, after: str, lost: list[str]) -> None:
    assert removed_names(Source(before), Source(after), "python") == lost


@pytest.mark.parametrize(
    ("language", "before", "lost"),
    [
        ("javascript", "class A {\n  constructor() {\n    this.x = 1;\n  }\n  f() {}\n}\n", []),
        ("javascript", "class A {\n  constructor(x) {\n    this.x = x;\n  }\n  f() {}\n}\n", ["A.constructor"]),
        ("typescript", "class A {\n  private constructor() {}\n  f() {}\n}\n", ["A.constructor"]),
        ("python", "def constructor():\n    return 1\n\n\nclass A:\n    def f(self): ...\n", ["constructor"]),
    ],
)
def test_only_a_constructor_that_takes_nothing_is_there_without_being_written(
    language: str, before: str, lost: list[str]
) -> None:
    after = "class A:\n    def f(self): ...\n" if language == "python" else "class A {\n  x = 1;\n  f() {}\n}\n"
    assert removed_names(Source(before), Source(after), language) == lost
