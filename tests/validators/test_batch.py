"""Texts judged together get the verdicts that they get alone."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from stet_ls.validators import batch, lint, syntax
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.source import Source

ENVIRONMENT = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
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
def texts(tmp_path: Path) -> list[batch.CheckedText]:
    """All of them in two projects of other Python versions, as stubs, and under names that tools trip over."""
    old, new = tmp_path / "old", tmp_path / "old" / "new"
    new.mkdir(parents=True)
    (old / "pyproject.toml").write_text("[project]\nrequires-python = '>=3.8'\n")
    (new / "pyproject.toml").write_text("[tool.ruff]\ntarget-version = 'py313'\nline-length = 150\n")
    places = (old / "a b.py", new / "-c.py", new / "two\nlines.py", old / "stub.pyi", old / "__init__.py", None)
    return [batch.CheckedText(Source(text), "python", place) for place in places for text in ODD.values()]


def test_verdicts_are_those_of_each_text_alone(texts: list[batch.CheckedText]) -> None:
    together = batch.check(texts, deadline=PATIENT)

    for text, verdict in zip(texts, together, strict=True):
        assert verdict == syntax.check(text.source, text.language, path=text.path, deadline=PATIENT), text
    assert {verdict.source for verdict in together} == {"ruff"}, "one that was not ruff's would have proved nothing"


def test_lint_is_that_of_each_text_alone(texts: list[batch.CheckedText]) -> None:
    together = batch.check_lint(texts, deadline=PATIENT)

    for text, findings in zip(texts, together, strict=True):
        assert findings == lint.check(text.source, text.language, path=text.path, deadline=PATIENT), text


def test_the_projects_version_decides(texts: list[batch.CheckedText]) -> None:
    """`def f[T]` is an error in the outer project and none in the inner."""
    mine = [text for text in texts if text.source.text == ODD["version"] and text.path]
    verdicts = batch.check(mine, deadline=PATIENT)

    assert [verdict.status for verdict in verdicts] == ["error", "ok", "ok", "error", "error"]


def counted(tool: str, folder: Path) -> tuple[Toolbox, Path]:
    """The real tool behind a script that writes a line for each start."""
    program, starts, script = shutil.which(tool, path=ENVIRONMENT), folder / "starts", folder / tool
    script.write_text(f'#!/bin/sh\necho >> "{starts}"\nexec "{program}" "$@"\n')
    script.chmod(0o755)
    return Toolbox(programs=((tool, script),)), starts


def test_one_ruff_reads_them_all(texts: list[batch.CheckedText], tmp_path: Path) -> None:
    """Two projects and what has none: three starts for a hundred texts."""
    tools, starts = counted("ruff", tmp_path)
    verdicts = batch.check(texts, deadline=PATIENT, tools=tools)

    assert starts.read_text().count("\n") == 3
    assert verdicts == batch.check(texts, deadline=PATIENT)


JAVA = {
    "clean": "class A { int f() { return 1; } }\n",
    "empty": "",
    "byte order mark": "\ufeffclass A { int f( }\n",
    "windows": "class A {\r\n  int f() { return 1 }\r\n}\r\n",
    "beyond the BMP": 'class A { String s = "😀" + ; }\n',
    "several": "class A {\n  int f( { return 1; }\n  int g() { return ; + }\n",
    "repeated": "final final class A {}\n",
    "other file's name": "public class Elsewhere {}\n",
    "the same class": "class A {}\n",
    "package": "package a.b;\nimport c.d.E;\nclass A extends E {}\n",
    "half a surrogate": "class A { // \ud83d\n",
    "NUL": "class A {\0}\n",
}


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac on this machine")
def test_one_jvm_reads_them_all(tmp_path: Path) -> None:
    """But for a module's declaration, which is left to the grammar."""
    tools, starts = counted("javac", tmp_path)
    texts = [batch.CheckedText(Source(text), "java", Path("A b.java")) for text in JAVA.values()]
    texts.append(batch.CheckedText(Source("module a { requires b; }\n"), "java", Path("module-info.java")))
    together = batch.check(texts, deadline=PATIENT, tools=tools)

    assert starts.read_text().count("\n") == 1
    assert (together[-1].status, together[-1].source) == ("ok", "tree-sitter")
    for text, verdict in zip(texts, together, strict=True):
        assert verdict == syntax.check(text.source, "java", path=text.path, deadline=PATIENT), text
    assert {verdict.source for verdict in together[:-1]} == {"javac"}
    assert {verdict.status for verdict in together} == {"ok", "error"}


def test_other_languages_are_judged_as_ever() -> None:
    texts = [
        batch.CheckedText(Source(text), language, None)
        for language, text in (("python", "x = (\n"), ("toml", "a = [\n"), ("python", "x\n"), ("plaintext", "(\n"))
    ]
    verdicts = batch.check(texts, deadline=PATIENT)

    assert verdicts == [syntax.check(text.source, text.language, deadline=PATIENT) for text in texts]
    assert [verdict.status for verdict in verdicts] == ["error", "error", "ok", "unknown"]


@pytest.mark.parametrize("tools", [Toolbox(disabled=frozenset({"ruff"})), BUILT_IN], ids=["without ruff", "with ruff"])
def test_a_forbidden_tool_is_not_started(tools: Toolbox) -> None:
    texts = [batch.CheckedText(Source("x = (\n"), "python"), batch.CheckedText(Source("y = 1\n"), "python")]
    verdicts = batch.check(texts, deadline=PATIENT, tools=tools)

    assert verdicts == [syntax.check(text.source, "python", deadline=PATIENT, tools=tools) for text in texts]
    assert ("ruff" in {verdict.source for verdict in verdicts}) is (tools is BUILT_IN)
