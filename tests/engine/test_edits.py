"""What the edits of a whole job keep, replace and remove, in which file."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply
from support.projects.sign import SHORT, SIGN
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import UsageError


async def test_a_comment_replaced_by_code_is_part_of_the_change(bench: Bench, scripted: ScriptedModel) -> None:
    text = "x = 1\n\n\n# stet: a function that doubles a number$0\n"
    scripted.reply(code_reply("def double(number):\n    return 2 * number"))
    answer = await bench.run("generate", text)
    assert answer.message.startswith("Generated `double` · ")
    assert applied(answer) == "x = 1\n\n\ndef double(number):\n    return 2 * number\n"
    assert answer.guard is not None
    assert all(answer.guard.contains(edit.span) for edit in answer.edits)


DOCUMENTED = 'def sign(x):\n    """Its sign."""\n    if x > 0:\n        return 1\n    $0return -1\n'


async def test_a_docstring_omitted_by_the_reply_is_kept(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply(SHORT))
    answer = await bench.run("refactor", DOCUMENTED)
    assert (answer.success, answer.refuted) == (True, False)
    assert applied(answer).startswith('def sign(x):\n    """Its sign."""\n    return')


async def test_a_docstring_is_removed_if_the_instruction_says_so(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(SHORT))
    answer = await bench.run("refactor", DOCUMENTED, instruction="drop the docstring")
    assert '"""' not in answer.code


async def test_generate_without_an_instruction_says_how_to_give_one(bench: Bench, scripted: ScriptedModel) -> None:
    with pytest.raises(UsageError, match="# stet: "):
        await bench.run("generate", "x = 1\n$0\ny = 2\n")
    huge = "".join(f"def part_{number}(x):\n    return x + {number}\n" for number in range(2000))
    with pytest.raises(UsageError, match="# stet: "):
        await bench.run("generate", huge)
    assert scripted.requests == []


async def test_a_comment_is_replaced_by_what_it_asked_for(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply("def double(x):\n    return 2 * x"))
    after = await bench.text_after("generate", "import os\n\n# stet: a function that doubles$0\n")
    assert "stet:" not in after
    assert "def double(x):\n    return 2 * x\n" in after
    assert "a function that doubles" in scripted.requests[0].prompt


async def test_crlf_and_tabs_are_kept(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(
        code_reply("function f(x) {\n    if (x) {\n        return 2;\n    }\n    return 3;\n}", "javascript")
    )
    before = "// a\r\nfunction f(x) {\r\n\t$0return 1;\r\n}\r\nf(1);\r\n"
    after = await bench.text_after("refactor", before, language="javascript")
    body = "function f(x) {\r\n\tif (x) {\r\n\t\treturn 2;\r\n\t}\r\n\treturn 3;\r\n}"
    assert after == f"// a\r\n{body}\r\nf(1);\r\n"


async def test_tests_go_where_the_project_keeps_them(bench: Bench, scripted: ScriptedModel, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    source = tmp_path / "signs.py"
    source.write_text(SIGN.replace("$0", ""))
    scripted.reply(
        "TESTS:\n```python\nfrom your_module import sign\n\n\ndef test_positive():\n    assert sign(3) == 1\n```\n"
    )
    answer = await bench.run("test", SIGN, path=source, workspace=Workspace(roots=(tmp_path,)))
    assert answer.success, answer.message
    (new,) = answer.new_files
    assert new.path == tmp_path / "tests" / "test_signs.py"
    assert new.text.startswith("from signs import sign\n")
    assert "def test_positive" in new.text


async def test_tests_are_added_to_an_existing_file(bench: Bench, scripted: ScriptedModel, tmp_path: Path) -> None:
    source, present = tmp_path / "signs.py", tmp_path / "test_signs.py"
    source.write_text(SIGN.replace("$0", ""))
    present.write_text("from signs import sign\n\n\ndef test_positive():\n    assert sign(3) == 1\n")
    scripted.reply(
        "TESTS:\n```python\nfrom signs import sign\n\n\ndef test_positive():\n    assert sign(-9) == -1\n```\n"
    )
    answer = await bench.run("test", SIGN, path=source, workspace=Workspace(roots=(tmp_path,)))
    assert answer.success, answer.message
    assert answer.new_files == ()
    after = applied(answer)
    assert after.startswith(present.read_text())
    assert "def test_positive_2():\n    assert sign(-9) == -1" in after
    assert after.count("from signs import sign") == 1


async def test_broken_code_can_be_edited(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply("def ok(x):\n    return x + 1"))
    answer = await bench.run("debug", "def broken(:\n    pass\n\n\ndef ok(x):\n    $0return x\n")
    assert answer.success, answer.message


@pytest.mark.parametrize("text", ["", "$0", "\n\n$0"])
async def test_an_empty_document_can_be_filled(bench: Bench, scripted: ScriptedModel, text: str) -> None:
    scripted.reply(code_reply("def one():\n    return 1"))
    after = await bench.text_after("generate", text, instruction="a function that returns 1")
    assert "def one():\n    return 1\n" in after


CLASSES = "class Basket:\n    def total(self):\n        return 0\n\n\nclass Shelf:\n    pass\n"
WORDS = "def words(text):\n    return len(text.split())"


@pytest.mark.parametrize(
    "marked",
    [
        CLASSES,
        f"$0{CLASSES}$0",
        CLASSES.replace("return", "re$0turn"),
        CLASSES.replace("total(self)", "to$0tal$0(self)"),
    ],
    ids=["whole file", "all selected", "cursor in a method", "a word selected"],
)
async def test_an_addition_removes_nothing(bench: Bench, scripted: ScriptedModel, marked: str) -> None:
    scripted.reply(code_reply(WORDS))
    after = await bench.text_after("generate", marked, instruction="add a function words")
    rest = after.replace(WORDS, "")
    assert after.count(WORDS) == 1
    assert [line for line in rest.splitlines() if line] == [line for line in CLASSES.splitlines() if line]


@pytest.mark.parametrize("action", ["generate", "refactor", "debug", "optimize"])
async def test_a_reply_that_omits_existing_code_is_refuted_and_repaired(
    bench: Bench, scripted: ScriptedModel, action: str
) -> None:
    """The instruction does not mention `Shelf`: the model learns of it, and its next reply is offered."""
    less = CLASSES.partition("\n\n\nclass Shelf")[0].replace("0", "1")
    scripted.replies([Reply(code_reply(less)), Reply(code_reply(f"{less}\n\n\nclass Shelf:\n    pass"))])
    answer = await bench.run(action, CLASSES, instruction="rewrite it so that total gives 1")
    if action == "generate":  # it merges: the class that is not in the reply stays
        assert "class Shelf" in applied(answer)
        assert len(scripted.requests) == 1
        return
    assert "definitions: `Shelf` is gone" in scripted.requests[1].prompt
    if action == "optimize":  # both replies change behavior: the measured speed says which of them is reported
        return
    definitions = next(item for item in answer.evidence if item.check is Check.DEFINITIONS)
    assert definitions.verdict is Ruling.PASS


@pytest.mark.parametrize("action", ["generate", "refactor", "debug"])
async def test_code_that_the_instruction_removes_may_be_removed(
    bench: Bench, scripted: ScriptedModel, action: str
) -> None:
    less = CLASSES.partition("\n\n\nclass Shelf")[0]
    scripted.reply(code_reply(less))
    answer = await bench.run(action, CLASSES, instruction="remove the class Shelf")
    assert applied(answer) == less + "\n"
    definitions = next(item for item in answer.evidence if item.check is Check.DEFINITIONS)
    assert definitions.verdict is Ruling.PASS
