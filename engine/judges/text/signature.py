"""Checks that every definition keeps the name, parameters and documentation that its callers rely on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.language_table import for_language
from stet_ls.engine.judges.text.headers import as_called, changed_part, is_called_alike, is_public, without_space
from stet_ls.validators import structure
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit

_SHARED = re.compile(r"=(?:\[\]|\{\}|(?:list|dict|set)\(\))(?=[,)])")
"""A default of Python's that a call can change for all later ones."""
_PROMISES, _ASYNC = re.compile(r"\.then\(|\bPromise\b"), re.compile(r"\basync\b\s*")
_NO_UNIT = "the target has no signature: it is not a function or class"
_GONE = "the target is not there after the edit, so its signature is not compared"


async def judge(case: Case) -> Evidence:
    """Fails if the target's header changes in more than white space, its documentation is lost, or another definition's
    header changes that others may call. Removed definitions are reported by `definitions`.
    """
    return await asyncio.to_thread(_judge, changed_part(case))


def _judge(case: Case) -> Evidence:
    old = _find(structure.units(case.before, case.language), case.unit) if case.unit else None
    new = _find(structure.units(case.after, case.language), case.unit) if case.unit else None
    if old is not None and new is not None:
        if _header(old, case.before, case.language) != _header(new, case.after, case.language) and not (
            _is_unshared(case, old, new)
            or _only_adds_hints(case, old, new)
            or _is_still_awaited(case, old, new)
            or _is_called_alike(case, old, new)
        ):
            return _failed(f"the signature changed to `{new.signature}`")
        if old.doc.strip() and not new.doc.strip():
            return _failed(f"the documentation of `{case.unit}` is gone")
    if (changed := next(_changed_headers(case), None)) is not None:
        return _failed(f"the signature of `{changed.qualified}` changed to `{changed.signature}`")
    if old is None or new is None:
        return Evidence(Check.SIGNATURE, Ruling.SKIPPED, _NO_UNIT if old is None else _GONE)
    return Evidence(Check.SIGNATURE, Ruling.PASS, "signature kept", trusted=True)


def _is_unshared(case: Case, old: Unit, new: Unit) -> bool:
    """Whether a fix puts None in place of a default that all calls share, and changes nothing else of a header."""
    return case.spec.fixes and _SHARED.sub("=None", _header(old, case.before, case.language)) == _header(
        new, case.after, case.language
    )


def _only_adds_hints(case: Case, old: Unit, new: Unit) -> bool:
    """Whether a header that had no type hints has some now that no decorator reads, as one of a web API does."""
    row = for_language(case.language)
    if row.untyped is None or (row.marks is not None and row.marks.search(case.before.slice(old.span))):
        return False
    header = row.untyped(old.signature)
    return (
        header is not None
        and without_space(header) == without_space(f"{old.signature.rstrip(':')}: pass")
        and header == row.untyped(new.signature)
    )


def _is_still_awaited(case: Case, old: Unit, new: Unit) -> bool:
    """Whether a function that made promises is declared `async` now: callers get a promise as before."""
    if not for_language(case.language).calls_by_position or not _PROMISES.search(case.before.slice(old.span)):
        return False
    return _header(old, case.before, case.language) == as_called(_ASYNC.sub("", new.signature), case.language)


def _is_called_alike(case: Case, old: Unit, new: Unit) -> bool:
    """Whether all that changed is that optional parameters have a default, or that one is taken apart, where calls go
    by position.
    """
    if not for_language(case.language).calls_by_position:
        return False
    headers = [as_called(unit.signature, case.language, keeps_defaults=True) for unit in (old, new)]
    return headers[0] == headers[1] or is_called_alike(*headers)


def _failed(detail: str) -> Evidence:
    return Evidence(Check.SIGNATURE, Ruling.FAIL, detail, trusted=True)


def _changed_headers(case: Case) -> Iterator[Unit]:
    """The definitions other than the target whose header changed although others may call them."""
    old = _by_name(structure.units(case.before, case.language))
    new = _by_name(structure.units(case.after, case.language))
    words = frozenset(re.findall(r"[\w$]+", case.instruction))
    for name, units in old.items():
        if name == case.unit or len(units) != len(new.get(name, ())) or units[0].name in words:
            continue
        holder = next(iter(old.get(name.rpartition(".")[0], ())), None)
        headers = [_header(unit, case.before, case.language) for unit in units if is_public(unit, case.language)]
        present = [_header(unit, case.after, case.language) for unit in new[name]]
        if (holder is None or holder.kind == "class") and not set(headers) <= set(present):
            yield next(
                (unit for unit in new[name] if _header(unit, case.after, case.language) not in headers), new[name][0]
            )


def _by_name(units: tuple[Unit, ...]) -> dict[str, list[Unit]]:
    """The units of each name: several are overloads, the halves of a property, or a type and its `impl`."""
    found: dict[str, list[Unit]] = {}
    for unit in units:
        found.setdefault(unit.qualified, []).append(unit)
    return found


def _find(units: tuple[Unit, ...], name: str) -> Unit | None:
    return next((unit for unit in units if unit.qualified == name), None)


def _header(unit: Unit, source: Source, language: str) -> str:
    return as_called(for_language(language).one_spelling(unit.signature, source.text), language)
