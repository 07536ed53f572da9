"""C and C++: clang with the harmless part of a project's flags."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.validators.checkers.tools.c_includes import missing_include
from stet_ls.validators.checkers.tools.compile_commands import flags
from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import broken_by, check


def judge(text: str, path: Path | None = None, language: str = "cpp") -> SyntaxResult:
    return check(Source(text), language, path=path, deadline=30)


def database(folder: Path, *arguments: str, file: str = "a.cpp", **fields: object) -> Path:
    row = {"directory": str(folder), "file": file, "arguments": ["c++", *arguments, file]}
    (folder / "compile_commands.json").write_text(json.dumps([{**row, **fields}]))
    return folder / file


@needs("clang")
class TestClang:
    def test_macros_are_not_errors(self) -> None:
        macros = "#define EXPORT\n#define EACH(a, b) for (auto a : b)\n"
        verdict = judge(macros + "class EXPORT A {};\nvoid f(int (&c)[2]) { EACH(x, c) {} }\n")
        assert (verdict.status, verdict.source) == (Status.OK, "clang")

    def test_decides_on_the_syntax(self) -> None:
        verdict = judge("int f( { return 0; }\n")
        assert (verdict.source, verdict.authoritative, verdict.may_block) == ("clang", True, True)
        assert {(one.line, one.kind) for one in verdict.findings} == {(0, "syntax")}

    def test_without_a_projects_flags_it_advises_on_names(self) -> None:
        verdict = judge("int f() { return missing; }\nMissing<int> g() { return {}; }\n")
        assert (verdict.status, verdict.source) == (Status.ERROR, "clang")
        assert (verdict.authoritative, verdict.may_block) == (False, False)

    @pytest.mark.parametrize("to_device", [False, True], ids=["pipe", "terminal"])
    def test_a_header_that_is_a_pipe_does_not_block(self, tmp_path: Path, to_device: bool) -> None:
        """Also where another header leads to it: clang would wait for as long as it may."""
        (tmp_path / "sub").mkdir()
        (tmp_path / "own.h").write_text('#include "sub/deep.h"\n')
        (tmp_path / "sub" / "deep.h").write_text("# include <trap.h>\n")
        trap = tmp_path / "inc" / "trap.h"
        trap.parent.mkdir()
        trap.symlink_to("/dev/ptmx") if to_device else os.mkfifo(trap)
        path = database(tmp_path, "-I", "inc")
        began = time.monotonic()
        verdict = judge('#include "own.h"\nint x;\n', path)
        assert time.monotonic() - began < 8
        assert verdict.source == "tree-sitter"
        assert missing_include(b'#include "own.h"', path, flags(path) or ()) == trap
        assert missing_include(b'#include "other.h"', path, flags(path) or ()) is None

    def test_with_them_they_are(self, tmp_path: Path) -> None:
        path = database(tmp_path, "-DPRESENT=1")
        assert judge("int f() { return PRESENT; }\n", path).status is Status.OK
        verdict = judge("int f() { return missing; }\n", path)
        assert [(one.message, one.kind) for one in verdict.findings] == [
            ("use of undeclared identifier 'missing'", "semantic")
        ]

    def test_headers_next_to_the_file_and_in_the_flags_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "inc").mkdir()
        (tmp_path / "inc" / "far.h").write_text("int far();\n")
        (tmp_path / "near.h").write_text("int near();\n")
        path = database(tmp_path, "-Iinc")
        verdict = judge('#include "near.h"\n#include <far.h>\nint f() { return near() + far(); }\n', path)
        assert (verdict.status, verdict.source) == (Status.OK, "clang"), verdict.findings

    def test_a_missing_header_leaves_it_to_the_grammar_as_a_hint(self) -> None:
        verdict = judge('#include "missing.h"\nint f( { }\n')
        assert (verdict.source, verdict.may_block) == ("tree-sitter", False)
        assert "compile_commands.json" in verdict.reason

    def test_only_errors_that_were_not_there_count(self, tmp_path: Path) -> None:
        path = database(tmp_path)
        before, moved = judge("int f() { return old; }\n", path), judge("\nint f() { return old; }\n", path)
        worse = judge("int f() { return old + young; }\n", path)
        assert before.status is Status.ERROR
        assert broken_by(before, moved) == ()
        assert [one.message for one in broken_by(before, worse)] == ["use of undeclared identifier 'young'"]

    def test_a_header_may_be_c_or_cpp(self) -> None:
        assert judge("int class;\n", Path("a.h")).status is Status.OK
        assert judge("class A { int a; };\n", Path("a.h")).status is Status.OK
        assert judge("class A { int a };\n", Path("a.h")).status is Status.ERROR

    def test_c(self) -> None:
        assert judge("int class = 1;\n", language="c").status is Status.OK
        assert judge("int a = ;\n", language="c").status is Status.ERROR

    def test_a_bomb_is_given_up(self) -> None:
        levels = "\n".join(f"#define L{n} L{n - 1} L{n - 1} L{n - 1} L{n - 1}" for n in range(1, 40))
        started = time.monotonic()
        verdict = check(Source(f"#define L0 a+\n{levels}\nint x = L39 1;\n"), "cpp", deadline=4)
        assert verdict.source == "tree-sitter"
        assert time.monotonic() - started < 60


class TestFlags:
    def test_only_what_can_do_no_harm(self, tmp_path: Path) -> None:
        path = database(
            tmp_path, "-Iinc", "-I", "more", "-isystem", "/sys", "-DA=1", "-D", "B", "-UC", "-std=c++17",
            "-include", "pre.h", "-pthread", "-fplugin=evil.so", "-load", "evil.so", "-Xclang",
            "-load", "@response", "-o", "a.o", "-c", "-O2", "-Wall", "-B/evil", "-fsanitize=address", "--config=evil",
            "-Wp,-MD,x", "-MF", "x.d", "-wrapper", "sh",
        )  # fmt: skip
        assert flags(path) == (
            "-I", f"{tmp_path}/inc", "-I", f"{tmp_path}/more", "-isystem", "/sys", "-D", "A=1", "-D", "B", "-U", "C",
            "-std=c++17", "-include", f"{tmp_path}/pre.h", "-pthread",
        )  # fmt: skip

    def test_a_command_is_read_as_a_shell_would(self, tmp_path: Path) -> None:
        command = 'c++ \'-DA="b c"\' -I"d e" -c a.cpp'
        path = database(tmp_path, arguments=None, command=command)
        assert flags(path) == ("-D", 'A="b c"', "-I", f"{tmp_path}/d e")

    def test_a_header_takes_the_flags_of_the_file_next_to_it(self, tmp_path: Path) -> None:
        rows = [
            {"directory": str(tmp_path), "file": f"{name}.cpp", "command": f"c++ -D{name[-1].upper()} {name}.cpp"}
            for name in ("one/a", "two/b")
        ]
        (tmp_path / "build").mkdir()
        (tmp_path / "build" / "compile_commands.json").write_text(json.dumps(rows))
        assert flags(tmp_path / "two" / "x.h") == ("-D", "B")
        assert flags(tmp_path / "one" / "a.cpp") == ("-D", "A")

    def test_the_search_ends_at_the_repository(self, tmp_path: Path) -> None:
        database(tmp_path, "-DA")
        (tmp_path / "repository" / ".git").mkdir(parents=True)
        assert flags(tmp_path / "repository" / "a.cpp") is None
        assert flags(tmp_path / "other" / "a.cpp") == ("-D", "A")

    @pytest.mark.parametrize(
        "text", ["", "[", "{}", "[1, null, {}]", '[{"directory": 1, "file": 2}]', "[" * 100_000,
                 '[{"directory": "/", "file": "a.cpp", "command": "c++ \'"}]'],
    )  # fmt: skip
    def test_without_a_database_there_are_no_flags(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "compile_commands.json").write_text(text)
        assert flags(tmp_path / "a.cpp") is None
