"""What a linter adds to the syntax: for Python ruff, alone with two values of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.validators import lint
from stet_ls.validators.checkers.tools.ruff import project_options
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source


def codes(text: str, path: Path | None = None) -> set[str]:
    findings = lint.check(Source(text), "python", path=path, deadline=20)
    assert findings is not None
    return {finding.code for finding in findings}


def test_names_style_bugs_and_complexity() -> None:
    text = "import os\n\ndef f(a=[]):\n    return undefined\n\ndef g(x):\n" + "".join(
        f"    if x == {n}:\n        return {n}\n" for n in range(12)
    )
    assert {"F401", "F821", "B006", "C901", "E302"} - codes(text) <= {"E302"}


def test_places_kinds_and_suggestions() -> None:
    source = Source("é = 'ß'; import os\nprint(undefined)\n")
    findings = {one.code: one for one in lint.check(source, "python", deadline=20) or ()}
    name, unused = findings["F821"], findings["F401"]
    assert (source.slice(name.span), name.kind, name.severity, name.line) == (
        "undefined",
        "semantic",
        Severity.ERROR,
        1,
    )
    assert (source.slice(unused.span), unused.kind, unused.severity) == ("os", "lint", Severity.WARNING)
    assert unused.suggestions == ("Remove unused import: `os`",)


def test_a_text_that_does_not_parse_has_no_syntax_in_its_lint() -> None:
    findings = lint.check(Source("import os\ndef f(:\n"), "python", deadline=20)
    assert findings is not None
    assert all(one.kind != "syntax" and one.code not in ("", "invalid-syntax") for one in findings)


@pytest.mark.parametrize("language", ["shellscript", "markdown", "klingon"])
def test_other_languages_have_no_linter(language: str) -> None:
    assert lint.check(Source("x"), language) is None


def test_a_late_answer_is_dropped() -> None:
    assert lint.check(Source("x = 1\n"), "python", deadline=0.0) is None


def test_the_projects_line_length_and_version_count(tmp_path: Path) -> None:
    path = tmp_path / "package" / "a.py"
    text = "x = '" + "y" * 100 + "'\n"
    assert "E501" in codes(text, path)
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\ntarget-version = 'py312'\n")
    assert "E501" not in codes(text, path)
    assert project_options(path) == ("--line-length", "120", "--target-version", "py312")


def test_nothing_else_of_the_project_counts(tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text("lint.ignore = ['F401']\nexclude = ['*']\n")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.ruff]\nextend = '/etc/passwd'\nexclude = ['*']\nlint.ignore = ['F401']\n"
    )
    assert "F401" in codes("import os\n", tmp_path / "a.py")


@pytest.mark.parametrize(
    ("manifest", "options"),
    [
        ("", ()),
        ("[project]\nrequires-python = '>=3.11'\n", ("--target-version", "py311")),
        ("[project]\nrequires-python = '<4, >= 3.9.2'\n", ("--target-version", "py39")),
        ("[project]\nrequires-python = '<4'\n", ()),
        ("[tool.ruff]\ntarget-version = '--fix'\nline-length = 'x'\n", ()),
        ("[tool.ruff]\nline-length = 100000\n", ()),
        ("tool = 3\nproject = []\n", ()),
        ("not toml at all [", ()),
    ],
)
def test_a_manifest_is_only_data(tmp_path: Path, manifest: str, options: tuple[str, ...]) -> None:
    (tmp_path / "pyproject.toml").write_text(manifest)
    assert project_options(tmp_path / "a.py") == options
