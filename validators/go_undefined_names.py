"""Go's undefined names, without its compiler: a name has to be declared in its file, its package, or the language.

Names after a dot and keys of literals are ignored, since they may be fields: no types are known here. A name counts as
declared in its whole block, so a use before the declaration is not found. The remaining findings are certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.grammars import NoGrammarError
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.project_files import MOST_ENTRIES, entries, is_regular, read_regular
from stet_ls.validators.source import Source

if TYPE_CHECKING:
    import tree_sitter

SOURCE = "go names"

_LANGUAGE = frozenset({
    "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64", "int", "int8",
    "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "true",
    "false", "iota", "nil", "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make",
    "max", "min", "new", "panic", "print", "println", "real", "recover", "_",
})  # fmt: skip
"""The universe block of the specification, with the additions of Go 1.21."""

_SCOPES = frozenset({
    "function_declaration", "method_declaration", "func_literal", "function_type", "method_elem", "block",
    "if_statement", "for_statement", "expression_switch_statement", "type_switch_statement", "select_statement",
    "expression_case", "type_case", "default_case", "communication_case", "type_spec", "type_alias",
})  # fmt: skip
_NAMED_OUTSIDE = frozenset({"function_declaration", "type_spec", "type_alias"})
"""Their names belong to the enclosing block."""
_NAMED = frozenset({
    "function_declaration", "var_spec", "const_spec", "parameter_declaration", "variadic_parameter_declaration",
    "type_parameter_declaration",
})  # fmt: skip
_ASSIGNING = {"short_var_declaration": "left", "range_clause": "left", "receive_statement": "left"}
_NAMES = frozenset({"identifier", "type_identifier", "package_identifier"})

_CLAUSE = re.compile(r"^package[ \t]+(\w+)", re.MULTILINE)
_TOP = re.compile(
    r"^(?:func[ \t]+(?P<function>\w+)|(?:type|var|const)[ \t]+(?P<names>\w+(?:[ \t]*,[ \t]*\w+)*)"
    r"|(?:type|var|const)[ \t]*\((?P<group>.*?)(?:^\)|\Z))",
    re.MULTILINE | re.DOTALL,
)
_FIRST = re.compile(r"^[ \t]*(\w+(?:[ \t]*,[ \t]*\w+)*)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_VERSION = re.compile(r"v\d+")
_MOST_FILES, _MOST_BYTES = 500, 4_000_000
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Import:
    """An import: its explicit name ("" if none), the names that its package may have, whether its path has a host."""

    name: str
    guessed: frozenset[str]
    foreign: bool


def undefined(
    source: Source, path: Path | None, buffers: Mapping[Path, str] | None = None
) -> tuple[Finding, ...] | None:
    """The undefined names; None if unknown: the text has no path, or does not parse.

    `buffers` replace the texts on disk. Reads the other files of the package's folder.
    """
    if path is None:
        return None
    try:
        parsed = parse(source, "go", deadline=_SECONDS)
    except (NoGrammarError, DeadlineError):
        return None
    clause = _CLAUSE.search(source.text)
    if parsed.root.has_error or clause is None:
        return None
    imports = tuple(_imports(parsed))
    package = _declared_elsewhere(path, clause[1], buffers or {})
    if package is None or any(each.name == "." for each in imports):
        return None
    return tuple(_findings(parsed, imports, package))


def _findings(parsed: Parsed, imports: tuple[_Import, ...], package: frozenset[str]) -> Iterator[Finding]:
    scopes, uses = _read(parsed)
    known = _LANGUAGE.union(package, *({each.name} if each.name else each.guessed for each in imports))
    used = {parsed.text(node) for node, _ in uses}
    # A package's name may differ from its folder's (not in the standard library): names before dots are then unknown.
    unnamed = any(not each.name and each.foreign and not each.guessed & used for each in imports)
    for node, scope in uses:
        name = parsed.text(node)
        if name in known or _stands_in(scopes, scope, name) or (unnamed and _before_dot(node)):
            continue
        span = parsed.span(node)
        yield Finding(
            span,
            f"undefined: {name}",
            kind="semantic",
            source=SOURCE,
            code="undefined",
            line=parsed.source.line_of(span.start),
        )


Scopes = list[tuple[int, set[str]]]
"""For each block the index of the enclosing one (-1: none), and its declared names."""


def _read(parsed: Parsed) -> tuple[Scopes, list[tuple[tree_sitter.Node, int]]]:
    """The blocks of a file, and the used names, each with its block, in text order."""
    scopes: Scopes = [(-1, set())]
    uses: list[tuple[tree_sitter.Node, int]] = []
    pending, passed = [(parsed.root, 0)], set[int]()
    while pending:
        node, scope = pending.pop()
        if node.type in _NAMES:
            uses.append((node, scope))
            continue
        around = scope
        if node.type in _SCOPES:
            scopes.append((scope, set()))
            scope = len(scopes) - 1
        declared = list(_declared(node))
        scopes[around if node.type in _NAMED_OUTSIDE else scope][1].update(map(parsed.text, declared))
        passed |= {each.id for each in (*declared, *_not_looked_at(node))}
        pending += [(child, scope) for child in reversed(node.named_children) if child.id not in passed]
    return scopes, uses


def _declared(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The nodes of the names in a declaration."""
    if node.type in ("type_spec", "type_alias"):
        yield from filter(None, [node.child_by_field_name("name")])
    elif node.type == "parameter_list" and any(map(_has_name, node.named_children)):
        # Either all parameters have names or none has; in a long list the grammar takes the first ones for types.
        alone = (child.named_children[0] for child in node.named_children if child.named_child_count == 1)
        yield from (child for child in alone if child.type == "type_identifier")
    elif node.type in _NAMED:
        yield from (child for child in node.named_children if child.type == "identifier")
    elif node.type == "type_switch_statement":
        yield from _identifiers(node.child_by_field_name("alias"))
    elif node.type in _ASSIGNING and any(child.type == ":=" for child in node.children):
        yield from _identifiers(node.child_by_field_name(_ASSIGNING[node.type]))
    elif node.type == "method_declaration" and (receiver := node.child_by_field_name("receiver")):
        yield from _arguments(receiver)


def _has_name(parameter: tree_sitter.Node) -> bool:
    return any(child.type == "identifier" for child in parameter.named_children)


def _identifiers(node: tree_sitter.Node | None) -> Iterator[tree_sitter.Node]:
    if node is not None:
        yield from (child for child in (node, *node.named_children) if child.type == "identifier")


def _arguments(receiver: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The names of a receiver's type parameters: `func (l *List[T]) Len() int`."""
    pending = [(receiver, False)]
    while pending:
        node, inside = pending.pop()
        if inside and node.type == "type_identifier":
            yield node
        pending += [(child, inside or node.type == "type_arguments") for child in node.named_children]


def _not_looked_at(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Children without a use of a name, or with one that may be a field."""
    if node.type == "source_file":
        yield from (child for child in node.named_children if child.type in ("package_clause", "import_declaration"))
    elif node.type == "qualified_type" and (name := node.child_by_field_name("name")):
        yield name
    elif node.type == "keyed_element":
        key = node.child_by_field_name("key") or node.named_child(0)
        if key is not None and any(child.type == "identifier" for child in (key, *key.named_children)):
            yield key


def _stands_in(scopes: Scopes, scope: int, name: str) -> bool:
    while scope >= 0:
        scope, names = scopes[scope]
        if name in names:
            return True
    return False


def _before_dot(node: tree_sitter.Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type in ("selector_expression", "qualified_type")


def _imports(parsed: Parsed) -> Iterator[_Import]:
    pending = [node for node in parsed.root.named_children if node.type == "import_declaration"]
    while pending:
        node = pending.pop()
        if node.type != "import_spec":
            pending += node.named_children
        elif path := node.child_by_field_name("path"):
            name, text = node.child_by_field_name("name"), parsed.text(path).strip('"`')
            yield _Import(parsed.text(name) if name else "", _guessed(text), "." in text.partition("/")[0])


def _guessed(path: str) -> frozenset[str]:
    """The names that a package at that path may have: `yaml` for gopkg.in/yaml.v3, `rand` for math/rand/v2."""
    parts = path.split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    last = parts[-1]
    return frozenset({last, last.replace("-", "_"), *_WORD.findall(last)})


def _declared_elsewhere(path: Path, package: str, buffers: Mapping[Path, str]) -> frozenset[str] | None:
    """The names that the other files of a package declare; None if they are too many to read."""
    buffered = {each: text for each, text in buffers.items() if each.parent == path.parent and each.suffix == ".go"}
    names: set[str] = set()
    size = 0
    try:
        listed = entries(path.parent)
        named = [path.parent / each.name for each in listed if each.name.endswith(".go") and each.name != path.name]
        files = [each for each in named if each not in buffered]
        if len(files) > _MOST_FILES or len(listed) >= MOST_ENTRIES:
            return None
        for file in filter(is_regular, files):
            found = file.stat()
            size += found.st_size
            if size > _MOST_BYTES:
                return None
            clause, declared = _of_file(file, found.st_mtime_ns, found.st_size)
            names |= declared if clause == package else frozenset()
    except OSError:
        return None
    for other, text in buffered.items():
        clause, declared = _top_level(text)
        names |= declared if clause == package and other.name != path.name else frozenset()
    return frozenset(names)


@lru_cache(maxsize=2 * _MOST_FILES)
def _of_file(path: Path, _modified: int, _size: int) -> tuple[str, frozenset[str]]:
    return _top_level(read_regular(path, most=_MOST_BYTES).decode("utf-8", "replace"))


def _top_level(text: str) -> tuple[str, frozenset[str]]:
    """The package clause of a file, and its top-level names: rather one too many than one too few."""
    clause = _CLAUSE.search(text)
    names: set[str] = set()
    for match in _TOP.finditer(text):
        if match["group"] is not None:
            for line in _FIRST.finditer(match["group"]):
                names.update(_WORD.findall(line[1]))
        else:
            names.update(_WORD.findall(match["function"] or match["names"]))
    return (clause[1] if clause else "", frozenset(names))
