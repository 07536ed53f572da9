"""Does everything that was defined stay, with the names, parameters and documentation that callers rely on?"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges import removed_code
from stet_ls.engine.judges.case import Case
from stet_ls.engine.prompt.instruction_intent import released
from stet_ls.validators import structure
from stet_ls.validators.changed_excerpt import excerpts
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Symbol, Unit

_VALUES = frozenset({"variable", "constant", "field", "property", "enum member"})
"""Kinds of symbols that count where others can use them, or the text still does."""
_FUNCTIONS = frozenset({"function", "method", "constructor"})
_PASSED_OVER = frozenset({"namespace"})
_PUBLIC = re.compile(r"\b(?:pub|public|export|exports)\b")
_PRIVATE = re.compile(r"\b(?:private|static)\b|^#")
_MOST_NAMED = 3
_NO_UNIT = "the target is no function or class, so it has no signature"


async def judge(case: Case) -> Evidence:
    """Fails when a definition of the file is gone, the target's header changes in more than white space, or its
    documentation is lost; and when the header of another definition changes that others may call.
    """
    return await asyncio.to_thread(_judge, _excerpt(case))


async def kept(case: Case) -> Evidence:
    """Fails when a definition is gone from the file that the instruction does not name: the judge of any edit."""
    return await asyncio.to_thread(_kept, _excerpt(case))


def _excerpt(case: Case) -> Case:
    """The case with its texts as far as they differ, if they are large."""
    before, after = excerpts(case.before, case.after)
    return replace(case, before=before, after=after)


def _judge(case: Case) -> Evidence:
    lost = _lost(case)
    if lost is not None:
        return lost
    old = _find(structure.units(case.before, case.language), case.unit) if case.unit else None
    new = _find(structure.units(case.after, case.language), case.unit) if case.unit else None
    if old is not None and new is not None:
        if _header(old) != _header(new):
            return _failed(f"the signature changed to `{new.signature}`")
        if old.doc.strip() and not new.doc.strip():
            return _failed(f"the documentation of `{case.unit}` is gone")
    if (changed := next(_changed_headers(case), None)) is not None:
        return _failed(f"the signature of `{changed.qualified}` changed to `{changed.signature}`")
    if old is None:
        return Evidence(Check.SIGNATURE, Ruling.SKIPPED, _NO_UNIT)
    return Evidence(Check.SIGNATURE, Ruling.PASS, "signature kept", trusted=True)


def _kept(case: Case) -> Evidence:
    return _lost(case) or Evidence(Check.SIGNATURE, Ruling.PASS, "all definitions kept", trusted=True)


def _failed(detail: str) -> Evidence:
    return Evidence(Check.SIGNATURE, Ruling.FAIL, detail, trusted=True)


def _lost(case: Case) -> Evidence | None:
    """What is said where something is gone; None where all is there, or the user's words let go of it.

    Of a language that is read line by line nobody can be sure: a person has to look.
    """
    names = [
        name
        for name in gone(case.before, case.after, case.language)
        if not released(case.instruction, name, target="" if case.planned else case.unit)
    ]
    if names:
        told = f"{_listed(names)} {'is' if len(names) == 1 else 'are'} gone"
        if case.instruction.strip():
            told += f", and the instruction does not say `remove {_last(names[0])}`"
        return _uncertain(case, told)
    words = frozenset(re.findall(r"[\w$]+", case.instruction))
    taken = list(removed_code.taken(case.before, case.after, case.language, case.path, words))
    if taken:
        more = f", and {len(taken) - 1} more" if len(taken) > 1 else ""
        return _uncertain(case, f"{taken[0]}{more}")
    if case.adds is None:
        return None
    short = removed_code.shortened(case.before, case.after, case.language, words | case.adds)
    return (
        _uncertain(case, f"{_listed(short)} lost code, and the instruction does not name {_them(short)}")
        if short
        else None
    )


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _uncertain(case: Case, told: str) -> Evidence:
    sure = structure.is_parsed(case.before, case.language) and structure.is_parsed(case.after, case.language)
    return _failed(told) if sure else Evidence(Check.SIGNATURE, Ruling.UNKNOWN, f"{told}, it seems", trusted=True)


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        return f"{', '.join(shown)} and {len(names) - _MOST_NAMED} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def gone(before: Source, after: Source, language: str) -> list[str]:
    """The qualified names of what a text defines and the other does not, outermost first.

    A definition that is found in another place of the text, that an import brings or that became a variable is there.
    What is local to a function is no definition of the file, nor is a value that nobody else can reach and that the
    new text does not use. Of several definitions of one name (overloads, a property's halves) all have to stay.
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
    for symbol in _distinct(old):
        name = symbol.qualified
        missing = there[name] - here[name]
        if missing <= 0 or name in lost or any(name.startswith(f"{holder}.") for holder in lost):
            continue
        if elsewhere[symbol.name] >= missing:
            elsewhere[symbol.name] -= missing
        elif not _imported(symbol.name, before, after, language) and (
            symbol.kind not in _VALUES or _is_missed(symbol, after, language)
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
    """Each definition once: a declaration and its definition, or two branches with the same head, are one."""
    return list({(each.qualified, _head(each)): each for each in symbols}.values())


def _head(symbol: Symbol) -> str:
    """What tells overloads apart: the head of a function or class; the value of a variable does not."""
    return "" if symbol.kind in _VALUES else _bare(re.sub(r"\b\w+::", "", symbol.signature)).rstrip(";")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _imported(name: str, before: Source, after: Source, language: str) -> bool:
    """True if a new import brings the name: it was moved to another file."""
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    old = {before.slice(span) for span in structure.imports(before, language)}
    return any(
        word.search(text) for span in structure.imports(after, language) if (text := after.slice(span)) not in old
    )


def _is_missed(symbol: Symbol, after: Source, language: str) -> bool:
    """True of a value that others can reach, or that the text still uses."""
    return (
        is_public(symbol, language)
        or re.search(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])", after.text) is not None
    )


def is_public(symbol: Symbol | Unit, language: str) -> bool:
    """Whether other files can reach a definition, as its language says it."""
    if symbol.name.startswith(("_", "#")):
        return symbol.name.startswith("__") and symbol.name.endswith("__")
    match language:
        case "python":
            return True
        case "go":
            return symbol.name[:1].isupper()
        case "c" | "cpp":
            return not _PRIVATE.search(symbol.signature)
        case "javascript" | "javascriptreact" | "typescript" | "typescriptreact" if "." in symbol.qualified:
            return not _PRIVATE.search(symbol.signature)
        case _:
            return _PUBLIC.search(symbol.signature) is not None


def _changed_headers(case: Case) -> Iterator[Unit]:
    """The definitions beside the target whose header is another now, though others may call them."""
    old = _by_name(structure.units(case.before, case.language))
    new = _by_name(structure.units(case.after, case.language))
    words = frozenset(re.findall(r"[\w$]+", case.instruction))
    for name, units in old.items():
        if name == case.unit or len(units) != len(new.get(name, ())) or units[0].name in words:
            continue
        holder = next(iter(old.get(name.rpartition(".")[0], ())), None)
        headers = [_header(unit) for unit in units if is_public(unit, case.language)]
        present = [_header(unit) for unit in new[name]]
        if (holder is None or holder.kind == "class") and not set(headers) <= set(present):
            yield next((unit for unit in new[name] if _header(unit) not in headers), new[name][0])


def _by_name(units: tuple[Unit, ...]) -> dict[str, list[Unit]]:
    """The units of each name: several are overloads, the halves of a property, or a type and its `impl`."""
    found: dict[str, list[Unit]] = {}
    for unit in units:
        found.setdefault(unit.qualified, []).append(unit)
    return found


def _find(units: tuple[Unit, ...], name: str) -> Unit | None:
    return next((unit for unit in units if unit.qualified == name), None)


def _header(unit: Unit) -> str:
    return _bare(unit.signature)


def _bare(signature: str) -> str:
    """A signature without white space and trailing commas, which say nothing to a caller."""
    return re.sub(r",(?=[)\]}>])", "", re.sub(r"\s+", "", signature))
