"""Tests that pass prove nothing where the change reaches for whoever runs them."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.danger import judge as danger
from stet_ls.engine.runners.report import TestReport

_MOST_TOLD = 3


async def unless_forged(evidence: Evidence, case: Case, before: TestReport, after: TestReport) -> Evidence:
    """The evidence; a pass is open where the change adds what can forge it, or its run shows signs of that.

    What the text before did as well is the project's way, and speaks against nobody.
    """
    if evidence.verdict is not Ruling.PASS:
        return evidence
    added = await asyncio.to_thread(_added, case)
    return doubted(evidence, [*(f"adds `{name}`" for name in added), *sorted(after.signs - before.signs)])


def doubted(evidence: Evidence, signs: Collection[str]) -> Evidence:
    """The evidence; a pass is open where there are signs that it was forged."""
    if evidence.verdict is not Ruling.PASS or not signs:
        return evidence
    told = "; ".join([*signs][:_MOST_TOLD])
    detail = f"{evidence.detail}, but that proves nothing, since the code can forge it: {told}"
    return replace(evidence, verdict=Ruling.UNKNOWN, trusted=False, count=0, detail=detail)


def _added(case: Case) -> tuple[str, ...]:
    given = dict.fromkeys(_given(case, case.after.text)) if case.language == "python" else {}
    old = set(_given(case, case.before.text)) if given else set()
    return (*danger.forging(case), *(name for name in given if name not in old))


def _given(case: Case, text: str) -> Iterator[str]:
    """What a text puts into other modules of the project, from where its tests may take what they want."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return
    folder = case.path.parent if case.path is not None else Path()
    imported = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (folder / f"{alias.name.replace('.', '/')}.py").is_file()
    }
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in imported:
                yield f"{name}.{node.attr}"
