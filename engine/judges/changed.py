"""Which parts of a Python text are new or other than before, and where a test or an example has to come by to run them.

Only what runs in a function's body can be seen to run for the change: `def` lines, class bodies and constants run when
the file is loaded, whatever is tested. So a new constant counts as run where a function that reads it runs, or where
the test itself names it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import count

from stet_ls.engine.judges.inputs.subject import Function
from stet_ls.validators.rewritten import dumped, unparsed

_WORD = re.compile(r"[^\W\d][\w$]*")
_SILENT = (ast.Global, ast.Nonlocal)
_UNTOLD = (ast.Pass, ast.Break, ast.Continue, ast.Try)
"""Statements that some Pythons run without saying so."""

_IMPORTS = (ast.Import, ast.ImportFrom)

Start = tuple[int, int]
"""The line, from 1, and the column at which a statement begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A function, a class or a variable that an edit added or changed.

    `name` is "" for what has none. `statements` are those of which one has to run: the lines of each, by its start.
    `names`: where the part runs when the file is loaded, a test that names one of them counts too. `new` are the
    statements among `statements` that are written anew.
    """

    name: str
    statements: Mapping[Start, frozenset[int]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    new: frozenset[Start] = frozenset()

    @property
    def lines(self) -> frozenset[int]:
        """The lines of which one has to run."""
        return frozenset().union(*self.statements.values())


def parts(before: str, after: str, unit: str = "") -> tuple[Part, ...] | None:
    """What differs in `after`; () where nothing that runs does, None where it cannot be read.

    Each of them has to run before tests or examples say something about the whole edit. Where the text before cannot be
    read, that is all of `unit`. Not for an event loop.
    """
    try:
        new = _Text(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    try:
        old = _Text(ast.parse(before))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        whole = [node for name, node in new.functions.items() if not unit or f"{name}.".startswith(f"{unit}.")]
        return (_part(unit, [each for node in whole for each in _inner(node)]),)
    found = [*_units(old, new)]
    loose = [*_loose(old, new)]
    found += [each for each in loose if each.name in old.bound]
    if found:
        return tuple(found)
    if loose:
        return tuple(loose)
    # What was taken away may have been used by anything in the file.
    gone = set(old.functions) - set(new.functions) or len(old.loose) > len(new.loose)
    return (_part("", [each for node in new.functions.values() for each in _inner(node)]),) if gone else ()


def wired(text: str, part: Part, word: str) -> str | None:
    """The text with an error of that word before each statement of a part; None where none can be put there."""
    if not part.statements:
        return None
    try:
        tree = ast.parse(text)
        _Wires(part, word).generic_visit(tree)
        return unparsed(ast.fix_missing_locations(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def without_documentation(text: str) -> str:
    """What stands for all Python texts with the same code; the text itself if it is no Python."""
    try:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, Function | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        return dumped(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def merged(found: Sequence[Part], most: int) -> tuple[Part, ...]:
    """So many parts at most; the last one stands for the rest, by all their names."""
    if len(found) <= most:
        return tuple(found)
    *kept, last = found[:most]
    for each in found[most:]:
        joined = {**last.statements, **each.statements}
        last = Part(f"{last.name}, {each.name}", joined, last.names | each.names, last.new | each.new)
    return (*kept, last)


def words(text: str) -> frozenset[str]:
    """The names in a text, whatever they stand for."""
    return frozenset(_WORD.findall(text))


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """A statement and those in it, in their order, but those that do nothing."""
    if isinstance(node, ast.stmt) and not isinstance(node, _SILENT) and not _is_text(node):
        yield node
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.expr):
            yield from statements(each)


def head(node: ast.AST) -> str:
    """A statement without those in it, as text: neither its place nor its comments count."""
    told = [type(node).__name__]
    for _, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.excepthandler | ast.match_case):
                told.append(head(each))
            elif not isinstance(each, ast.stmt):
                told.append(dumped(each) if isinstance(each, ast.AST) else repr(each))
    return " ".join(told)


class _Text:
    """A module's `functions` by qualified name, its class names, and `loose` statements, which run when it is loaded.

    `bound` are the names that loose statements bind, those of a class behind its name, but what is imported.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.classes: set[str] = set()
        self.loose: list[tuple[str, ast.stmt]] = []
        self._take(tree.body, "")
        values = ((owner, node) for owner, node in self.loose if not isinstance(node, _IMPORTS))
        self.bound = {name for owner, node in values for name in _named(owner, _bound(node))}

    def _take(self, body: Iterable[ast.AST], owner: str) -> None:
        for node in body:
            if isinstance(node, Function):
                self.functions[self._free(f"{owner}{node.name}")] = node
            elif isinstance(node, ast.stmt) and not isinstance(node, _SILENT) and not _is_text(node):
                self.loose.append((owner, node))
                inner = owner
                if isinstance(node, ast.ClassDef):
                    inner = f"{owner}{node.name}."
                    self.classes.add(inner[:-1])
                self._take(_below(node), inner)

    def _free(self, name: str) -> str:
        """A name that was not met yet: a property and its setter have the same."""
        return name if name not in self.functions else next(
            each for at in count(2) if (each := f"{name}#{at}") not in self.functions
        )  # fmt: skip


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right below a statement, in the branches and handlers of it too."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield each
        elif isinstance(each, ast.excepthandler | ast.match_case):
            yield from _below(each)


def _units(old: _Text, new: _Text) -> Iterator[Part]:
    """Functions that are new or changed. Of a class that is new they are one part."""
    fresh: dict[str, list[ast.stmt]] = {}
    fields = {owner[:-1] for owner, _ in new.loose if owner}
    for name in sorted(new.classes - old.classes):
        if "." not in name or name.rpartition(".")[0] in old.classes:
            fresh[name] = []
    for name, node in new.functions.items():
        around = next((each for each in fresh if name.startswith(f"{each}.")), None)
        known = old.functions.get(name)
        plain = name.partition("#")[0]
        if around is not None:
            fresh[around] += _inner(node)
        elif known is None:
            yield _part(plain, _inner(node), new=_inner(node))
        elif changed := _changed(known, node):
            written = [each for each in changed if each is not node]
            yield _part(plain, _running(written) or _inner(node), new=written)
    for name, inner in fresh.items():
        last = name.rpartition(".")[2]
        readers = [] if inner or name not in fields else _readers(new, {last})
        yield _part(name, inner or readers, new=inner)


def _changed(old: ast.stmt, new: ast.stmt) -> list[ast.stmt]:
    """What of a function is other than before; the function itself where something was taken out of it."""
    first, second = list(statements(old)), list(statements(new))
    heads = [head(each) for each in first], [head(each) for each in second]
    if heads[0] == heads[1]:
        return []
    return _unmatched(heads, second) or [new]


def _unmatched(heads: tuple[Sequence[str], Sequence[str]], second: Sequence[ast.stmt]) -> list[ast.stmt]:
    left = dict.fromkeys(second)
    for _, beside, size in SequenceMatcher(None, *heads, autojunk=False).get_matching_blocks():
        for each in second[beside : beside + size]:
            left.pop(each)
    return list(left)


def _loose(old: _Text, new: _Text) -> Iterator[Part]:
    """What runs when the file is loaded and is other than before: read by whom?"""
    heads = [owner + head(node) for owner, node in old.loose], [owner + head(node) for owner, node in new.loose]
    if heads[0] == heads[1]:
        return
    owners = {id(node): owner for owner, node in new.loose}
    changed = _unmatched((heads[0], heads[1]), [node for _, node in new.loose])
    plain = [node for node in changed if not isinstance(node, _IMPORTS)]
    for node in plain or changed:
        owner = owners[id(node)]
        if any(f"{owner}{getattr(node, 'name', '')}.".startswith(f"{each}.") for each in new.classes - old.classes):
            continue
        names = _bound(node) or {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        around = {owner[:-1].rpartition(".")[2]} if owner else set()
        told = next(iter(sorted(_named(owner, names))), "")
        yield _part(told, _readers(new, names | around), names=names | around)


def _named(owner: str, names: Iterable[str]) -> Iterator[str]:
    return (f"{owner}{name}" for name in names)


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds or changes, without those in it."""
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
    """The statements in functions that name one of some names."""
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
    """Those that do something: neither headers of functions and classes nor mere annotations."""
    return [
        each
        for each in found
        if not isinstance(each, Function | ast.ClassDef)
        and not (isinstance(each, ast.AnnAssign) and each.value is None)
    ]


def _part(name: str, found: Iterable[ast.stmt], *, new: Iterable[ast.stmt] = (), names: Iterable[str] = ()) -> Part:
    spans = {_start(each): _own_lines(each) for each in found}
    written = {_start(each) for each in new if not isinstance(each, _UNTOLD) and not _is_endless(each)}
    # What has no statement of its own, as a class of constants alone, is there to be named.
    alone = () if spans or not name else (name.rpartition(".")[2],)
    return Part(name, spans, frozenset((*names, *alone)), frozenset(written & set(spans)))


def _start(node: ast.stmt) -> Start:
    return node.lineno, node.col_offset


def _own_lines(node: ast.stmt) -> frozenset[int]:
    """The lines of a statement without those of the statements in it."""
    first = min((each.lineno for each in _below(node) if isinstance(each, ast.stmt)), default=None)
    end = node.end_lineno or node.lineno
    last = end if first is None else max(node.lineno, first - 1)
    return frozenset(range(node.lineno, last + 1))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_endless(node: ast.stmt) -> bool:
    """`while True:`, of which the first line does nothing."""
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant)


class _Wires(ast.NodeTransformer):
    """Puts an error before statements. `SystemExit`, so that code which takes every `Exception` does not hide it."""

    def __init__(self, part: Part, word: str) -> None:
        self._starts = part.statements.keys()
        self._word = word

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """A statement with the error before it, anything else with its statements visited."""
        self.generic_visit(node)
        if not isinstance(node, ast.stmt) or _start(node) not in self._starts:
            return node
        error = ast.Call(ast.Name("SystemExit", ast.Load()), [ast.Constant(self._word)], [])
        return [ast.Raise(error), node]
