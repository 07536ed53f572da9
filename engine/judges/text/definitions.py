"""Checks that no definition is lost except those that the instruction names."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.language_table import for_language
from stet_ls.engine.judges.text import removed_code
from stet_ls.engine.judges.text.headers import changed_part, is_public, without_space
from stet_ls.engine.prompt.instruction_intent import permits_removal
from stet_ls.validators import structure
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Symbol

_VALUES = frozenset({"variable", "constant", "field", "property", "enum member"})
"""Kinds of symbols that count only if other files can use them or the text still does."""
_FUNCTIONS = frozenset({"function", "method", "constructor"})
_PASSED_OVER = frozenset({"namespace"})
_MOST_NAMED = 3


async def judge(case: Case) -> Evidence:
    """Fails when the file has lost a definition, or code of one, that the instruction does not name."""
    lost = await asyncio.to_thread(_lost, changed_part(case))
    return lost or Evidence(Check.DEFINITIONS, Ruling.PASS, "no definitions removed", trusted=True)


def _lost(case: Case) -> Evidence | None:
    """The evidence for lost code; None if nothing is lost, or the instruction allows it.

    Line-based parsing of a language gives no certainty: the user has to review the result.
    """
    names = [
        name
        for name in removed_names(case.before, case.after, case.language)
        if not permits_removal(case.instruction, name, target="" if case.planned else case.unit)
        and not for_language(case.language).generates(name, case.after)
    ]
    if names:
        detail = f"{_listed(names)} {'is' if len(names) == 1 else 'are'} gone"
        if case.instruction.strip():
            detail += f", and the instruction does not say `remove {_last(names[0])}`"
        return _uncertain(case, detail)
    words = frozenset(re.findall(r"[\w$]+", case.instruction))
    taken = list(removed_code.removed_words(case.before, case.after, case.language, case.path, words))
    if taken:
        more = f", and {len(taken) - 1} more" if len(taken) > 1 else ""
        return _uncertain(case, f"{taken[0]}{more}")
    if case.changeable_units is None:
        return None
    short = removed_code.shortened_definitions(case.before, case.after, case.language, words | case.changeable_units)
    if not short:
        return None
    them = "it" if len(short) == 1 else "them"
    return _uncertain(case, f"{_listed(short)} lost code, and the instruction does not name {them}")


def _uncertain(case: Case, detail: str) -> Evidence:
    sure = structure.is_parsed(case.before, case.language) and structure.is_parsed(case.after, case.language)
    verdict, detail = (Ruling.FAIL, detail) if sure else (Ruling.UNKNOWN, f"{detail}, it seems")
    return Evidence(Check.DEFINITIONS, verdict, detail, trusted=True)


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        return f"{', '.join(shown)} and {len(names) - _MOST_NAMED} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def removed_names(before: Source, after: Source, language: str) -> list[str]:
    """The qualified names that one text defines and the other does not, outermost first.

    A definition that moved within the text, that an import now provides or that became a variable is not lost.
    Locals of functions do not count, nor do constructors that take nothing, nor values that other files cannot reach
    and the new text does not use, nor private functions whose uses in the text are gone, too.
    Of several definitions of one name (overloads, a property's halves) all have to remain.
    """
    if before.data == after.data:
        return []
    old, new = list(_definitions(before, language)), list(_definitions(after, language))
    here = Counter(symbol.qualified for symbol in _distinct(new))
    there = Counter(symbol.qualified for symbol in _distinct(old))
    elsewhere = Counter[str]()
    for name, count in (here - there).items():
        elsewhere[_last(name)] += count
    lost: list[str] = []
    is_implied = for_language(language).is_implied
    for symbol in _distinct(old):
        name = symbol.qualified
        missing = 0 if is_implied(symbol) else there[name] - here[name]
        if missing <= 0 or name in lost or any(name.startswith(f"{holder}.") for holder in lost):
            continue
        if elsewhere[symbol.name] >= missing:
            elsewhere[symbol.name] -= missing
        elif not _imported(symbol.name, before, after, language) and (
            _is_missed(symbol, after, language)
            if symbol.kind in _VALUES
            else not _is_inlined(symbol, before, after, language)
        ):
            lost.append(name)
    return lost


def _definitions(source: Source, language: str) -> Iterator[Symbol]:
    """The symbols of a text that are not local to a function."""
    functions: set[str] = set()
    for symbol in structure.outline(source, language):
        holders = symbol.qualified.split(".")[:-1]
        if symbol.kind in _PASSED_OVER or any(".".join(holders[: n + 1]) in functions for n in range(len(holders))):
            continue
        if symbol.kind in _FUNCTIONS:
            functions.add(symbol.qualified)
        yield symbol


def _distinct(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Each definition once: a declaration and its definition, or two branches with the same head, count as one."""
    return list({(each.qualified, _head(each)): each for each in symbols}.values())


def _head(symbol: Symbol) -> str:
    """What distinguishes overloads: the head of a function or class; the value of a variable does not."""
    return "" if symbol.kind in _VALUES else without_space(re.sub(r"\b\w+::", "", symbol.signature)).rstrip(";")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _imported(name: str, before: Source, after: Source, language: str) -> bool:
    """True if a new import provides the name: it was moved to another file."""
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    old = {before.slice(span) for span in structure.imports(before, language)}
    return any(
        word.search(text) for span in structure.imports(after, language) if (text := after.slice(span)) not in old
    )


def _is_missed(symbol: Symbol, after: Source, language: str) -> bool:
    """True for a value that other files can reach, or that the text still uses."""
    return (
        is_public(symbol, language)
        or re.search(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])", after.text) is not None
    )


def _is_inlined(symbol: Symbol, before: Source, after: Source, language: str) -> bool:
    """True for a function that other files cannot reach, and that only the old text uses."""
    word = re.compile(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])")
    is_function = symbol.kind in _FUNCTIONS and not is_public(symbol, language)
    return is_function and len(word.findall(before.text)) > 1 and word.search(after.text) is None
