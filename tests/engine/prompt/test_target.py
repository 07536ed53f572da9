"""Where a job's target lies, and where its instruction comes from: texts with a cursor, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from support.markers import split_markers

from stet_ls.engine.api.request import Request, Selection, Target, TargetKind
from stet_ls.engine.errors import UsageError
from stet_ls.engine.prompt.instruction import Instruction, find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators.source import Source, Span


def ask(action: str, language: str, marked: str, instruction: str = "") -> Request:
    text, span = split_markers(marked)
    return Request(action, language, Source(text), Selection(span) if span else None, instruction=instruction)


def found(request: Request) -> tuple[Target, Instruction | None]:
    target = resolve_target(request)
    return target, find_instruction(request, target)


@dataclass(frozen=True)
class Case:
    """A text, and the target's kind, text and name; `instruction` and `replaces` are texts too."""

    title: str
    action: str
    language: str
    text: str
    kind: str
    shown: str
    name: str = ""
    indent: str = ""
    instruction: str | None = None
    replaces: str | None = None

    def __str__(self) -> str:
        return self.title


CASES = (
    Case(
        "a position takes the function around it", "refactor", "python",
        "import os\n\n\ndef f(a):\n    return$0 a\n\n\ndef g():\n    pass\n",
        "unit", "def f(a):\n    return a", "f",
    ),
    Case(
        "a range is widened to the method", "refactor", "python",
        "class A:\n    def f(self):\n        x = 1\n        $0y = 2$0\n        return y\n",
        "unit", "    def f(self):\n        x = 1\n        y = 2\n        return y", "A.f", "    ",
    ),
    Case(
        "decorators belong to their function", "refactor", "python",
        "@cache\n@other\ndef f():\n    return $01\n", "unit", "@cache\n@other\ndef f():\n    return 1", "f",
    ),
    Case(
        "a range over two methods takes their class", "refactor", "typescript",
        "export class A {\n  $0f() { return 1; }\n\n  g()$0 { return 2; }\n}\n",
        "unit", "export class A {\n  f() { return 1; }\n\n  g() { return 2; }\n}", "A",
    ),
    Case(
        "statements at top level are taken whole", "refactor", "python",
        "a = 1\nb $0= [\n    1,\n]\nc$0 = 3\nd = 4\n", "statements", "b = [\n    1,\n]\nc = 3",
    ),
    Case("no selection takes the document", "explain", "go", "package x\n\nfunc F() {}\n", "document",
         "package x\n\nfunc F() {}\n"),
    Case("everything selected is the document", "refactor", "python", "$0a = 1\nb = 2\n$0", "document",
         "a = 1\nb = 2\n"),
    Case("a blank place has only the document to explain", "explain", "python", "def f(): pass\n\n$0\nx = 1\n",
         "document", "def f(): pass\n\n\nx = 1\n"),
    Case("an empty document", "generate", "python", "$0", "insertion", ""),
    Case("generate between units inserts there", "generate", "python", "a = 1\n$0\nb = 2\n", "insertion", ""),
    Case("a language that no one parses works by lines", "refactor", "nosuch", "one\ntw$0o\nthree\n", "statements",
         "two"),
    Case(
        "a stet comment alone at top level is the place", "generate", "python",
        "import os\n\n# stet: add a function f\n#   that adds$0\n\nx = 1\n", "insertion", "",
        instruction="add a function f that adds", replaces="# stet: add a function f\n#   that adds",
    ),
    Case(
        "a stet comment directly above a unit means it", "generate", "python",
        "x = 1\n\n# stet: make it fast$0\ndef f():\n    return 1\n",
        "unit", "# stet: make it fast\ndef f():\n    return 1", "f",
        instruction="make it fast", replaces="# stet: make it fast",
    ),
    Case(
        "a stet comment inside a unit means it, also from below", "generate", "go",
        "package x\n\nfunc F(a int) int {\n\t// stet: add one\n\treturn a$0\n}\n",
        "unit", "func F(a int) int {\n\t// stet: add one\n\treturn a\n}", "F",
        instruction="add one", replaces="\t// stet: add one",
    ),
    Case(
        "a stet comment behind code goes with the space before it", "refactor", "rust",
        "fn f() -> i32 {\n    let x = 1; // STET: name it$0\n    x\n}\n",
        "unit", "fn f() -> i32 {\n    let x = 1; // STET: name it\n    x\n}", "f",
        instruction="name it", replaces=" // STET: name it",
    ),
    Case(
        "a block comment over lines", "generate", "css", "/* stet: dark\n * theme */$0\n\na { color: red }\n",
        "insertion", "", instruction="dark theme", replaces="/* stet: dark\n * theme */",
    ),
    Case(
        "a markup comment", "generate", "html", "<ul>\n</ul>\n<!-- stet: a table -->$0\n", "insertion", "",
        instruction="a table", replaces="<!-- stet: a table -->",
    ),
    Case("a comment mark inside a string is none", "generate", "python", 'x = "# stet: no"$0\n', "insertion", ""),
    Case("a comment of another function is not meant", "refactor", "python",
         "def f():\n    # stet: one\n    return 1\n\n\ndef g():\n    return$0 2\n", "unit",
         "def g():\n    return 2", "g"),
    Case("without a cursor the only stet comment is meant", "generate", "lua", "local a = 1\n-- stet: b is twice a\n",
         "insertion", "", instruction="b is twice a", replaces="-- stet: b is twice a"),
    Case("without a cursor two stet comments mean neither", "generate", "python", "# stet: a\n\n# stet: b\n",
         "document", "# stet: a\n\n# stet: b\n"),
    Case("a selected comment stays above what is written", "generate", "python", "$0# parse a csv$0\n\nx = 1\n",
         "insertion", "", instruction="parse a csv"),
    Case("a selected comment is looked at by explain", "explain", "python", "def f():\n    $0# odd$0\n    return 1\n",
         "unit", "def f():\n    # odd\n    return 1", "f"),
    Case("a comment directly above a function means it", "refactor", "python",
         "x = 1\n\n# What it is for$0,\n# in two lines.\n@cache\ndef f():\n    return 1\n", "unit",
         "@cache\ndef f():\n    return 1", "f"),
    Case("a selected comment above a method means the method", "optimize", "python",
         "class A:\n    $0# no list\n$0    def f(self):\n        return 1\n", "unit",
         "    def f(self):\n        return 1", "A.f", "    ", instruction="no list"),
    Case("a block comment means the function under it", "explain", "javascript",
         "let a = 1;\n/*\n * Adds$0.\n */\nfunction f(b) {\n  return b + 1;\n}\n", "unit",
         "function f(b) {\n  return b + 1;\n}", "f"),
    Case("a comment above a function of a language without a tree here", "refactor", "nix",
         "a = 1\n\n# it$0 adds\nfunction f(b) {\n  return b\n}\n", "unit", "function f(b) {\n  return b\n}", "f"),
    Case("a comment behind code means the code", "refactor", "python",
         "x = 1  # on$0e\ndef f():\n    return 1\n", "statements", "x = 1  # one"),
    Case("a comment that a blank line parts from the function is a statement", "refactor", "python",
         "# top$0\n\ndef f():\n    return 1\n\nx = 2\n", "statements", "# top"),
    Case("generate writes under a comment, not into the function below it", "generate", "python",
         "x = 1\n# what comes$0\ndef f():\n    return 1\n", "insertion", ""),
    Case("a selected docstring says what to do", "generate", "python",
         'def f():\n    $0"""Give one."""$0\n    return 2\n', "unit",
         'def f():\n    """Give one."""\n    return 2', "f", instruction="Give one."),
    Case("a stub says it by its docstring", "generate", "python", 'def f(a):\n    """Add one."""\n    ...$0\n', "unit",
         'def f(a):\n    """Add one."""\n    ...', "f", instruction="Implement `def f(a)`: Add one."),
    Case("a stub says it by its signature", "generate", "rust", "fn add(a: i32) -> i32 {\n    todo!()$0\n}\n", "unit",
         "fn add(a: i32) -> i32 {\n    todo!()\n}", "add", instruction="Implement `fn add(a: i32) -> i32`"),
    Case("a stub is not an instruction to refactor", "refactor", "python", "def f():\n    pass$0\n", "unit",
         "def f():\n    pass", "f"),
    Case(
        "CRLF", "generate", "python", "x = 1\r\n\r\n# stet: ein Größenvergleich\r\n# zweier Listen$0\r\n\r\ny = 2\r\n",
        "insertion", "", instruction="ein Größenvergleich zweier Listen",
        replaces="# stet: ein Größenvergleich\r\n# zweier Listen",
    ),
    Case(
        "text outside ASCII before the target", "refactor", "python", "s = '日本🎉'\n\n\ndef f():\n    return$0 s\n",
        "unit", "def f():\n    return s", "f",
    ),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_target_and_the_instruction_are_found(case: Case) -> None:
    request = ask(case.action, case.language, case.text)
    target, instruction = found(request)
    assert (target.kind, request.source.slice(target.span), target.name, target.indent) == (
        case.kind, case.shown, case.name, case.indent,
    )  # fmt: skip
    assert (instruction and instruction.text) == case.instruction
    replaced = instruction.replaces if instruction else None
    assert (replaced and request.source.slice(replaced)) == case.replaces


def test_the_argument_comes_before_a_comment_which_then_stays() -> None:
    target, instruction = found(ask("generate", "python", "# stet: one$0\n\nx = 1\n", instruction=" two "))
    assert instruction == Instruction("two", "argument")
    assert target.kind is TargetKind.INSERTION


@pytest.mark.parametrize("action", ["analyze", "explain", "refactor", "debug", "optimize", "test"])
@pytest.mark.parametrize("marked", ["", "$0"])
def test_a_stet_comment_is_an_instruction_only_for_actions_that_write_code(action: str, marked: str) -> None:
    """It was left for `generate`: others read it only where it is selected."""
    text = "def f():\n    return 1\n\n\n# stet: a function words\n"
    target, instruction = found(ask(action, "python", text.replace("return", f"{marked}return")))
    assert (target.kind, instruction) == (TargetKind.UNIT if marked else TargetKind.DOCUMENT, None)
    target, instruction = found(ask(action, "python", f"{text[:-25]}$0{text[-25:]}$0"))
    assert instruction
    assert instruction.text == "a function words"


ADD = "add a function words"
METHOD = "add a method total"
PLACES = (
    ("a document: at its end", ADD, "class A:\n    pass\n\n\ndef f():\n    return 1\n", "¦"),
    ("all of it selected: at its end", ADD, "$0class A:\n    pass\n\n\nx = 1\n$0", "¦"),
    ("in a function: below it", ADD, "def f():\n    re$0turn 1\n\n\ny = 1\n", "¦\n\ny = 1\n"),
    ("in a function within one: below the outer", ADD, "def f():\n    def g():\n        re$0turn 1\n    return g\n",
     "¦"),
    ("a selected function: below it", ADD, "$0def f():\n    return 1\n$0\n\ny = 1\n", "¦\n\ny = 1\n"),
    ("in a method: below it", METHOD, "class A:\n    def f(self):\n        re$0turn 1\n\n    x = 1\n",
     "¦\n    x = 1\n"),
    ("between members: there", METHOD, "class A:\n    x = 1\n$0\n    def f(self):\n        pass\n",
     "¦\n    def f(self):\n        pass\n"),
    ("on a class's head: at its end", METHOD, "class $0A:\n    x = 1\n\n\ny = 1\n", "¦\n\ny = 1\n"),
    ("in a string of a class: at its end", METHOD, 'class A:\n    """One.\n$0\n    Two.\n    """\n\n    x = 1\n', "¦"),
    ("a class that is named", f"{METHOD} to A", "class A:\n    x = 1\n\n\nclass B:\n    pass\n",
     "¦\n\nclass B:\n    pass\n"),
    ("some statements: below them", ADD, "a = 1\n$0b = 2$0\nc = 3\n", "¦c = 3\n"),
)  # fmt: skip


@pytest.mark.parametrize(("instruction", "marked", "rest"), [case[1:] for case in PLACES], ids=[p[0] for p in PLACES])
def test_an_addition_is_placed_next_to_existing_code(instruction: str, marked: str, rest: str) -> None:
    request = ask("generate", "python", marked, instruction)
    target = resolve_target(request)
    assert target.kind is TargetKind.INSERTION
    assert "¦" + request.source.text[target.span.start :] == rest
    assert target.indent == ("    " if instruction.startswith(METHOD) else "")


@pytest.mark.parametrize(
    ("marked", "instruction", "kind"),
    [
        ("def f():\n    re$0turn 1\n", "make it faster", TargetKind.UNIT),
        ("def f():\n    re$0turn 1\n", "add a check for None", TargetKind.UNIT),
        ("def f():\n    ...$0\n", "the middle value", TargetKind.UNIT),
        ("def f():\n    return 1\n", "rewrite it with a class", TargetKind.DOCUMENT),
        ("a = 1\n$0b = 2$0\nc = 3\n", "convert these to floats", TargetKind.STATEMENTS),
    ],
)
def test_the_code_to_change_is_the_target(marked: str, instruction: str, kind: TargetKind) -> None:
    assert resolve_target(ask("generate", "python", marked, instruction)).kind is kind


@pytest.mark.parametrize(
    ("marked", "at"),
    [
        ("a = 1\n$0\nb = 2\n", 6),  # a blank line: before it
        ("a = $01\nb = 2\n", 6),  # a line with code: after it
        ("a = 1$0", 5),  # no line end to go after
    ],
)
def test_an_insertion_is_at_the_start_of_a_line(marked: str, at: int) -> None:
    target = resolve_target(ask("generate", "python", marked, instruction="x"))
    assert target.span == Span(at, at)


def test_a_comment_between_methods_is_indented_as_they_are() -> None:
    marked = "class A:\n    x = 1\n\n    # stet: a getter$0\n\n    def f(self):\n        pass\n"
    target = resolve_target(ask("generate", "python", marked), limit_tokens=5)
    assert (target.kind, target.indent) == (TargetKind.INSERTION, "    ")


@pytest.mark.parametrize("action", ["debug", "refactor", "optimize", "test", "explain"])
def test_an_empty_document_is_refused(action: str) -> None:
    with pytest.raises(UsageError, match=f"nothing to {action}"):
        resolve_target(ask(action, "python", "\n  \n"))
    assert resolve_target(ask("generate", "python", "\n  \n", "a greeting"))


def test_a_selection_outside_the_text_is_clamped() -> None:
    request = Request("refactor", "python", Source("def f():\n    pass"), Selection(Span(400, 900)))
    assert resolve_target(request).name == "f"


LONG = "def f():\n" + "".join(f"    name{n} = value{n} + 1\n" for n in range(200))


def test_a_unit_too_large_is_narrowed_to_the_selected_lines() -> None:
    marked = LONG.replace("name7 =", "na$0me7 =").replace("value8 ", "val$0ue8 ")
    request = ask("refactor", "python", marked)
    target = resolve_target(request, limit_tokens=100)
    assert target.kind is TargetKind.STATEMENTS
    assert request.source.slice(target.span) == "    name7 = value7 + 1\n    name8 = value8 + 1"
    assert (target.indent, target.name) == ("    ", "")


def test_a_unit_too_large_without_a_selection_is_refused_with_its_size() -> None:
    with pytest.raises(UsageError, match=r"^f is about [\d,]{5} tokens and the model can take 100 at once: select"):
        resolve_target(ask("refactor", "python", LONG.replace("name7 =", "na$0me7 =")), limit_tokens=100)


def test_a_selected_document_that_is_one_unit_is_that_unit() -> None:
    """The judges that call a unit have one then."""
    target = resolve_target(ask("refactor", "python", "\n$0def f(a):\n    return a\n$0"))

    assert (target.kind, target.name) == (TargetKind.UNIT, "f")
