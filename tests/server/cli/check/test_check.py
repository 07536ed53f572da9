"""`stet check`: findings for people and for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from support.processes.command import Stet
from support.processes.stet import stet_argv


def test_a_clean_file_prints_nothing(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")

    ran = stet("check", "a.py")

    assert (ran.status, ran.out, ran.err) == (0, "", "")


def test_columns_count_code_points_from_one(stet: Stet, folder: Path) -> None:
    """A column in bytes or UTF-16 units would be 13 or 11."""
    (folder / "a.py").write_text('x = "é😀" + )\n')

    ran = stet("check", "a.py", "--json")

    report = json.loads(ran.out)
    (file,) = report["files"]
    finding = file["findings"][0]
    assert ran.status == 1
    assert (file["path"], file["language"], file["verdict"], file["authoritative"]) == ("a.py", "python", "error", True)
    assert (finding["line"], finding["column"]) == (1, 12)
    assert (finding["severity"], finding["kind"]) == ("error", "syntax")
    assert set(finding) == {
        "line", "column", "end_line", "end_column", "severity", "kind", "code", "message", "source", "suggestions",
    }  # fmt: skip
    assert report["seconds"] > 0


def test_lint_runs_only_when_requested_and_a_warning_is_not_an_error(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("import os\n")

    assert stet("check", "a.py").out == ""
    ran = stet("check", "--lint", "a.py")

    assert ran.status == 0
    assert ran.out == "a.py:1:8: warning: `os` imported but unused [ruff F401]\n"


def test_an_undefined_name_is_a_lint_error(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("print(nam)\n")

    ran = stet("check", "--lint", "a.py")

    assert ran.status == 1
    assert ran.out == "a.py:1:7: error: Undefined name `nam` [ruff F821]\n"


def test_a_folder_is_walked_without_generated_files(stet: Stet, folder: Path) -> None:
    for name in ("src/a.py", "src/b.js", "node_modules/c.js", ".git/d.py", "src/__pycache__/e.py", "notes"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("(\n")
    (folder / "src" / "f.py").write_bytes(b"\0\xff")

    ran = stet("check", ".", "--json")

    assert [file["path"] for file in json.loads(ran.out)["files"]] == ["src/a.py", "src/b.js"]
    assert ran.status == 1
    assert ran.err == "warning: src/f.py is a binary file\n"


def test_an_unreadable_file_is_reported_and_the_rest_is_checked(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("(\n")
    (folder / "b.py").write_bytes(b"\0")

    ran = stet("check", "nothing.py", "b.py", "a.py")

    assert ran.status == 2
    assert ran.out.startswith("a.py:1:1: error: ")
    assert ran.err == "error: nothing.py does not exist\nerror: b.py is a binary file\n"


def test_a_grammar_that_reads_no_macros_says_so(stet: Stet, folder: Path) -> None:
    (folder / "a.c").write_text("int f(int a) {\n#ifdef X\n  if (a) return 1;\n  else\n#endif\n  return 2;\n}\n")

    ran = stet("check", "a.c", PATH=str(folder))  # without a compiler

    assert ran.status == 0, "such a grammar alone makes no commit fail"
    assert ": warning: " in ran.out
    assert ran.err == "warning: a.c: findings are warnings only: valid code can be beyond this language's grammar\n"


def test_a_language_without_grammar_is_reported_as_unchecked(stet: Stet, folder: Path) -> None:
    (folder / "a.txt").write_text("(\n")

    ran = stet("check", "a.txt", "--json")

    assert ran.status == 0
    assert json.loads(ran.out)["files"][0]["verdict"] == "unknown"
    assert stet("check", "a.txt").err == (
        "warning: a.txt: not parsed: no grammar for Plain text; set the language with `--language NAME`\n"
    )


def test_checking_a_clean_file_imports_few_modules(folder: Path, environment: Mapping[str, str]) -> None:
    """What a check imports before it is needed is time that every commit pays."""
    (folder / "a.py").write_text("x = 1\n")
    argv = [sys.executable, "-X", "importtime", *stet_argv("check", "a.py")[1:]]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "stet_ls.validators.syntax" in imported
    late = {"pydantic", "rich", "tree_sitter", "multiprocessing", "pygls", "stet_ls.validators.syntax.messages"}
    assert not imported & late
