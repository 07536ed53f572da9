"""The tables of sources of inputs: each row is complete, is used, and does what it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import CAPTURED, UNSURE
from stet_ls.engine.execution.inputs.sources import (
    FIRST_TRUST,
    Calls,
    ComparedUnit,
    FirstSource,
    FurtherSource,
    Need,
    Sources,
    Trust,
    first_calls,
    further,
)
from stet_ls.engine.execution.javascript.inputs.sources import SOURCES as JAVASCRIPT
from stet_ls.engine.execution.python.inputs.sources import SOURCES as PYTHON

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
TABLES = {"python": PYTHON, "javascript": JAVASCRIPT}
SAMPLES = {
    "python": {
        "written and drawn": "def f(n):\n    return n + 1\n",
        "edge cases": "def f(name):\n    return name.upper()\n",
        "looked-up values": "def f(table, key):\n    return table.get(key) == 'yes'\n",
        "nested values": "def f(rows):\n    return [f(row) if isinstance(row, list) else 0 for row in rows]\n",
        "fitting kinds": "def f(one, other):\n    return one[0] == other[0]\n",
        "sizes": "def f(rows):\n    return rows[:500]\n",
        "equal items": "def f(rows: list[tuple[str, int]]):\n    return sorted(rows)\n",
        "documentation": 'def f(rows: list[int]):\n    """Rows are sorted."""\n    return rows\n',
        "uses of results": "def f(n):\n    def g(x):\n        return x + n\n    return g\n",
        "files": "def f(path):\n    return open(path).read()\n",
        "databases": 'def f(db, n):\n    return db.execute("SELECT a FROM t WHERE b = ?", (n,)).fetchall()\n',
        "captured": "def f(n):\n    return n\n",
        "secrets": f"def f(name):\n    return name == '{TOKEN}'\n",
        "repeats": "def f(n):\n    return [n]\n",
        "first values": "def f(rows):\n    for row in rows:\n        yield row\n",
        "iterators": "from collections.abc import Iterable\n\ndef f(rows: Iterable[int]):\n    return list(rows)\n",
        "neighbor calls": "SEEN = []\n\ndef f(n: int):\n    SEEN.append(n)\n    return len(SEEN)\n",
    },
    "javascript": {
        "written and drawn": "export function f(n) { return n + 1; }\n",
        "depth": "export function f(rows) { return rows.length ? 1 + f(rows.slice(1)) : 0; }\n",
        "documentation": "/** n is between 3 and 9.\n * @param {number} n */\nexport function f(n) { return n; }\n",
        "captured": "export function f(n) { return n; }\n",
        "secrets": f"export function f(name) {{ return name === '{TOKEN}'; }}\n",
        "repeats": "export function f(n) { return [n]; }\n",
    },
}
"""For each first source, a text of a unit `f` whose inputs it changes."""
BEFORE = {"depth": "export function f(rows) { return rows.length; }\n"}
"""The old texts of those whose new text decides."""
CAPTURED_CALLS = {
    "python": (Call("n = 41", "__out__(f(n))", ("n",), CAPTURED),),
    "javascript": (Call("const n = 41;", "__out__(f(n))", ("n",), CAPTURED, "console.log"),),
}


def rows() -> Iterator[tuple[str, FirstSource]]:
    """Each first source, with its language."""
    for language, sources in TABLES.items():
        yield from ((language, each) for each in sources if isinstance(each, FirstSource))


def unit_of(language: str, name: str) -> ComparedUnit:
    text = SAMPLES[language][name]
    captured = CAPTURED_CALLS[language] if name == "captured" else ()
    return ComparedUnit((BEFORE.get(name, text), text), "f", language, captured=captured)


def before_and_after(language: str, source: FirstSource) -> tuple[Calls, Calls]:
    """The calls that a source gets for its sample, and its answer."""
    sources, unit = TABLES[language], unit_of(language, source.name)
    above = first_calls(sources[: sources.index(source)], unit)
    return above, source.extend(above, unit)


@pytest.mark.parametrize("sources", TABLES.values(), ids=TABLES)
def test_each_row_says_what_a_reader_is_shown(sources: Sources) -> None:
    assert len({each.name for each in sources}) == len(sources)
    assert all(each.name and each.gives and each.most >= 0 for each in sources)
    first = [each for each in sources if isinstance(each, FirstSource)]
    assert sources == (*first, *further(sources)), "the first ones come first"
    assert all(each.trust in FIRST_TRUST for each in first)
    assert all(each.trust not in FIRST_TRUST for each in further(sources))


def test_each_need_and_trust_is_that_of_a_row() -> None:
    every = [each for sources in TABLES.values() for each in sources]
    assert {each.trust for each in every} == {*Trust}
    assert {each.need for each in every if isinstance(each, FurtherSource)} == {*Need}
    assert {each.for_observed for each in every if isinstance(each, FirstSource)} == {True, False}
    assert {each.is_timed for each in every if isinstance(each, FurtherSource)} == {True, False}


@pytest.mark.parametrize("language", TABLES)
def test_each_first_source_has_a_sample(language: str) -> None:
    assert list(SAMPLES[language]) == [source.name for name, source in rows() if name == language]


@pytest.mark.parametrize(("language", "source"), list(rows()), ids=lambda each: getattr(each, "name", each))
def test_each_first_source_is_used_and_keeps_what_it_says(language: str, source: FirstSource) -> None:
    above, calls = before_and_after(language, source)
    own = [call for call in calls if call not in set(above)]
    assert calls != above, "it changes nothing"
    assert not source.most or 0 < len(own) <= source.most
    origins = {call.origin for call in own}
    if source.trust is Trust.MEANT:
        assert origins == {CAPTURED}
    if source.trust is Trust.GUESSED:
        assert origins <= UNSURE
    if source.trust is Trust.AS_BEFORE:
        assert origins <= {*(call.origin for call in above), "grown", "near an example", *UNSURE}


@pytest.mark.parametrize("language", TABLES)
def test_a_table_makes_the_same_calls_each_time(language: str) -> None:
    unit = unit_of(language, "repeats")
    assert first_calls(TABLES[language], unit) == first_calls(TABLES[language], unit) != ()


@pytest.mark.parametrize("language", TABLES)
def test_what_is_not_there_has_no_calls(language: str) -> None:
    unit = unit_of(language, "repeats")
    assert first_calls(TABLES[language], ComparedUnit(unit.texts, "g", language)) == ()
