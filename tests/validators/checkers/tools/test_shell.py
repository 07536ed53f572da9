"""Shell scripts, read by bash."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import check

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not on PATH")


def judge(text: str, path: Path | None = None) -> SyntaxResult:
    return check(Source(text), "shellscript", path=path, deadline=30)


@pytest.mark.parametrize(
    ("text", "line"),
    [("echo a\nif true; then\n  echo\n", 3), ("f() {\n  echo )\n}\n", 1), ("case a in\n  b) c;;\nfi\n", 2)],
)
def test_bash_decides(text: str, line: int) -> None:
    verdict = judge(text)
    assert (verdict.status, verdict.source, verdict.authoritative) == (Status.ERROR, "bash", True)
    assert line in [one.line for one in verdict.findings if one.source == "bash"]


def test_whole_scripts_are_whole() -> None:
    verdict = judge('#!/usr/bin/env bash\nfor a in "$@"; do [[ $a =~ ^x ]] && echo "${a%%.*}" <<< b; done\n')
    assert (verdict.status, verdict.source) == (Status.OK, "bash")


def test_extended_patterns_are_supported() -> None:
    assert judge("shopt -s extglob\nrm !(a|b).txt\n").status is Status.OK


def test_a_broken_condition_is_reported() -> None:
    """Bash tells that and leaves with 0."""
    assert judge('if [[ "$1" == a ]; then\n  echo\nfi\n').status is Status.ERROR


def test_nothing_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    judge(f"touch {mark}\n$(touch {mark})\n")
    assert not mark.exists()


@pytest.mark.parametrize(("text", "name"), [("#!/bin/zsh\nrepeat 3 echo\n", "a.sh"), ("echo\n", "a.ksh")])
def test_other_shells_are_not_its_business(text: str, name: str) -> None:
    assert judge(text, Path(name)).source == "tree-sitter"
