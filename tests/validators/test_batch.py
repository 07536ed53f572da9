"""Texts judged together get the verdicts that they get alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.validators import batch, lint, syntax
from stet_ls.validators.source import Source
from stet_ls.validators.toolbox import BUILT_IN, Toolbox

PATIENT = 60.0  # seconds; other tests keep the machine busy

ODD = {
    "clean": "x = 1\n",
    "empty": "",
    "no last line end": "import os",
    "byte order mark": "\ufeffx = (\nimport os\n",
    "windows": "import os\r\nx = (\r\n",
    "lone returns": "import os\rdef f(:\r  pass\r",
    "form feed": "x = 1\n\x0c\ndef f(:\n",
    "NUL": "x = 1\0\ny = (\n",
    "half a surrogate": "s = '\ud83d'\nprint(nam, '\udc00'\n",
    "beyond the BMP": "s = '😀'; t = )\n",
    "noqa": "import os  # noqa\nreturn 1  # noqa\n",
    "file without lint": "# ruff: noqa\nimport os\n",
    "not indented": "class A:\ndef f(): pass\n",
    "unclosed": "def f(a, b:\n    return [a\n",
    "compiled only": "def f():\n    break\nreturn 1\n",
    "latest syntax": "type X[T] = list[T]\nmatch x:\n    case 1: pass\nexcept* E: pass\n",
    "version": "def f[T](a: T) -> T:\n    return a\n",
    "long line": f"x = '{'a' * 100}'\n",
    "deep": "(" * 5_000,
    "prose": "Sure! Here's the function you asked for:\n\nIt uses a loop.\n",
}


@pytest.fixture
def texts(tmp_path: Path) -> list[batch.Text]:
    """All of them in two projects of other Python versions, as stubs, and under names that tools trip over."""
    old, new = tmp_path / "old", tmp_path / "old" / "new"
    new.mkdir(parents=True)
    (old / "pyproject.toml").write_text("[project]\nrequires-python = '>=3.8'\n")
    (new / "pyproject.toml").write_text("[tool.ruff]\ntarget-version = 'py313'\nline-length = 150\n")
    places = (old / "a b.py", new / "-c.py", new / "two\nlines.py", old / "stub.pyi", old / "__init__.py", None)
    return [batch.Text(Source(text), "python", place) for place in places for text in ODD.values()]


def test_verdicts_are_those_of_each_text_alone(texts: list[batch.Text]) -> None:
    together = batch.check(texts, deadline=PATIENT)

    for text, verdict in zip(texts, together, strict=True):
        assert verdict == syntax.check(text.source, text.language, path=text.path, deadline=PATIENT), text
    assert {verdict.source for verdict in together} == {"ruff"}, "one that was not ruff's would have proved nothing"


def test_lint_is_that_of_each_text_alone(texts: list[batch.Text]) -> None:
    together = batch.check_lint(texts, deadline=PATIENT)

    for text, findings in zip(texts, together, strict=True):
        assert findings == lint.check(text.source, text.language, path=text.path, deadline=PATIENT), text


def test_the_projects_version_decides(texts: list[batch.Text]) -> None:
    """`def f[T]` is an error in the outer project and none in the inner."""
    mine = [text for text in texts if text.source.text == ODD["version"] and text.path]
    verdicts = batch.check(mine, deadline=PATIENT)

    assert [verdict.status for verdict in verdicts] == ["error", "ok", "ok", "error", "error"]


def test_one_ruff_reads_them_all(texts: list[batch.Text], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two projects and what has none: three processes for a hundred texts, and one grammar for what is broken."""
    started: list[str] = []
    run = batch.run_tool

    def counted(argv: list[str], **options: object) -> object:
        started.append(argv[0])
        return run(argv, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "run_tool", counted)
    batch.check(texts, deadline=PATIENT)
    assert len(started) == 3


def test_other_languages_are_judged_as_ever() -> None:
    texts = [
        batch.Text(Source(text), language, None)
        for language, text in (("python", "x = (\n"), ("toml", "a = [\n"), ("python", "x\n"), ("plaintext", "(\n"))
    ]
    verdicts = batch.check(texts, deadline=PATIENT)

    assert verdicts == [syntax.check(text.source, text.language, deadline=PATIENT) for text in texts]
    assert [verdict.status for verdict in verdicts] == ["error", "error", "ok", "unknown"]


@pytest.mark.parametrize("tools", [Toolbox(disabled=frozenset({"ruff"})), BUILT_IN], ids=["without ruff", "with ruff"])
def test_what_may_not_be_started_is_not(tools: Toolbox) -> None:
    texts = [batch.Text(Source("x = (\n"), "python"), batch.Text(Source("y = 1\n"), "python")]
    verdicts = batch.check(texts, deadline=PATIENT, tools=tools)

    assert verdicts == [syntax.check(text.source, "python", deadline=PATIENT, tools=tools) for text in texts]
    assert ("ruff" in {verdict.source for verdict in verdicts}) is (tools is BUILT_IN)
