"""Collects what is known about a Python unit before its tests run: from its text and its environment."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping

from stet_ls.engine.diagnosis.diagnosis import CodeFacts
from stet_ls.engine.execution.python.inputs.subject import Function, Subject, read_module, subject_of
from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.validators.ast_text import unparse


def code_facts(
    text: str,
    unit: str,
    *,
    environment: Environment | None = None,
    texts: Mapping[str, str] | None = None,
    modules: Iterable[str] = (),
) -> CodeFacts:
    """The `CodeFacts` of a unit, from `text`, the module as it was at the request.

    `unit` is a qualified name ("Parser.parse"). `texts` are the candidate's files by their paths relative to the
    working folder; `modules` the top-level names that can be imported from the workspace. Without an `environment` only
    the standard library counts as installed. If the text does not parse or does not hold the unit, its parameters are
    unknown: no call is held against a test then.
    """
    module = read_module(text)
    subject = subject_of(module, unit) if module is not None else None
    return CodeFacts(
        solution=frozenset(texts or ()),
        unit=unit,
        parameters=_arity(subject) if subject is not None else None,
        asked=frozenset(_names(module.tree)) if module is not None else frozenset({unit.partition(".")[0]}),
        modules=frozenset(modules),
        installed=environment.modules | environment.interpreter.modules | environment.interpreter.standard
        if environment is not None
        else frozenset(sys.stdlib_module_names),
        types=_types(subject) if subject is not None else {},
        texts=dict(texts or {}),
    )


def _arity(subject: Subject) -> tuple[int, int | None] | None:
    """The least and the most positional arguments; None if the text does not show how the unit is called."""
    if subject.how == "property":
        return None
    node = subject.node
    call = node if isinstance(node, Function) else _init(node)
    if call is None and not subject.parameters:
        return None
    rows = [row for row in subject.parameters if not row.keyword and not row.name.startswith("*")]
    least = sum(row.default is None for row in rows)
    return least, None if call is not None and call.args.vararg else len(rows)


def _init(node: ast.ClassDef) -> Function | None:
    return next((each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None)


def _types(subject: Subject) -> dict[str, str]:
    """The annotations as written; quoted ones without their quotes."""
    return {
        row.name.lstrip("*"): row.annotation.value
        if isinstance(row.annotation, ast.Constant) and isinstance(row.annotation.value, str)
        else unparse(row.annotation)
        for row in subject.parameters
        if row.annotation is not None
    }


def _names(tree: ast.Module) -> set[str]:
    """The names of the text's functions, classes and values."""
    names = {node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names
