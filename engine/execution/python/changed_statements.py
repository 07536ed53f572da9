"""The statements of two Python texts that one of them does not have, whatever form they have there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher

from stet_ls.engine.execution.python.equal_forms.canonical import canonical, canonical_statements, written_alike
from stet_ls.engine.execution.python.equal_forms.scopes import ModuleNames, UnitNames
from stet_ls.engine.execution.python.equal_forms.versions import version_answer
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.engine.execution.python.statements import head, statements
from stet_ls.validators.ast_text import dump, parse_module

_MOST_STATEMENTS = 1000
"""If more differ, common statements are not searched."""
_Written = Sequence[tuple[ast.stmt, tuple[ast.stmt, ...]]]
"""Statements in some form, each with those of the text that it stands for."""


@dataclass(frozen=True)
class ComparedText:
    """One of two texts: its tree, what its names refer to, and which statements stand in both."""

    tree: ast.Module
    names: ModuleNames
    common: Set[str]

    @classmethod
    def both(cls, before: str, after: str) -> tuple[ComparedText, ComparedText]:
        """Two texts. Errors as of `parse_module`."""
        old, new = parse_module(before), parse_module(after)
        common = written_alike(old, new)
        return cls(old, ModuleNames.of(old), common), cls(new, ModuleNames.of(new), common)

    def differing(self, other: ComparedText) -> list[ast.stmt]:
        """The statements of the module that may hold functions and that the other text does not have in any form."""
        left = self._written_otherwise()
        forms = {other.form(each) for each in other._written_otherwise()} if left else set()
        return [each for each in left if self.form(each) not in forms]

    def _written_otherwise(self) -> list[ast.stmt]:
        return [each for each in self.tree.body if hasattr(each, "body") and dump(each) not in self.common]

    def form(self, node: ast.stmt) -> str:
        """The form of a function or a class, as text."""
        return dump(canonical(node, self.names, self.common))

    def methods(self, nodes: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
        """The methods of classes, each with its class and its form."""
        for owner in nodes:
            if isinstance(owner, ast.ClassDef):
                methods = (each for each in owner.body if isinstance(each, Function))
                yield from ((f"{owner.name} {self.form(each)}", each) for each in methods)

    def is_fixed(self, test: ast.expr) -> bool:
        """Whether a condition asks for the version of Python, and the answer is the same for all."""
        return version_answer(test, UnitNames.of(test, self.names)) is not None


def changed_statements(
    old: ComparedText, new: ComparedText, nodes: tuple[Sequence[ast.stmt], Sequence[ast.stmt]]
) -> tuple[set[ast.stmt], set[ast.stmt]]:
    """The statements in some nodes of each text that the other does not have, in the form in which these are fewest.

    A form leaves the statements as they are, or writes their expressions alike, or joins conditions, too.
    """
    texts = old, new
    known = [dict(text.methods(own)) for text, own in zip(texts, nodes, strict=True)]
    same = {
        each
        for own, others in (known, reversed(known)) for form, method in own.items() if form in others
        for each in statements(method)
    }  # fmt: skip
    forms = [
        [
            [pair for node in own for pair in write(node, text) if not same.issuperset(pair[1])]
            for text, own in zip(texts, nodes, strict=True)
        ]
        for write in (_plainly, _joined, _as_written)
    ]
    live = {each for side in forms[0] for _, origins in side for each in origins}
    found = [tuple(changed & live for changed in _unmatched(*form)) for form in forms]
    first, second = min(found, key=lambda sides: sum(not isinstance(each, ast.Pass) for side in sides for each in side))
    return first, second


def _as_written(node: ast.stmt, text: ComparedText) -> _Written:
    del text
    return [(each, (each,)) for each in statements(node)]


def _plainly(node: ast.stmt, text: ComparedText) -> _Written:
    return canonical_statements(node, text.names, text.common, joining=False)


def _joined(node: ast.stmt, text: ComparedText) -> _Written:
    return canonical_statements(node, text.names, text.common, joining=True)


def _unmatched(old: _Written, new: _Written) -> tuple[set[ast.stmt], set[ast.stmt]]:
    """The statements of both texts for which those that only one side has stand."""
    first, second = [each for each, _ in old], [each for each, _ in new]
    left = set(first), set(second)
    if max(len(first), len(second)) <= _MOST_STATEMENTS:
        heads = [head(each) for each in first], [head(each) for each in second]
        for at, other, size in SequenceMatcher(None, *heads, autojunk=False).get_matching_blocks():
            left[0].difference_update(first[at : at + size])
            left[1].difference_update(second[other : other + size])
        left = _with_uses(left[0], first), _with_uses(left[1], second)
    origins = dict((*old, *new))
    before, after = ({origin for each in side for origin in origins[each]} for side in left)
    return before, after


def _with_uses(changed: set[ast.stmt], among: Sequence[ast.stmt]) -> set[ast.stmt]:
    """The changed statements, and those that use a name which one of them binds: rows that are one list differ from
    equal ones only where a cell is set.
    """
    bound = {name for each in changed for name in _names(each, ast.Store)}
    return changed | {each for each in among if bound & set(_names(each, ast.Load))}


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    """The names in a statement that are bound or read, without those of statements in it."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if isinstance(each, ast.Name) and isinstance(each.ctx, context):
            yield each.id
        yield from _names(each, context)
