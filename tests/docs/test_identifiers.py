"""The linter of names refuses a planted one wherever a name can be defined, and the project passes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from identifiers import NAME_RULES, ON_THE_WIRE, problems, refused, words_of
from prose import ROOT

PLANTED = {
    "a function": "def _told(): ...",
    "a class": "class BoxedTask: ...",
    "a parameter": "def run(*, beside): ...",
    "a variable": "nobody = 1",
    "a constant": "MOST_TOLD = 1",
    "a field": "class Task:\n    wants: str",
    "an attribute": "def run(self):\n    self._apart = 1",
    "a loop": "for wish in (): ...",
    "a name of an import": "import json as whence",
    "an error": "try: ...\nexcept OSError as doubt: ...",
    "a pattern": "match 1:\n    case spoken: ...",
    "American spelling": "def colour(): ...",
    "several words": "def goes_on(): ...",
}


@pytest.mark.parametrize("code", PLANTED.values(), ids=PLANTED)
def test_a_planted_name_is_refused(code: str, tmp_path: Path) -> None:
    file = tmp_path / "engine" / "a.py"
    file.parent.mkdir()
    file.write_text(code)

    (line,) = refused(tmp_path, {})

    assert line.startswith("engine/a.py:")
    assert "instead of" in line


def test_a_planted_name_of_javascript_is_refused(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "a.mjs").write_text("const one = 1;\nfunction toldAll() {}\n")

    (line,) = refused(tmp_path, {})

    assert line.startswith("engine/a.mjs:2: `toldAll`")


def test_a_planted_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server" / "landing").mkdir(parents=True)
    (tmp_path / "server" / "landing" / "__init__.py").touch()
    (tmp_path / "server" / "patience.py").touch()

    assert [line.partition("`")[2].partition("`")[0] for line in refused(tmp_path, {})] == ["landing", "patience"]


def test_words_are_split_at_underscores_and_capitals() -> None:
    assert {words_of(name) for name in ("is_told", "isTold", "IsTold", "_IS_TOLD", "IS_told")} == {"is told"}
    assert words_of("HTTPReplyTold2") == "http reply told 2"


def test_longer_words_are_not_refused() -> None:
    assert not [name for name in ("besides", "department", "gravel", "stranger") if problems(name)]


def test_every_word_has_a_proposal() -> None:
    assert all(rule.instead and problems(rule.words.split("|")[0].rstrip("?")) for rule in NAME_RULES)


def test_an_exception_that_excuses_nothing_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, {("engine/a.py", "wants"): "a key"}) == [
        "tests/identifiers.py: `wants` in engine/a.py needs no exception"
    ]


def test_the_project_passes() -> None:
    assert refused(ROOT) == []
    assert all(ON_THE_WIRE.values())
