"""A user's tools at work in the engine, against a scripted model: they judge and format what is offered."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.engine import Bench, applied, code_reply
from support.processes.tools import needs
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.settings.schema import Checks, Settings
from stet_ls.engine.settings.table_schemas import CheckerRow

# Complains about lines with "forbidden", as a checker with a place for each would.
GREP = (
    "import sys\nfor n, line in enumerate(sys.stdin, 1):\n    if 'forbidden' in line: print(f'{n}:3: no such word')\n"
)
ROW = CheckerRow(
    language="ini",
    name="words",
    argv=(sys.executable, "-c", GREP),
    pattern=r"^(?P<line>\d+):(?P<column>\d+): (?P<message>.+)$",
)
INI = "[a]\n$0b = 1$0\nc = 2\n"


async def test_a_checker_of_the_user_blocks_a_bad_edit(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, Settings(checkers=(ROW,), checks=Checks(fix_attempts=0))) as bench:
        scripted.reply(code_reply("b = forbidden", "ini"))
        answer = await bench.run("refactor", INI, language="ini", instruction="change it")
    assert not answer.success
    assert "no such word (words)" in answer.message
    (syntax,) = [one for one in answer.evidence if one.check is Check.SYNTAX]
    assert (syntax.verdict, syntax.trusted) == (Ruling.FAIL, True)


async def test_a_repair_prompt_contains_the_message_of_a_user_checker(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, Settings(checkers=(ROW,))) as bench:
        scripted.reply(code_reply("b = forbidden", "ini"))
        scripted.reply(code_reply("b = 3", "ini"))
        answer = await bench.run("refactor", INI, language="ini", instruction="change it")
    assert applied(answer) == "[a]\nb = 3\nc = 2\n"
    assert "syntax ok (words)" in answer.message
    assert "no such word" in str(scripted.requests[-1])


async def test_an_existing_error_does_not_block_an_edit(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, Settings(checkers=(ROW,))) as bench:
        scripted.reply(code_reply("b = 3", "ini"))
        answer = await bench.run("refactor", INI + "d = forbidden\n", language="ini", instruction="change it")
    assert answer.success, answer.message


async def test_a_disabled_tool_is_not_run(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, Settings(checks=Checks(disabled_tools=("ruff", "ast")))) as bench:
        scripted.reply(code_reply("def f():\n    return unknown"))
        answer = await bench.run("refactor", "def f():\n    $0return 1\n", instruction="change it")
    verdicts = {one.check: (one.verdict, one.detail) for one in answer.evidence}
    assert verdicts[Check.SYNTAX] == (Ruling.PASS, "syntax ok (tree-sitter)")
    assert verdicts[Check.NAMES][0] is Ruling.SKIPPED, "no tool resolved the names, so nothing is claimed of them"


class TestFormatting:
    BEFORE = "import os\n\n\ndef f(x):\n    $0return os.path.join('a', x)\n\n\ndef g():\n    return f('b')\n"
    REPLY = 'import sys\n\ndef f(x):\n    return os.path.join("a"  ,x,sys.argv[0], "a rather long argument")'

    def project(self, folder: Path) -> Path:
        (folder / "pyproject.toml").write_text("[tool.ruff]\nline-length = 50\nformat.quote-style = 'single'\n")
        return folder / "a.py"

    async def offered(self, scripted: ScriptedModel, path: Path, settings: Settings) -> str:
        async with Bench(scripted, settings) as bench:
            scripted.reply(code_reply(self.REPLY))
            answer = await bench.run("refactor", self.BEFORE, path=path, instruction="change it")
            assert answer.success, answer.message
            text = applied(answer)
            assert answer.code in text, "the target's new text is what lands"
            return text

    async def test_an_edit_is_formatted_as_on_save(
        self, scripted: ScriptedModel, stet_home: Path, tmp_path: Path
    ) -> None:
        path = self.project(tmp_path)
        path.write_text(await self.offered(scripted, path, Settings()))
        command = [sys.executable, "-m", "ruff", "format", "--diff", "--no-cache", str(path)]
        saved = subprocess.run(command, capture_output=True, text=True)
        assert (saved.returncode, saved.stdout) == (0, "")
        assert "import os\nimport sys\n" in path.read_text()
        assert path.read_text().endswith("\n\n\ndef g():\n    return f('b')\n")

    async def test_formatting_of_edits_can_be_switched_off(
        self, scripted: ScriptedModel, stet_home: Path, tmp_path: Path
    ) -> None:
        path = self.project(tmp_path)
        text = await self.offered(scripted, path, Settings(checks=Checks(format_edits=False)))
        assert 'os.path.join("a"  ,x,' in text

    @needs("gofmt")
    async def test_an_edit_of_go_is_formatted(self, scripted: ScriptedModel, stet_home: Path, tmp_path: Path) -> None:
        before = "package p\n\nfunc f(a int) int {\n\t$0return a\n}\n"
        async with Bench(scripted, Settings()) as bench:
            scripted.reply(code_reply("func f(a int) int {\n  b:=a+1\n  return b\n}", "go"))
            answer = await bench.run("refactor", before, language="go", path=tmp_path / "a.go", instruction="change it")
        assert applied(answer) == "package p\n\nfunc f(a int) int {\n\tb := a + 1\n\treturn b\n}\n"
        assert "syntax ok (gofmt)" in answer.message

    async def test_new_tests_are_formatted_too(self, scripted: ScriptedModel, stet_home: Path, tmp_path: Path) -> None:
        path = self.project(tmp_path)
        path.write_text(self.BEFORE.replace("$0", ""))
        async with Bench(scripted, Settings()) as bench:
            scripted.reply(code_reply('from a import f\n\n\ndef test_f():\n    assert f("b")   == "a/b"'))
            answer = await bench.run("test", self.BEFORE, path=path)
        assert answer.success, answer.message
        assert answer.tests is not None
        assert "    assert f('b') == 'a/b'\n" in answer.tests
