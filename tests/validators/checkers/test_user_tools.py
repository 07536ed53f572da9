"""Tools that users add: whatever a program does, there is an answer in time and nothing is left behind."""

from __future__ import annotations

import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest

from stet_ls.validators import lint
from stet_ls.validators.checkers.programs import on_path, untrusted_program
from stet_ls.validators.checkers.toolbox import AddedTool, Role, Toolbox
from stet_ls.validators.findings import Severity, Status, SyntaxResult
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import check

PATTERN = r"^(?:[^:]*:)?(?P<line>\d+):(?P<column>\d+): (?:(?P<severity>\w+): )?(?P<message>.+)$"


def tool(code: str, *arguments: str, **fields: object) -> Toolbox:
    """A toolbox with a tool that is a piece of Python."""
    row = AddedTool("mine", "klingon", Role.SYNTAX, (sys.executable, "-c", code, *arguments), PATTERN, deadline=25.0)
    return Toolbox(added=(AddedTool(**{**{n: getattr(row, n) for n in AddedTool.__slots__}, **fields}),))


def judge(tools: Toolbox, text: str = "a\nb ü c\n", path: Path | None = None, deadline: float = 30) -> SyntaxResult:
    return check(Source(text), "klingon", path=path, tools=tools, deadline=deadline)


class TestAnswers:
    def test_lines_by_a_pattern(self) -> None:
        verdict = judge(tool("print('x:2:5: error: no honour'); print('noise')"))
        (finding,) = verdict.findings
        assert (finding.message, finding.line, finding.source, verdict.authoritative) == ("no honour", 1, "mine", True)
        assert finding.span.start == len("a\nb ü ".encode())

    def test_json(self) -> None:
        code = 'print(\'[{"line": 1, "column": 1, "message": "m", "severity": "warning", "code": "K1"}]\')'
        (finding,) = judge(tool(code, pattern="")).findings
        assert (finding.message, finding.severity, finding.code) == ("m", Severity.WARNING, "K1")

    def test_json_lines(self) -> None:
        assert len(judge(tool("print('{\"line\": 1}'); print('{\"line\": 2}')", pattern="")).findings) == 2

    def test_content(self) -> None:
        assert judge(tool("pass")).status is Status.OK

    def test_an_adviser_blocks_nothing(self) -> None:
        verdict = judge(tool("print('1:1: x')", authoritative=False))
        assert (verdict.status, verdict.may_block) == (Status.ERROR, False)

    def test_a_linter(self) -> None:
        tools = tool("print('1:1: style')", role=Role.LINT)
        found = lint.check(Source("a\n"), "klingon", tools=tools, deadline=30)
        assert found is not None
        assert [(one.message, one.kind, one.severity) for one in found] == [("style", "lint", Severity.WARNING)]
        assert judge(tools).status is Status.UNKNOWN, "a linter is no judge of syntax"

    def test_a_linter_runs_with_the_built_in_one(self) -> None:
        tools = tool("print('1:1: mine')", role=Role.LINT, language="python")
        found = lint.check(Source("import os\n"), "python", tools=tools, deadline=30)
        assert {one.source for one in found or ()} == {"mine", "ruff"}

    def test_it_comes_before_the_built_in_one(self) -> None:
        tools = tool("print('1:1: mine')", language="python")
        assert check(Source("a = 1\n"), "python", tools=tools, deadline=30).source == "mine"


class TestPrivateCopy:
    CODE = """
import os, sys
file = sys.argv[1]
print("1:1:", oct(os.stat(os.path.dirname(file)).st_mode)[-3:], file, open(file).read())
"""

    @pytest.mark.parametrize(
        ("name", "copy"),
        [("deed.kl", "deed.kl"), *((name, "text.txt") for name in ("-rf", "a\nb.kl", "ä'\".kl", ".npmrc", "x" * 200))],
    )
    def test_it_has_the_base_name_where_that_is_harmless(self, tmp_path: Path, name: str, copy: str) -> None:
        path = tmp_path / name
        (finding,) = judge(tool(self.CODE, "{file}"), "hello", path).findings
        mode, place, text = finding.message.split(" ", 2)
        assert (mode, Path(place).name, text) == ("700", copy, "hello")
        assert not Path(place).parent.exists(), "it is gone afterwards"
        assert not Path(place).is_relative_to(tmp_path), "it lies outside of the workspace"
        assert list(tmp_path.iterdir()) == []

    def test_equal_questions_are_put_once(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        code = f"open({str(log)!r}, 'a').write('x'); print('1:1: m')"
        tools = tool(code)
        assert judge(tools).findings == judge(tools).findings
        assert log.read_text() == "x"
        judge(tools, "another text")
        assert log.read_text() == "xx"


class TestBadTools:
    """The verdict says why it is unknown, within the deadline."""

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("import time; time.sleep(60)", "no response from mine within 1.0 s"),
            ("import sys\nwhile True: sys.stdout.write('x' * 100000)", "mine wrote too much output"),
            ("import sys\nwhile True: sys.stderr.write('x' * 100000)", "mine wrote too much output"),
            ("import os; os.kill(os.getpid(), 11)", "mine was stopped by SIGSEGV"),
            ("import sys; sys.exit('what?')", "mine failed without a location (exit status 1)"),
            ("import os; os.write(1, os.urandom(5000)); os._exit(3)", "mine failed without a location"),
        ],
    )
    def test_is_reported_with_its_reason(self, code: str, reason: str) -> None:
        started = time.monotonic()
        verdict = judge(tool(code, **({"deadline": 1.0} if "sleep" in code else {})))
        assert verdict.status is Status.UNKNOWN
        assert reason in verdict.reason
        assert time.monotonic() - started < 30

    def test_no_json(self) -> None:
        for output in ("nonsense", "[" * 100_000, "3", '"x"'):
            verdict = judge(tool(f"print({output!r})", pattern=""))
            assert (verdict.status, verdict.reason.startswith("mine wrote no JSON")) == (Status.UNKNOWN, True), output[
                :9
            ]

    def test_wild_places_lie_in_the_text(self) -> None:
        code = "print('0:0: a'); print('99999999999999999999:7: b'); print('1:99999: c')"
        text = "a\nb\n"
        found = judge(tool(code), text).findings
        assert [one.message for one in found] == ["a", "b", "c"]
        assert all(0 <= one.span.start <= one.span.end <= len(text) for one in found)

    def test_missing(self) -> None:
        verdict = judge(Toolbox(added=(AddedTool("gone", "klingon", Role.SYNTAX, ("no-such-tool",), PATTERN),)))
        assert verdict.status is Status.UNKNOWN

    def test_nothing_is_left_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neither a folder nor a child of the child."""
        private, marks = tmp_path / "private", tmp_path / "pid"
        private.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(private))
        code = (
            "import subprocess,sys,time\n"
            f"child = subprocess.Popen(['sleep', '60']); open({str(marks)!r}, 'w').write(str(child.pid))\n"
            "time.sleep(60)"
        )
        judge(tool(code, "{file}", deadline=6.0))
        assert list(private.iterdir()) == []
        assert _ends(int(marks.read_text()))


def _ends(pid: int) -> bool:
    """True once the process is gone or a mere zombie of its init, within seconds."""
    end = time.monotonic() + 50
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


class TestWhereProgramsAreFound:
    def install(self, folder: Path, message: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "klint"
        program.write_text(f"#!/bin/sh\necho '1:1: {message}'\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    ROW = AddedTool("klint", "klingon", Role.SYNTAX, ("klint",), PATTERN)

    def test_on_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.install(tmp_path / "bin", "path")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
        assert [one.message for one in judge(Toolbox(added=(self.ROW,))).findings] == ["path"]

    def test_the_users_choice_comes_first_and_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.install(tmp_path / "bin", "path")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
        chosen = Toolbox(added=(self.ROW,), programs=(("klint", self.install(tmp_path / "mine", "chosen")),))
        assert [one.message for one in judge(chosen).findings] == ["chosen"]
        gone = Toolbox(added=(self.ROW,), programs=(("klint", tmp_path / "gone"),))
        assert judge(gone).status is Status.UNKNOWN

    @pytest.mark.parametrize("entry", ["{project}/node_modules/.bin", "node_modules/.bin", "."])
    def test_not_in_the_project_of_the_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
        """Also where PATH leads there, as direnv and activated environments have it."""
        project = tmp_path / "project"
        (project / ".git").mkdir(parents=True)
        self.install(project / "node_modules" / ".bin", "project")
        self.install(project, "project")
        monkeypatch.chdir(project)
        monkeypatch.setenv("PATH", f"{entry.format(project=project)}:/usr/bin:/bin")
        tools = Toolbox(added=(self.ROW,))
        assert judge(tools, path=project / "src" / "a.kl").status is Status.UNKNOWN
        trusted = Toolbox(added=(self.ROW,), trusted_roots=(project,))
        found = judge(trusted, path=project / "src" / "a.kl").findings
        assert [one.message for one in found] == (["project"] if entry.startswith("{") else [])

    @pytest.mark.parametrize("marked", [True, False], ids=["marked", "unmarked"])
    @pytest.mark.parametrize("text", [None, "a.kl", "../elsewhere/a.kl"])
    def test_not_in_the_project_around_the_working_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marked: bool, text: str | None
    ) -> None:
        """A text from standard input has no place, and neither has what the doctor asks about."""
        project = tmp_path / "project"
        self.install(project / "bin", "project")
        if marked:
            (project / "package.json").touch()
        monkeypatch.chdir(project)
        monkeypatch.setenv("PATH", f"{project / 'bin'}:/usr/bin:/bin")
        path = None if text is None else project / text
        assert judge(Toolbox(added=(self.ROW,)), path=path).status is Status.UNKNOWN
        trusted = Toolbox(added=(self.ROW,), trusted_roots=(project,))
        assert [one.message for one in judge(trusted, path=path).findings] == ["project"]

    def test_a_tool_that_is_not_started_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The doctor says so, also where another program takes its place."""
        theirs, mine = self.install(tmp_path / "project" / "bin", "project"), self.install(tmp_path / "bin", "mine")
        monkeypatch.chdir(tmp_path / "project")
        monkeypatch.setenv("PATH", f"{theirs.parent}:{mine.parent}")
        assert (untrusted_program("klint"), on_path("klint")) == (theirs, mine)
        assert untrusted_program("klint", Toolbox(trusted_roots=(tmp_path / "project",))) is None
        monkeypatch.setenv("PATH", f"{mine.parent}:{theirs.parent}")
        assert (untrusted_program("klint"), untrusted_program("nothing")) == (None, None)

    def test_not_in_another_open_workspace(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.install(tmp_path / "other" / "bin", "other")
        monkeypatch.setenv("PATH", f"{tmp_path / 'other' / 'bin'}:/usr/bin:/bin")
        path = tmp_path / "mine" / "a.kl"
        assert judge(Toolbox(added=(self.ROW,), workspaces=(tmp_path / "other",)), path=path).status is Status.UNKNOWN
        assert judge(Toolbox(added=(self.ROW,)), path=path).findings[0].message == "other"

    @pytest.mark.parametrize("link", ["folder", "program"])
    def test_not_behind_a_link_into_the_project(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
    ) -> None:
        project, outside = tmp_path / "project", tmp_path / "outside"
        program = self.install(project / "bin", "project")
        if link == "folder":
            outside.symlink_to(program.parent)
        else:
            outside.mkdir()
            (outside / "klint").symlink_to(program)
        monkeypatch.setenv("PATH", f"{outside}:/usr/bin:/bin")
        tools = Toolbox(added=(self.ROW,), workspaces=(project,))
        assert judge(tools, path=project / "a.kl").status is Status.UNKNOWN

    def test_a_tools_script_does_not_find_it_either(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`#!/usr/bin/env node` starts the first node on PATH."""
        project, outside = tmp_path / "project", tmp_path / "outside"
        self.install(project / "bin", "project")
        outside.mkdir()
        wrapper = outside / "klint"
        wrapper.write_text('#!/bin/sh\nPATH="$PATH" command -v klint\necho "1:1: $PATH"\n')
        wrapper.chmod(0o755)
        monkeypatch.chdir(project)
        monkeypatch.setenv("PATH", f"{outside}:{project / 'bin'}::.:/usr/bin:/bin")
        found = judge(Toolbox(added=(self.ROW,)), path=None).findings
        assert [one.message for one in found] == [f"{outside}:/usr/bin:/bin"]

    def test_an_honest_program_runs_from_a_home_that_is_a_repository(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Some keep their settings in git; that makes no project of a home."""
        (tmp_path / ".git").mkdir()
        self.install(tmp_path / ".local" / "bin", "mine")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", f"{tmp_path / '.local' / 'bin'}:/usr/bin:/bin")
        for path in (None, tmp_path / "a.kl", tmp_path / ".local" / "bin" / "a.kl", tmp_path / "project" / "a.kl"):
            assert [one.message for one in judge(Toolbox(added=(self.ROW,)), path=path).findings] == ["mine"]
