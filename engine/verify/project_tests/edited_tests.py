"""How a change edits tests, read from their texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.verify.changes.change import ChangedFile, is_of_tests
from stet_ls.engine.verify.report import TestResult
from stet_ls.validators import structure
from stet_ls.validators.languages import family, language_of
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit

_ASSERTS = re.compile(
    r"\bassert(?!\s+(?:True|1)\b)|\bexpect\b|\braises\b|\bwarns\b|\bfail\b|\bshould\b|\bt\.(?:Error|Fatal)"
)
"""What makes a test fail, in the languages whose tests run."""
_READS_CODE = r"\bgetsource\w*|\b__code__\b|\bdis\.\w+|\blinecache\b|\b{name}\.toString\(\)|\bString\({name}\)"
"""How a test looks at the text of the code that it names: that says nothing about its results."""


def edits_of(files: Collection[ChangedFile], language: str) -> Mapping[str, str]:
    """How the tests of changed files were edited: "edited", "added" or "removed", by path and by "path::name"."""
    found: dict[str, str] = {}
    for each in files:
        if not is_of_tests(each.path) or each.language not in family(language):
            continue
        old, new = (test_units(each.text(data) or "", each.language) for data in (each.before, each.after))
        for path in {each.path, each.was}:
            found[path] = "edited"
            for name in old.keys() | new.keys():
                if old.get(name) != new.get(name):
                    how = "added" if name not in old else "removed" if name not in new else "edited"
                    found[f"{path}::{name}"] = how
                else:
                    found[f"{path}::{name}"] = "unchanged"
    return found


def edit_of(identifier: str, edits: Mapping[str, str]) -> str:
    """How one test was edited, by its id."""
    path, _, name = identifier.partition("::")
    qualified = name.partition("[")[0].replace("::", ".")
    return edits.get(f"{path}::{qualified}", edits.get(path, "unchanged"))


def with_lines(
    rows: Sequence[TestResult], files: Collection[ChangedFile], texts: Mapping[str, str]
) -> list[TestResult]:
    """The results with the lines of their tests, in the new texts; a test that was removed has none. Parses."""
    known = {**texts, **{each.path: each.text(each.after) or "" for each in files}}
    units: dict[str, list[Unit]] = {}
    found = []
    for row in rows:
        path, _, name = row.id.partition("::")
        source = Source(known.get(path, ""))
        if row.detail and path not in units:
            units[path] = [*structure.units(source, language_of(path))]
        qualified = name.partition("[")[0].replace("::", ".")
        span = next((each.span for each in units.get(path, ()) if each.qualified == qualified), None)
        found.append(replace(row, line=source.line_of(span.start) + 1) if span is not None else row)
    return found


def asserts_nothing(name: str, files: Collection[ChangedFile]) -> bool:
    """Whether tests of a change call a unit that it adds, but none of these tests asserts anything about what it does.

    Such a test passes whatever the unit returns, or only with the unit's very text.
    """
    own = re.escape(name.rpartition(".")[2])
    called, reads = re.compile(rf"\b{own}\b"), re.compile(_READS_CODE.format(name=own))
    calling = [
        text
        for each in files
        if is_of_tests(each.path)
        for text in test_units(each.text(each.after) or "", each.language).values()
        if called.search(text)
    ]
    return bool(calling) and not any(_ASSERTS.search(text) and not reads.search(text) for text in calling)


def test_units(text: str, language: str) -> dict[str, str]:
    """The units of a file of tests, and the tests that are no units, by their qualified names. Parses: not for an event
    loop.
    """
    source = Source(text)
    units = {unit.qualified: source.slice(unit.span) for unit in structure.units(source, language)}
    return {**units, **for_language(language).named_tests(text, language)}
