"""Finds the new or changed parts of a Python text, and the lines that a test or an example has to run for each.

Only code in a function's body can be seen to run for the change: `def` lines, class bodies and constants run when
the file is loaded, whatever is tested. So a new constant counts as run if a function that reads it runs, or if the test
itself names it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import count
from types import MappingProxyType

from stet_ls.engine.execution.python.changed_part import ChangedPart, Start, extent_of, start_of
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.engine.execution.python.statements import head, is_text, lazily_changed, statements
from stet_ls.validators.ast_text import try_parse

_WITHOUT_LINE_EVENT = (ast.Pass, ast.Break, ast.Continue, ast.Try)
"""Statements that some Python versions run without a line event."""

_IMPORTS = (ast.Import, ast.ImportFrom)


def parts(before: str, after: str, unit: str = "") -> tuple[ChangedPart, ...] | None:
    """The parts that differ in `after`; () if nothing executable does, None if it cannot be parsed.

    Each of them has to run before tests or examples prove anything about the whole edit. If the text before cannot be
    parsed, lines decide what is new; if that is outside of functions, all of `unit` has to run. Not for an event loop.
    """
    trees = try_parse(before), try_parse(after)
    if trees[1] is None:
        return None
    new = _Text(trees[1])
    if trees[0] is None:
        return tuple(_by_text(before, after, new)) or (_whole(new, unit),)
    old = _Text(trees[0])
    loose = [*_loose(old, new)]
    found = [*_units(old, new), *(part for part, is_known in loose if is_known)]
    if found or loose:
        return tuple(found or (part for part, _ in loose))
    # What was removed may have been used by anything in the file.
    gone = set(old.functions) - set(new.functions) or len(old.loose) > len(new.loose)
    return (_whole(new),) if gone else ()


def _whole(text: _Text, unit: str = "") -> ChangedPart:
    whole = [node for name, node in text.functions.items() if not unit or f"{name}.".startswith(f"{unit}.")]
    return _part(text, unit, [each for node in whole for each in _inner(node)])


def _by_text(before: str, after: str, new: _Text) -> Iterator[ChangedPart]:
    """The functions with a line that the text before, which is not valid Python, did not have there."""
    lines = before.splitlines(), after.splitlines()
    fresh = set(range(1, len(lines[1]) + 1))
    for _, at, size in SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks():
        fresh -= set(range(at + 1, at + size + 1))
    for name, node in new.functions.items():
        if fresh & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            written = [each for each in _inner(node) if fresh & _own_lines(each)]
            yield _part(new, name.partition("#")[0], written or _inner(node), new=written)


class _Text:
    """A module's `functions` by qualified name, its class names, and `loose` statements, which run when it is loaded.

    `bound` are the names that loose statements bind, prefixed with their class, except for imports: those are in
    `imported`, with what they may refer to. `on_condition_line` are statements on the same line as the condition that
    guards them.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.on_condition_line = frozenset(_on_condition_line(tree))
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.loose: list[tuple[str, ast.stmt]] = []
        self._take(tree.body, "")
        values = ((owner, node) for owner, node in self.loose if not isinstance(node, _IMPORTS))
        self.bound = {name for owner, node in values for name in _named(owner, _bound(node))}
        self.imported = {pair for _, node in self.loose for pair in _origins(node)}

    def _take(self, body: Iterable[ast.AST], owner: str) -> None:
        for node in body:
            if isinstance(node, Function):
                self.functions[self._free(f"{owner}{node.name}")] = node
            elif isinstance(node, ast.stmt) and not isinstance(node, ast.Global | ast.Nonlocal) and not is_text(node):
                self.loose.append((owner, node))
                inner = owner
                if isinstance(node, ast.ClassDef):
                    inner = f"{owner}{node.name}."
                    self.classes[inner[:-1]] = node
                self._take(_below(node), inner)

    def _free(self, name: str) -> str:
        """A name that is not taken yet: a property and its setter share one."""
        return name if name not in self.functions else next(
            each for at in count(2) if (each := f"{name}#{at}") not in self.functions
        )  # fmt: skip


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """The statements directly below a statement, including its branches and handlers."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield each
        elif isinstance(each, ast.excepthandler | ast.match_case):
            yield from _below(each)


def _units(old: _Text, new: _Text) -> Iterator[ChangedPart]:
    """Functions that are new or changed. A new class is one part."""
    fresh: dict[str, list[ast.stmt]] = {}
    fields = {owner[:-1] for owner, _ in new.loose if owner}
    for name in sorted(new.classes.keys() - old.classes.keys()):
        if "." not in name or name.rpartition(".")[0] in old.classes:
            fresh[name] = []
    for name, node in new.functions.items():
        around = next((each for each in fresh if name.startswith(f"{each}.")), None)
        known = old.functions.get(name)
        plain = name.partition("#")[0]
        if around is not None:
            fresh[around] += _inner(node)
        elif known is None:
            yield _part(new, plain, _inner(node), new=_inner(node))
        elif changed := _changed(known, node):
            written = [each for each in changed if each is not node]
            yield _part(new, plain, _running(written) or _inner(node), new=written, lazy=changed)
    for name, inner in fresh.items():
        last = name.rpartition(".")[2]
        readers = [] if inner or name not in fields else _readers(new, {last})
        yield _part(new, name, inner or readers, new=inner)


def _changed(old: ast.stmt, new: ast.stmt) -> dict[ast.stmt, Sequence[ast.expr]]:
    """The changes in a function; the function itself if something was removed from it.

    Each statement is mapped to the expressions that hold all of its changes and need not be evaluated with it.
    """
    first, second = list(statements(old)), list(statements(new))
    heads = [head(each) for each in first], [head(each) for each in second]
    if heads[0] == heads[1]:
        return {}
    return _unmatched(heads, first, second) or {new: ()}


def _unmatched(
    heads: tuple[Sequence[str], Sequence[str]], first: Sequence[ast.stmt], second: Sequence[ast.stmt]
) -> dict[ast.stmt, Sequence[ast.expr]]:
    found: dict[ast.stmt, Sequence[ast.expr]] = {}
    for tag, start, end, begin, stop in SequenceMatcher(None, *heads, autojunk=False).get_opcodes():
        if tag != "equal":
            pairs = zip(first[start:end], second[begin:stop], strict=False) if end - start == stop - begin else ()
            lazy = {new: lazily_changed(old, new) or () for old, new in pairs}
            found |= {each: lazy.get(each, ()) for each in second[begin:stop]}
    return found


def _loose(old: _Text, new: _Text) -> Iterator[tuple[ChangedPart, bool]]:
    """Changes that run when the file is loaded, with the functions that read them. True: the name was bound before."""
    heads = [owner + head(node) for owner, node in old.loose], [owner + head(node) for owner, node in new.loose]
    if heads[0] == heads[1]:
        return
    owners = {id(node): owner for owner, node in new.loose}
    changed = _unmatched((heads[0], heads[1]), [node for _, node in old.loose], [node for _, node in new.loose])
    known = {name for name, _ in old.imported}
    rebound = {id(node): {name for name, _ in {*_origins(node)} - old.imported if name in known} for node in changed}
    wanted = [node for node in changed if not isinstance(node, _IMPORTS) or rebound[id(node)]]
    fresh = new.classes.keys() - old.classes.keys()
    for node in wanted or changed:
        owner = owners[id(node)]
        if any(f"{owner}{getattr(node, 'name', '')}.".startswith(f"{each}.") for each in fresh):
            continue
        names = rebound[id(node)] or _bound(node) or {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        label = next(iter(sorted(_named(owner, names))), "")
        is_known = label in old.bound or bool(rebound[id(node)])
        value = getattr(node, "value", None)
        lazy = changed[node] or ([value.body] if isinstance(value, ast.Lambda) else [])
        if lazy:
            yield ChangedPart(label, lazy=frozenset(map(extent_of, lazy))), is_known
            continue
        is_open = bool(owner) and _is_read_by_others(new.classes[owner[:-1]], names)
        around = {owner[:-1].rpartition(".")[2]} if is_open else set()
        at = frozenset() if isinstance(node, _WITHOUT_LINE_EVENT) or _is_bare(node) else _own_lines(node)
        yield _part(new, label, _readers(new, names | around), names=names | around, at=at), is_known


def _is_read_by_others(node: ast.ClassDef, names: Iterable[str]) -> bool:
    """Whether users of a class may read its fields: by its bases, its decorators, the language."""
    return bool(node.bases or node.keywords or node.decorator_list) or any(name.startswith("__") for name in names)


def _origins(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with what it refers to."""
    for each in node.names if isinstance(node, _IMPORTS) else ():
        if isinstance(node, ast.ImportFrom):
            yield each.asname or each.name, f"{'.' * node.level}{node.module or ''}:{each.name}"
        else:
            yield each.asname or each.name.partition(".")[0], each.name if each.asname else each.name.partition(".")[0]


def _named(owner: str, names: Iterable[str]) -> Iterator[str]:
    return (f"{owner}{name}" for name in names)


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds or changes, without nested statements."""
    if isinstance(node, ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(each.asname or each.name).partition(".")[0] for each in node.names}
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    found = set()
    for target in targets:
        for each in ast.walk(target) if isinstance(target, ast.AST) else ():
            if isinstance(each, ast.Name):
                found.add(each.id)
    return found


def _readers(text: _Text, names: Iterable[str]) -> list[ast.stmt]:
    """The statements in functions that use one of some names."""
    wanted = set(names)
    found = []
    for node in text.functions.values():
        for each in _inner(node):
            own = [part for part in ast.iter_child_nodes(each) if not isinstance(part, ast.stmt)]
            used = {
                inner.id if isinstance(inner, ast.Name) else inner.attr
                for part in own
                for inner in ast.walk(part)
                if isinstance(inner, ast.Name | ast.Attribute)
            }
            if used & wanted:
                found.append(each)
    return found


def _inner(node: ast.stmt) -> list[ast.stmt]:
    """The statements of a function that run when it is called."""
    return _running(each for each in statements(node) if each is not node)


def _running(found: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Those that have an effect: neither headers of functions and classes nor mere annotations."""
    return [each for each in found if not isinstance(each, Function | ast.ClassDef) and not _is_bare(each)]


def _is_bare(node: ast.stmt) -> bool:
    """Whether it is an annotation without a value."""
    return isinstance(node, ast.AnnAssign) and node.value is None


def _part(
    text: _Text,
    name: str,
    found: Iterable[ast.stmt],
    *,
    new: Iterable[ast.stmt] = (),
    names: Iterable[str] = (),
    lazy: Mapping[ast.stmt, Sequence[ast.expr]] = MappingProxyType({}),
    at: frozenset[int] = frozenset(),
) -> ChangedPart:
    found = list(found)
    extents = frozenset(extent_of(each) for node in found for each in lazy.get(node, ()))
    spans = {
        start_of(each): frozenset() if start_of(each) in text.on_condition_line else _own_lines(each)
        for each in found
        if not lazy.get(each)
    }
    written = {start_of(each) for each in new if not isinstance(each, _WITHOUT_LINE_EVENT) and not _is_endless(each)}
    # A part without statements of its own, such as a class of constants, has to be named.
    alone = () if spans or extents or not name else (name.rpartition(".")[2],)
    return ChangedPart(name, spans, frozenset((*names, *alone)), frozenset(written & set(spans)), extents, at)


def _on_condition_line(tree: ast.AST) -> Iterator[Start]:
    """The statements on the same line as the condition that guards them: that line does not show whether they ran."""
    for node in ast.walk(tree):
        decides = [getattr(node, name, None) for name in ("test", "iter", "type", "guard", "pattern")]
        decides += [each.context_expr for each in getattr(node, "items", ()) if isinstance(each, ast.withitem)]
        last = max((each.end_lineno or 0 for each in decides if isinstance(each, ast.expr | ast.pattern)), default=0)
        body = getattr(node, "body", None)
        yield from (start_of(each) for each in (body if isinstance(body, list) else ()) if each.lineno <= last)


def _own_lines(node: ast.stmt) -> frozenset[int]:
    """The lines of a statement without those of nested statements."""
    first = min((each.lineno for each in _below(node) if isinstance(each, ast.stmt)), default=None)
    end = node.end_lineno or node.lineno
    last = end if first is None else max(node.lineno, first - 1)
    return frozenset(range(node.lineno, last + 1))


def _is_endless(node: ast.stmt) -> bool:
    """Whether it is `while True:`, whose first line does nothing."""
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
