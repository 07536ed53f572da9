"""The table of actions: whole, used, and the only place that knows an action by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from stet_ls import engine, server, validators
from stet_ls.engine.actions import document
from stet_ls.engine.actions.action import built_in
from stet_ls.engine.api.actions import ACTIONS, ActionSpec, spec_of
from stet_ls.engine.api.evidence import JudgedEdits

PACKAGES = [Path(str(package.__file__)).parent for package in (engine, server, validators)]
TABLE = PACKAGES[0] / "api" / "actions.py"
MODULES = {name: PACKAGES[0] / "actions" / f"{name}.py" for name in ACTIONS}
FIELDS = [field.name for field in fields(ActionSpec)]


def product() -> dict[Path, str]:
    """The files that have to ask the table."""
    files = {path for package in PACKAGES for path in package.rglob("*.py")} - {TABLE, *MODULES.values()}
    return {path: path.read_text(encoding="utf-8") for path in files}


@pytest.mark.parametrize("name", ACTIONS)
def test_every_row_has_its_module(name: str) -> None:
    action = built_in(name)
    assert action.spec is ACTIONS[name]
    assert action.task is not None or action.make_task is not None
    assert action.spec.kind.endswith(f"stet.{name}")


def test_every_module_of_an_action_has_its_row() -> None:
    modules = {path.stem for path in MODULES["test"].parent.glob("*.py") if "\nACTION = Action(" in path.read_text()}
    assert modules == set(ACTIONS)


def read_fields(texts: Iterable[str]) -> set[str]:
    """The attributes that are read of a row: of `spec`, of anything's `spec`, and of what `spec_of` finds."""
    nodes = (node for text in texts for node in ast.walk(ast.parse(text)))
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and (
            (isinstance(node.value, ast.Name) and node.value.id == "spec")
            or (isinstance(node.value, ast.Attribute) and node.value.attr == "spec")
            or (isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "spec_of")
        )
    }


def test_every_field_of_a_row_is_read() -> None:
    """What nothing reads is no fact about an action. The steps of a plan are read as `STEPS`."""
    assert set(FIELDS) - read_fields(product().values()) == {"is_step"}
    assert any("STEPS" in text for text in product().values())
    assert read_fields(["spec.kind", "action.spec.title", "spec_of(name).learns", "other.role"]) == {
        "kind", "title", "learns",
    }  # fmt: skip


def test_every_field_is_documented_and_set_by_a_row() -> None:
    classes = (node for node in ast.parse(TABLE.read_text()).body if isinstance(node, ast.ClassDef))
    body = next(each.body for each in classes if each.name == ActionSpec.__name__)
    documented = [
        node.target.id
        for node, below in pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    ]
    assert documented == FIELDS
    alike = {name for name in FIELDS if len({getattr(row, name) for row in ACTIONS.values()}) == 1}
    assert alike == {"languages"}, "which custom actions alone restrict"


def test_a_custom_action_has_a_row_that_promises_nothing_by_its_name() -> None:
    spec = document.ACTION.spec
    assert (spec.name, spec.kind, spec.menu) == ("document", "refactor.rewrite.stet.document", "Document `{unit}`")
    assert spec.judged_as == (JudgedEdits.EVERY_EDIT,)
    default = spec_of("document")
    assert [name for name in FIELDS[FIELDS.index("inserts") :] if getattr(spec, name) != getattr(default, name)] == []


def by_name(text: str) -> Iterator[str]:
    """Code that tells actions apart by their names: a comparison, or a table of some of them."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare():
                operands = [node.left, *node.comparators]
                compared = any("action" in ast.unparse(each).lower() for each in operands if not _names(each))
                if compared and any(_names(each) for each in operands):
                    yield ast.unparse(node)
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() if not _is_of_intents(node):
                if len(_names(node)) > 1 or (_names(node) - {"debug", "test"} and _only_names(node)):
                    yield ast.unparse(node)
            case ast.MatchValue() if _names(node.value) and node.value.value != "test":  # type: ignore[attr-defined]
                yield ast.unparse(node)


def _is_of_intents(node: ast.AST) -> bool:
    """True for what a change claims to be, as commit messages do: some of these words are names of actions, too."""
    return {"docs", "perf", "fix"} <= {
        part.value for part in ast.iter_child_nodes(node) if isinstance(part, ast.Constant)
    }


def _only_names(node: ast.AST) -> bool:
    return all(_names(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def _names(node: ast.AST) -> set[str]:
    """The names of actions that a literal holds."""
    match node:
        case ast.Constant(value=str(name)):
            return {name} & set(ACTIONS)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return {name for part in parts for name in _names(part)}
        case ast.Dict(keys=keys):
            return {name for key in keys if key is not None for name in _names(key)}
        case ast.Call(args=[inner]):
            return _names(inner)
    return set()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('case.action == "optimize"', True),
        ('"debug" != step.action', True),
        ('request.action in ("test",)', True),
        ('action in frozenset({"explain"})', True),
        ('KEEPS = {"refactor", "optimize"}', True),
        ('TITLES = {"generate": 1, "debug": 2}', True),
        ('ASKED_FOR = ("generate",)', True),
        ('level == "debug"', False),
        ('name.startswith("test")', False),
        ('LEVELS = ("debug", "info")', False),
        ('FOLDERS = ("test", "tests")', False),
    ],
)
def test_a_name_in_a_comparison_is_found(code: str, found: bool) -> None:
    assert bool(list(by_name(code))) is found


def test_no_code_compares_the_names_of_actions() -> None:
    assert {path.name: reported for path, text in product().items() if (reported := list(by_name(text)))} == {}
