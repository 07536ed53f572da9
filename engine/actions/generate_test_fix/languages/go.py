"""Go for the loop: tests in the code's own package, which can use unexported names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.actions.generate_test_fix.signatures_only import SignatureOutline
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.engine.runners import expected_tests
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure.units import captures, tree_of

if TYPE_CHECKING:
    import tree_sitter

GO = SignatureOutline("go", frozenset({"package_clause", "import_declaration"}))
RULES = (
    "Use the package testing alone, in the package of the code: no import of it, no other package for assertions.",
    "Import exactly what the tests use.",
)
ASSERTS = r"\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\("
_IMPORTED = re.compile(
    r'^[ \t]*(?:import[ \t]+)?(?P<alias>\w+[ \t]+)?"(?P<path>[\w./-]+)"[ \t]*(?://.*)?$', re.MULTILINE
)
_DECLARED = re.compile(r"^(?:func|var|const|type)\b", re.MULTILINE)
_DECLARATIONS = frozenset({"type_declaration", "var_declaration", "const_declaration"})
_SPECIFICATIONS = frozenset({"type_spec", "type_alias", "var_spec", "const_spec"})
_IDENTIFIERS = frozenset({"identifier", "type_identifier"})
_GIVEN = ("init", "main", "_", "TestMain")
"""Names with a special meaning in Go."""
_VERSION = re.compile(r"[./]v\d+$")
_STANDARD = ("errors", "fmt", "math", "reflect", "sort", "strings", "testing")


def tests(code: str) -> tuple[str, ...]:
    """The functions that `go test` runs."""
    return tuple(expected_tests.go(code))


def ready(code: str, about: CodeUnderTest, place: Path) -> str:
    """The tests with exactly the imports that they use: Go rejects both missing and unused imports.

    Their declarations get other names than those of the code and the project's tests, which are in the same package.
    A copy of the tested unit keeps its name and does not compile: such tests would test themselves.
    """
    code = _renamed(code, about.outermost)
    declared = _DECLARED.search(code)
    end = declared.start() if declared is not None else len(code)
    head, body = code[:end], code[end:]
    for match in reversed(list(_IMPORTED.finditer(head))):
        name = (match["alias"] or _VERSION.sub("", match["path"]).rpartition("/")[2]).strip()
        if name != "_" and not re.search(rf"\b{re.escape(name)}\.", body):
            head = head[: match.start()] + head[match.end() :]
    head = re.sub(r"^import\s*\(\s*\)\n?", "", head, flags=re.MULTILINE)
    there = {match["path"] for match in _IMPORTED.finditer(head)}
    missing = [name for name in _STANDARD if name not in there and re.search(rf"(?<![\w.]){name}\.[A-Z]", body)]
    lines = "".join(f'\nimport "{name}"' for name in missing)
    if lines:
        head = re.sub(r"^(package \w+)$", rf"\1\n{lines}", head, count=1, flags=re.MULTILINE)
    return head + body


def _renamed(code: str, tested: str) -> str:
    """The code with a suffix on each name that it declares at its top level."""
    source = Source(code)
    parsed = tree_of(source, "go")
    if parsed is None:
        return code
    names = set(_names(parsed)) - {tested, *_GIVEN}
    used = (node for node in captures(parsed, _IDENTIFIERS) if parsed.text(node) in names and not _is_field(node))
    return source.splice(Splice(parsed.span(node), f"{parsed.text(node)}AsSpecified") for node in used).text


def _names(parsed: Parsed) -> Iterator[str]:
    for node in parsed.root.named_children:
        declared = [node] if node.type == "function_declaration" else []
        if node.type in _DECLARATIONS:
            declared = captures(parsed, _SPECIFICATIONS, node)
        yield from (parsed.text(name) for each in declared for name in each.children_by_field_name("name"))


def _is_field(node: tree_sitter.Node) -> bool:
    """True for `name` of `T{name: 1}`, which may be a field; for a map only the type decides."""
    element = node.parent
    pair = element.parent if element is not None and element.type == "literal_element" else None
    if pair is None or pair.type != "keyed_element" or pair.child_by_field_name("key") != element:
        return False
    literal = pair.parent.parent if pair.parent is not None else None
    held = literal.child_by_field_name("type") if literal is not None else None
    return held is None or held.type != "map_type"


def root(about: CodeUnderTest) -> Path | None:
    """The module around the file, within the open folder."""
    return about.innermost("go.mod")
