"""Definitions in other files that a target uses: found in the workspace's index, chosen by the document's imports."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stet_ls.engine.api.request import Request
from stet_ls.engine.prompt.code_view import view
from stet_ls.engine.prompt.context.import_bindings import bindings, closeness
from stet_ls.engine.prompt.context_items import ContextItem, Priority
from stet_ls.engine.prompt.languages.import_binding import Binding
from stet_ls.engine.workspace.symbol_index import Definition, SymbolCandidate, SymbolIndex
from stet_ls.validators.languages import for_language, language
from stet_ls.validators.source import Span
from stet_ls.validators.structure import imports, units
from stet_ls.validators.structure.member_locations import indent_at

_MOST = 8
_MOST_MEMBERS = 20
_LONGEST_BODY = 6_000
"""The most bytes of a body in another file; of a longer one, only the head is shown."""
_FAR = 4
_TYPES = frozenset({"class", "interface", "struct", "enum", "type"})


@dataclass(frozen=True, slots=True)
class CrossFileContext:
    """The definitions found, the most certain first, and what could not be looked up."""

    definitions: tuple[Definition, ...] = ()
    gaps: tuple[str, ...] = ()


def cross_file_items(
    request: Request, text: str, called: Iterable[str], known: Iterable[str], index: SymbolIndex
) -> CrossFileContext:
    """The definitions in other files of what `text`, a part of the document, calls (`called`) or names.

    `known` are the names that the document defines itself. The imports select among several definitions; if they do
    not, and several files have one, none is shown: a wrong one does harm. Reads files: not for an event loop.
    """
    if not request.workspace.roots:
        return CrossFileContext()
    source = request.source
    bound = bindings([source.slice(span) for span in imports(source, request.language)], request.language, request.path)
    aliases = {alias: name for binding in bound for alias, name in binding.names.items()}
    words = set(re.findall(r"[\w$]+", text))
    used = dict.fromkeys([*called, *(alias for alias in aliases if alias in words)])
    own = set(known) - set(aliases)
    names = list(dict.fromkeys(aliases.get(name, name) for name in used if name not in own))
    if not names:
        return CrossFileContext()
    found = index.find(names, request.language, request.workspace, but=request.path)
    chosen = _chosen(found.candidates, bound, request, set(re.findall(r"[\w$]+", source.text)))
    definitions = (index.open(candidate, request.workspace) for candidate in chosen)
    return CrossFileContext(tuple(one for one in definitions if one is not None), found.gaps)


def _chosen(
    candidates: Iterable[SymbolCandidate], bound: tuple[Binding, ...], request: Request, words: set[str]
) -> list[SymbolCandidate]:
    """The most certain candidate for each name; none if it is ambiguous."""
    by_name: dict[str, list[tuple[int, SymbolCandidate]]] = defaultdict(list)
    for candidate in candidates:
        distance = _distance(candidate, bound, request, words)
        if distance is not None:
            by_name[candidate.entry.name].append((distance, candidate))
    sure: list[tuple[int, SymbolCandidate]] = []
    for rated in by_name.values():
        nearest = min(distance for distance, _ in rated)
        best = [candidate for distance, candidate in rated if distance == nearest]
        if nearest < _FAR or len({one.path for one in best}) == 1:
            # A header and its implementation: the longer one has the body.
            sure.append((nearest, max(best, key=lambda one: one.entry.end - one.entry.start)))
    return [candidate for _, candidate in sorted(sure, key=lambda one: one[0])[:_MOST]]


def _distance(candidate: SymbolCandidate, bound: tuple[Binding, ...], request: Request, words: set[str]) -> int | None:
    """0 to 2: imported; 3: a neighbor in the package; _FAR: known without an import, if the name is unique."""
    entry = candidate.entry
    owner = entry.qualified.rpartition(".")[0].rpartition(".")[2]
    # An import names a module's own definitions; methods count only if their class is named here.
    name = owner or entry.name
    if owner and owner not in words:
        return None
    near = [closeness(binding, name, candidate.path) for binding in bound]
    best = min((distance for distance in near if distance is not None), default=None)
    if best is not None:
        return best
    own = for_language(request.language)
    if own.folder_is_package and request.path is not None and candidate.path.parent == request.path.parent:
        return 3
    return _FAR if own.global_names or owner else None


def pieces_of(one: Definition, request: Request) -> Iterator[ContextItem]:
    """The head of a definition in another file, and its body if it is short enough."""
    source, entry = one.source, one.entry
    span = Span(entry.start, entry.end)
    root = next((root for root in request.workspace.roots if one.path.is_relative_to(root)), None)
    place = one.path.name if root is None else one.path.relative_to(root).as_posix()
    title = f"From {place}, which is not to be changed:"
    head = with_comment(entry.signature, entry.doc, one.language)
    name = f"{entry.qualified} of {place}"
    yield ContextItem(Priority.SIGNATURE, name, title, head)
    if entry.kind in _TYPES:
        members = [unit for unit in units(source, one.language) if span.contains(unit.span) and unit.span != span]
        text = "\n".join([head, *(f"    {unit.signature}" for unit in members[:_MOST_MEMBERS])])
    elif span.end - span.start <= _LONGEST_BODY:
        text = view(source, span, one.language, indent=indent_at(source, span.start)).text
    else:
        return
    yield ContextItem(Priority.DEFINITION, f"the body of {name}", title, text, instead_of=name)


def with_comment(signature: str, doc: str, language_id: str) -> str:
    """A signature with one line of its documentation as a comment."""
    row = language(language_id)
    return f"{signature}  {(row.line_comment if row else None) or '//'} {doc}" if doc else signature
