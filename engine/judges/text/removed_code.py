"""What an edit removes in addition to definitions: decorators, exports, statements, imports, unmentioned code.

Each finding is a few words ("`@cached` of `total` is gone"); anything that the user's words name may be removed.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from stet_ls.engine.judges.language_table import for_language
from stet_ls.engine.reply.languages.import_form import Import
from stet_ls.engine.reply.languages.language_table import for_language as reply_language
from stet_ls.validators import structure
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.literals import passages
from stet_ls.validators.structure.units import tree_of

_WORD = re.compile(r"[\w$]+")
_NO_STATEMENT = re.compile(r"comment|import|package|use_declaration|attribute|preproc|definition|declaration|_item$")
_OUTWARD = frozenset({"export", "exports", "__name__"})
"""Words of a statement by which others reach a file, or run it."""
_LONGEST = 40


def removed_words(
    before: Source, after: Source, language: str, path: Path | None, named: Collection[str]
) -> Iterator[str]:
    """What was removed from a text, except for findings with a word of `named` in them."""
    if before.data == after.data:
        return
    yield from _marks_gone(before, after, language, named)
    yield from _names_not_exported(before, after, language, named)
    yield from _statements_gone(before, after, language, named)
    yield from _imports_gone(before, after, language, path, named)


def shortened_definitions(before: Source, after: Source, language: str, named: Collection[str]) -> list[str]:
    """The functions and values that lost words, except for those in `named`: an addition keeps all."""
    new = defaultdict(list)
    for name, words in _own_words(after, language):
        new[name].append(words)
    return [
        name
        for name, words in _own_words(before, language)
        if new[name] and name.rpartition(".")[2] not in named and not any(_holds(each, words) for each in new[name])
    ]


def _own_words(source: Source, language: str) -> Iterator[tuple[str, list[str]]]:
    """The words of each function, method and value, by its qualified name."""
    symbols = structure.outline(source, language)
    for symbol, following in zip_longest(symbols, symbols[1:]):
        if following is None or not symbol.span.contains(following.span) or following.span == symbol.span:
            yield symbol.qualified, _WORD.findall(source.slice(symbol.span))


def _holds(words: Iterable[str], wanted: Iterable[str]) -> bool:
    """True if all wanted words occur in their order."""
    rest = iter(words)
    return all(word in rest for word in wanted)


def _marks_gone(before: Source, after: Source, language: str, named: Collection[str]) -> Iterator[str]:
    new = _marks(after, language)
    for name, marks in _marks(before, language).items():
        if name not in new:
            continue
        for mark in sorted(marks - new[name]):
            last = mark.rpartition(".")[2]
            if last not in named and not any(last in each or each.rpartition(".")[2] in last for each in new[name]):
                yield f"`{for_language(language).mark.format(mark)}` of `{name}` is gone"


def _marks(source: Source, language: str) -> dict[str, set[str]]:
    """The names of all decorators and attributes of each unit; an empty set for a unit without any."""
    found: dict[str, set[str]] = defaultdict(set)
    row = for_language(language)
    if row.marks is None:
        return found
    for unit in structure.units(source, language):
        head = source.slice(Span(unit.span.start, unit.body.start if unit.body else unit.span.end))
        head = head.partition(f" {unit.name}")[0]
        marks = row.marks.findall(head)
        found[unit.qualified].update({*_WORD.findall(" ".join(marks))} - {"derive"} if row.mark_words else marks)
    return found


def _names_not_exported(before: Source, after: Source, language: str, named: Collection[str]) -> Iterator[str]:
    """Names missing from a list of exports, though the text still defines them."""
    exports = for_language(language).exports
    old, new = exports(before), exports(after)
    if old is None or new is None:
        return
    for name in old:
        if name not in new and name not in named and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", after.text):
            yield f"`{name}` is gone from `__all__`"


def _statements_gone(before: Source, after: Source, language: str, named: Collection[str]) -> Iterator[str]:
    """Top-level statements that use the file's names, or export them, and that no new line repeats."""
    there = Counter(_words(text) for text in _statements(after, language))
    lost = [text for text in _statements(before, language) if not _taken_out(there, _words(text))]
    if not lost:
        return
    known = {symbol.name for symbol in structure.outline(before, language)} | set(_bound(before, language)) | _OUTWARD
    added = _added_words(before, after).union(*(words for words, count in there.items() if count > 0))
    for text in lost:
        words = set(_words(text))
        if not known & words <= added and words.isdisjoint(named):
            line = text.strip().splitlines()[0]
            yield f"`{line[:_LONGEST]}{'…' if len(line) > _LONGEST else ''}` is gone"


def _taken_out(there: Counter[tuple[str, ...]], words: tuple[str, ...]) -> bool:
    """Removes one matching statement from those present; False if there is none."""
    there[words] -= 1
    return there[words] >= 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text))


def _statements(source: Source, language: str) -> Iterator[str]:
    """The top-level statements that are not declarations, imports or docstrings."""
    parsed = tree_of(source, language)
    if parsed is None:
        return
    others = [symbol.span for symbol in structure.outline(source, language) if "." not in symbol.qualified]
    others += structure.imports(source, language)
    others.sort()
    starts = [span.start for span in others]
    for node in parsed.root.named_children:
        span = parsed.span(node)
        near = others[max(0, bisect(starts, span.start) - 1) : bisect(starts, span.end)]
        is_text = node.named_child_count == 1 and "string" in node.named_children[0].type
        if not (_NO_STATEMENT.search(node.type) or node.is_error or is_text or any(s.overlaps(span) for s in near)):
            yield source.slice(span)


def _imports_gone(
    before: Source, after: Source, language: str, path: Path | None, named: Collection[str]
) -> Iterator[str]:
    """Removed imports that the text still uses, that matter for their loading, or that a package re-exports."""
    old, new = _bound(before, language), _bound(after, language)
    if not (lost := [one for name in old if name not in new for one in old[name]]):
        return
    defined = {symbol.name for symbol in structure.outline(after, language)}
    code = ""
    for one in lost:
        if not set(_words(one.text)).isdisjoint(named):
            continue
        if not one.bound:
            wanted = for_language(language).imports_load
        elif path is not None and path.name == "__init__.py":
            wanted = one.bound not in defined
        elif for_language(language).names_linted:
            continue  # undefined names belong to another judge
        else:
            code = code or _without_imports(after, language)
            wanted = one.bound not in defined and bool(re.search(rf"(?<![\w$.]){re.escape(one.bound)}(?![\w$])", code))
        if wanted:
            yield f"`{one.text[:_LONGEST]}{'…' if len(one.text) > _LONGEST else ''}` is gone"


def _bound(source: Source, language: str) -> dict[str, list[Import]]:
    """The imports of a text, by the name that each binds, else by its text."""
    found: dict[str, list[Import]] = defaultdict(list)
    if form := reply_language(language).imports:
        for one in form.imports(source.slice(span) for span in structure.imports(source, language)):
            found[one.bound or one.text].append(one)
    return found


def _without_imports(source: Source, language: str) -> str:
    """The text without imports, literals and comments."""
    gaps = [*structure.imports(source, language), *(each.span for each in passages(source, language))]
    pieces, at = [], 0
    for span in sorted(gaps):
        pieces.append(source.data[at : span.start])
        at = max(at, span.end)
    return b" ".join([*pieces, source.data[at:]]).decode("utf-8", "replace")


def _added_words(before: Source, after: Source) -> set[str]:
    """The words of the lines that only the new text has."""
    lines = Counter(" ".join(line.split()) for line in after.text.splitlines())
    lines -= Counter(" ".join(line.split()) for line in before.text.splitlines())
    return {word for line in lines for word in _WORD.findall(line)}
