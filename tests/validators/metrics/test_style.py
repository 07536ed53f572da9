"""The share of lines that keeps the style, recounted from what ruff prints for people."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.findings import Severity
from stet_ls.validators.metrics import pep8, style
from stet_ls.validators.source import Source, Span

STDLIB = Path(sysconfig.get_path("stdlib"))
UGLY = """\
import os
def F( a,b ):
    '''Doc.'''
    x=a+ b
    return eval(x)${BLANKS}


class thing:
    def public(self):
        assert self
        return 1
""".replace("${BLANKS}", "   ")


def reviewed(text: str, path: Path | None = None, span: Span | None = None) -> pep8.Pep8:
    source = Source(text)
    found = pep8.review(source, span or source.whole, path=path, deadline=20)
    assert found is not None
    return found


@pytest.mark.parametrize("module", ["shlex", "subprocess", "tarfile", "typing"])
def test_the_share_is_the_lines_that_ruff_names(module: str) -> None:
    file = STDLIB / f"{module}.py"
    argv = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--preview", "--select", "E,W,N"]
    argv += ["--ignore", "E9,E226,E24", "--line-length", "79", "--output-format", "concise", str(file)]
    printed = subprocess.run(argv, capture_output=True, text=True).stdout
    rows = {int(row) for row in re.findall(r"^[^\n:]+:(\d+):\d+: ", printed, re.MULTILINE)}
    found = reviewed(file.read_text("utf-8")).style
    assert found.lines == len(file.read_text("utf-8").splitlines())
    assert found.lines - found.clean == len(rows) > 0
    assert found.share == pytest.approx(1 - len(rows) / found.lines)


def test_what_a_review_of_an_ugly_text_says() -> None:
    found = reviewed(UGLY)
    rules = {rule.code: (rule.count, rule.line + 1) for rule in found.style.rules}
    assert {"E302", "E201", "E225", "W291", "N801", "N802"} <= set(rules)
    assert rules["N801"] == (1, 8)
    assert (found.style.lines, found.style.clean) == (11, 7)
    assert found.style.tool == "ruff E, W and N, lines up to 79"
    assert [line + 1 for line in found.undocumented] == [1, 8, 9]
    ((code, severity),) = [(finding.code, finding.severity) for finding in found.security]
    assert (code, severity) == ("S307", Severity.WARNING), "asserts are not told"


def test_the_projects_line_length_applies(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    text = f"NAME = '{'a' * 90}'\n"
    assert reviewed(text).style.share == 0
    found = reviewed(text, tmp_path / "a.py").style
    assert (found.share, found.tool) == (1, "ruff E, W and N, lines up to 120")


def test_only_the_lines_of_the_span_count() -> None:
    at = UGLY.index("class")
    found = reviewed(UGLY, span=Span(at, len(UGLY) - 1)).style
    assert (found.lines, found.clean) == (4, 3)


@pytest.mark.parametrize("text", ["def f(:\n", "\0", "x = \udc80'\n"])
def test_unparsable_text_has_no_style(text: str) -> None:
    source = Source(text)
    assert pep8.review(source, source.whole, deadline=20) is None


def test_an_empty_text_keeps_every_style() -> None:
    assert reviewed("").style.share == 1


def test_a_linter_of_another_language_counts_the_lines_it_left_alone() -> None:
    text = "export function f(a) {\n  debugger;\n  if (a = 1) { return a; }\n  return a;\n}\n"
    source = Source(text)
    found = style.tool_style(source, "javascript", source.whole, deadline=20)
    if found is None:
        pytest.skip("neither oxlint nor biome is installed")
    assert (found.lines, found.clean) == (5, 3)
    assert {rule.line + 1 for rule in found.rules} == {2, 3}


def test_a_formatter_counts_where_there_is_no_linter() -> None:
    if shutil.which("gofmt") is None:
        pytest.skip("gofmt is not installed")
    source = Source("package a\n\nfunc F(a int)  int {\n  return a\n}\n")
    found = style.tool_style(source, "go", source.whole, deadline=20)
    assert found is not None
    assert (found.tool, found.lines, found.clean) == ("lines as gofmt writes them", 5, 3)
    part = style.tool_style(source, "go", Span(0, 9), deadline=20)
    assert part is not None
    assert part.share == 1


def test_counting_paths_alone_is_not_style() -> None:
    """lizard answers for Kotlin, and knows nothing of its style."""
    source = Source("fun f(): Int { return 1 }\n")
    assert style.tool_style(source, "kotlin", source.whole, deadline=20, tools=Toolbox()) is None
    everything_off = Toolbox(disabled=frozenset({"oxlint", "biome", "prettier"}))
    assert style.tool_style(Source("x"), "javascript", Span(0, 1), tools=everything_off) is None


def test_a_rule_is_reported_with_its_first_line() -> None:
    found = style.style_of([("no-var", 3, "later"), ("no-var", 1, "x"), ("other", 1, "y")], range(4), "oxlint")
    assert (found.lines, found.clean, found.tool) == (4, 2, "oxlint")
    assert found.rules == (style.BrokenRule("no-var", 2, 1, "x"), style.BrokenRule("other", 1, 1, "y"))
