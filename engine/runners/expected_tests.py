"""The tests of a file, read from its text: a run that reports fewer has no verdict."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import tree_sitter

from stet_ls.validators.ast_text import try_parse, unparse
from stet_ls.validators.parsing import grammars


def python(text: str) -> Iterator[str]:
    """Functions `test…`, and methods `test…` of classes `Test…` and of unittest's."""
    tree = try_parse(text)
    if tree is None:
        return
    for node in tree.body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test") and not _fixture(node):
            yield node.name
        elif isinstance(node, ast.ClassDef) and _collected(node):
            for each in node.body:
                if isinstance(each, _FUNCTIONS) and each.name.startswith("test") and not _fixture(each):
                    yield f"{node.name}::{each.name}"


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("fixture" in unparse(decorator) for decorator in node.decorator_list)


def _collected(node: ast.ClassDef) -> bool:
    names = [unparse(base) for base in node.bases]
    # Another class may derive from unittest's under any name: uncertain, so not expected.
    case = any(name.rpartition(".")[2] in ("TestCase", "IsolatedAsyncioTestCase") for name in names)
    own = {each.name for each in node.body if isinstance(each, _FUNCTIONS)}
    plain = node.name.startswith("Test") and "__init__" not in own
    disabled = any(unparse(each) == "__test__ = False" for each in node.body if isinstance(each, ast.Assign))
    return (case or plain) and not disabled


_GO = re.compile(r"^func (Test(?:[^a-z\W]\w*)?)\(\w+ \*testing\.T\)", re.MULTILINE)
_JUNIT = re.compile(r"@Test\b(?:\([^)]*\))?\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:public |private |protected )?void (\w+)\(")


def go(text: str) -> Iterator[str]:
    """Functions `TestX(t *testing.T)` at the start of a line, where gofmt puts them."""
    yield from (name for name in _GO.findall(text) if name != "TestMain")


def junit(text: str) -> Iterator[str]:
    """Methods under `@Test` in files that name JUnit; otherwise a file is one case."""
    yield from _JUNIT.findall(text) if "org.junit" in text else ()


_CALLS = frozenset({"test", "it", "describe", "suite"})


def javascript(text: str, grammar: str = "javascript") -> Iterator[str]:
    """Calls of `test`, `it` and `describe` with a plain name, each below the names of the enclosing ones."""
    tree = grammars.parser(grammar).parse(text.encode())
    yield from _calls(tree.root_node, "")


def _calls(block: tree_sitter.Node, before: str) -> Iterator[str]:
    """Calls in statements at the level of the block only: one within a loop or a condition is uncertain."""
    for statement in block.named_children:
        call = statement.named_children[0] if statement.named_children else None
        if statement.type != "expression_statement" or call is None:
            continue
        if call.type == "await_expression":
            call = call.named_children[0]
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or not function.text:
            continue
        words = function.text.decode().split(".")
        name = next((each for each in arguments.named_children[:1] if each.type == "string"), None)
        if words[0] not in _CALLS or name is None or not name.text or b"\\" in name.text:
            continue
        title = before + name.text.decode()[1:-1]
        if words[0] in ("test", "it"):
            yield title
        functions = [each for each in arguments.named_children if "function" in each.type]
        body = functions[-1].child_by_field_name("body") if functions else None
        if words[0] in ("describe", "suite") and body is not None:
            yield from _calls(body, f"{title}::")


def typescript(text: str) -> Iterator[str]:
    """Calls of `test`, `it` and `describe` in TypeScript."""
    yield from javascript(text, "typescript")
