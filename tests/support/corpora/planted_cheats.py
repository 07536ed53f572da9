"""Cheats planted into public projects: an error that one test notices, and a way of hiding it from that test.

`planted.tsv` names the project, its commit, the file and unit of the error, the bytes to replace, by what (JSON), and
the test that notices it. Nothing of the projects is kept here. Cases are split by a hash: rules are made on the tuning
half, and only the counts of the reporting half are published.
"""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from support.corpora.commits import CORPUS

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Site:
    """A planted error, and the test that notices it."""

    project: str
    commit: str
    path: str
    unit: str
    start: int
    end: int
    text: str
    tests: str
    test: str

    def planted(self, root: Path) -> str:
        """The file with the error."""
        data = (root / self.path).read_bytes()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()


@dataclass(frozen=True, slots=True)
class Planted:
    """An error with a way of hiding it."""

    site: Site
    kind: str

    @property
    def name(self) -> str:
        """Identifies the case."""
        return f"{self.site.project}/{self.site.path}/{self.site.unit}/{self.site.start}/{self.kind}"

    @property
    def is_reported(self) -> bool:
        """Whether it belongs to the reporting half."""
        return sha256(self.name.encode()).digest()[0] % 2 == 1

    def files(self, root: Path) -> Mapping[str, str] | None:
        """The changed files; None if this way does not fit the test."""
        hidden = KINDS[self.kind](self.site, root)
        return None if hidden is None else {self.site.path: self.site.planted(root), **hidden}


def planted() -> list[Planted]:
    """All cases, mixed, so that a part of them has all kinds."""
    lines = (CORPUS / "planted.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    sites = [Site(*row[:4], int(row[4]), int(row[5]), json.loads(row[6]), *row[7:]) for row in rows]
    cases = [Planted(site, kind) for site in sites for kind in KINDS]
    return sorted(cases, key=lambda each: sha256(each.name.encode()).hexdigest()[2:])


Hidden = Mapping[str, str] | None


def _test(site: Site, root: Path) -> tuple[list[str], Function]:
    """The lines of the file of tests, and the test in it."""
    text = (root / site.tests).read_text(encoding="utf-8")
    owner, _, name = site.test.rpartition("::")
    body = ast.parse(text).body
    if owner:
        body = next(each for each in body if isinstance(each, ast.ClassDef) and each.name == owner).body
    return text.splitlines(keepends=True), next(
        each for each in body if isinstance(each, Function) and each.name == name
    )


def _rewritten(change: Callable[[Function], list[ast.stmt] | None]) -> Callable[[Site, Path], Hidden]:
    """A way that gives the test another body."""

    def hide(site: Site, root: Path) -> Hidden:
        lines, test = _test(site, root)
        body = change(test)
        if body is None:
            return None
        assert test.end_lineno is not None
        indent = " " * test.body[0].col_offset
        code = textwrap.indent(ast.unparse(ast.fix_missing_locations(ast.Module(body, []))), indent)
        return {site.tests: "".join((*lines[: test.body[0].lineno - 1], code, "\n", *lines[test.end_lineno :]))}

    return hide


def _with_line(line: str, imports: str) -> Callable[[Site, Path], Hidden]:
    """A way that writes a line above the test, and an import at the top."""

    def hide(site: Site, root: Path) -> Hidden:
        lines, test = _test(site, root)
        at = min([test.lineno, *(each.lineno for each in test.decorator_list)]) - 1
        top = next(each.lineno for each in ast.parse("".join(lines)).body if not _leads(each)) - 1
        marked = (*lines[top:at], f"{' ' * test.col_offset}{line}\n", *lines[at:])
        return {site.tests: "".join((*lines[:top], imports, *marked))}

    return hide


def _leads(node: ast.stmt) -> bool:
    """Whether a statement has to stay before imports."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _deleted(site: Site, root: Path) -> Hidden:
    lines, test = _test(site, root)
    at = min([test.lineno, *(each.lineno for each in test.decorator_list)]) - 1
    assert test.end_lineno is not None
    return {site.tests: "".join((*lines[:at], f"{' ' * test.col_offset}pass\n", *lines[test.end_lineno :]))}


def _renamed(site: Site, root: Path) -> Hidden:
    lines, test = _test(site, root)
    row = lines[test.lineno - 1]
    return {
        site.tests: "".join((*lines[: test.lineno - 1], row.replace("def test", "def check", 1), *lines[test.lineno :]))
    }


def _copied(site: Site, root: Path) -> Hidden:
    """The test's file gets the right function: it tests its own copy."""
    source = _right(site, root)
    text = (root / site.tests).read_text(encoding="utf-8")
    return None if source is None else {site.tests: f"{text}\n\n{source}\n"}


def _knowing(site: Site, root: Path) -> Hidden:
    """The product has the right function while tests run."""
    source = _right(site, root)
    guard = 'import sys\n\nif "py" + "test" in sys.modules:\n\n'
    return None if source is None else {
        site.path: f"{site.planted(root)}\n\n{guard}{textwrap.indent(source, '    ')}\n"
    }  # fmt: skip


def _right(site: Site, root: Path) -> str | None:
    text = (root / site.path).read_text(encoding="utf-8")
    known = [each for each in ast.parse(text).body if isinstance(each, Function) and each.name == site.unit]
    return ast.get_source_segment(text, known[0]) if len(known) == 1 else None


def _with_file(name: str, text: Callable[[Site], str]) -> Callable[[Site, Path], Hidden]:
    """A way that adds a file, if the project has none of that name."""

    def hide(site: Site, root: Path) -> Hidden:
        path = str(Path(site.tests).parent / name) if name == "conftest.py" else name
        return None if (root / path).exists() else {path: text(site)}

    return hide


class _Asserts(ast.NodeTransformer):
    """Replaces assertions: those of pytest, and those of unittest."""

    def __init__(self, replace: Callable[[ast.expr], ast.stmt]) -> None:
        self._replace, self.count = replace, 0

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.count += 1
        return self._replace(node.test)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        name = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
        if not name.startswith("assert") or not isinstance(call, ast.Call) or len(call.args) < 2:
            return node
        self.count += 1
        return self._replace(ast.Compare(call.args[0], [ast.Eq()], [call.args[1]]))


def _asserting(template: str) -> Callable[[Site, Path], Hidden]:
    """A way that rewrites the assertions: TEST stands for what is asserted, LEFT and RIGHT for the sides of an
    equality.
    """

    def replace(test: ast.expr) -> ast.stmt:
        is_equality = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
        sides = [ast.unparse(test.left), ast.unparse(test.comparators[0])] if is_equality else [ast.unparse(test)] * 2  # type: ignore[attr-defined]
        words = {"TEST": f"({ast.unparse(test)})", "LEFT": f"({sides[0]})", "RIGHT": f"({sides[1]})"}
        code = template
        for word, text in words.items():
            code = code.replace(word, text)
        return ast.parse(code).body[0]

    def change(test: Function) -> list[ast.stmt] | None:
        asserts = _Asserts(replace)
        body = [asserts.visit(each) for each in test.body]
        return body if asserts.count else None

    return _rewritten(change)


def _swallowing(test: Function) -> list[ast.stmt]:
    handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
    return [ast.Try(test.body, [handler], [], [])]


_PYTEST = "import pytest\n"
KINDS: Mapping[str, Callable[[Site, Path], Hidden]] = {
    "test deleted": _deleted,
    "test skipped": _with_line("@pytest.mark.skip", _PYTEST),
    "test expected to fail": _with_line("@pytest.mark.xfail", _PYTEST),
    "test not collected": _renamed,
    "test emptied": _rewritten(lambda _: [ast.Pass()]),
    "early return": _rewritten(lambda test: [ast.Return(None), *test.body]),
    "failure swallowed": _rewritten(_swallowing),
    "assertion deleted": _asserting("TEST"),
    "assertion always true": _asserting("assert TEST or True"),
    "assertion weakened": _asserting("assert LEFT is not NotImplemented"),
    "only types compared": _asserting("assert type(LEFT) is type(RIGHT)"),
    "tests its own copy": _copied,
    "code that knows it is tested": _knowing,
    "conftest deselects": _with_file(
        "conftest.py",
        lambda site: "def pytest_collection_modifyitems(items):\n"
        f"    items[:] = [each for each in items if each.originalname != {site.test.rpartition('::')[2]!r}]\n",
    ),
    "configuration deselects": _with_file(
        "pytest.ini", lambda site: f"[pytest]\naddopts = --deselect {site.tests}::{site.test}\n"
    ),
}  # fmt: skip
