"""A secret never leaves, and comes back only at its place, whatever the model makes of its placeholder."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply, request_for
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Buffer, Diagnostic, Workspace
from stet_ls.engine.settings.schema import LogSettings, Privacy, Settings
from stet_ls.validators.source import Span

TOKEN = "ghp_" + "a1B2c3D4e5" * 3
PASSWORD = "Tr0ub4dor" + "&3x"
CODE = f'''import os


def connect(host):
    token = "{TOKEN}"
    password = '{PASSWORD}'
    return open_(host, token, password)$0


def other():
    return 1
'''
BODY = """def connect(host):
    token = "STET_SECRET_1"
    password = 'STET_SECRET_2'
    return open_(host, token=token, password=password)
"""


def sent(scripted: ScriptedModel) -> str:
    return "\n".join(message["content"] for request in scripted.requests for message in request.body["messages"])


async def replied(bench: Bench, scripted: ScriptedModel, body: str, action: str = "refactor") -> Answer:
    scripted.default = Reply(code_reply(body))
    return await bench.run(action, CODE)


async def test_secrets_are_sent_as_placeholders_and_restored(bench: Bench, scripted: ScriptedModel) -> None:
    answer = await replied(bench, scripted, BODY)
    assert TOKEN not in sent(scripted)
    assert PASSWORD not in sent(scripted)
    assert "token = \"STET_SECRET_1\"\n    password = 'STET_SECRET_2'" in sent(scripted)
    assert applied(answer) == CODE.replace("$0", "").replace(
        "open_(host, token, password)", "open_(host, token=token, password=password)"
    )
    assert "hidden" not in answer.message


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (BODY.replace("STET_SECRET_1", "STET_SECRET_7"), "`STET_SECRET_7`, which stands for nothing"),
        (BODY.replace("STET_SECRET_1", "stet_secret_1"), "`stet_secret_1`, a changed placeholder"),
        (BODY.replace('"STET_SECRET_1"', '"STET_SEC" + "RET_1"'), "`STET_SEC`, a changed placeholder"),
        (BODY.replace('"STET_SECRET_1"', '"STET_" "SECRET_1"'), "a changed placeholder"),
        (BODY.replace("STET_SECRET_1", "STET SECRET 1"), "a changed placeholder"),
        (BODY.replace("_1", "_X").replace("_2", "_1").replace("_X", "_2"), "Two placeholders changed places"),
        (BODY.replace("STET_SECRET_2", "STET_SECRET_1"), "Two placeholders changed places"),
    ],
)
async def test_a_reply_with_a_wrong_placeholder_is_retried_and_then_refused(
    bench: Bench, scripted: ScriptedModel, made: str, why: str
) -> None:
    answer = await replied(bench, scripted, made)
    assert not answer.success
    assert answer.edits == ()
    assert why in answer.message
    assert len(scripted.requests) > 1, "a repair was asked for first"
    assert why in scripted.requests[-1].body["messages"][-1]["content"]
    assert TOKEN not in sent(scripted)
    assert TOKEN not in answer.message


async def test_a_repair_with_the_right_placeholders_is_offered(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.replies([Reply(code_reply(BODY.replace("STET_SECRET_1", "STET_SECRET_9"))), Reply(code_reply(BODY))])
    answer = await bench.run("refactor", CODE)
    assert answer.success
    assert TOKEN in applied(answer)
    first, second = (request.body["messages"] for request in scripted.requests)
    assert second[: len(first)] == first, "the prefix stays byte for byte"


async def test_quotes_around_a_secret_may_change_if_the_value_allows_it(bench: Bench, scripted: ScriptedModel) -> None:
    answer = await replied(bench, scripted, BODY.replace("'STET_SECRET_2'", '"STET_SECRET_2"'))
    assert answer.success, answer.message
    assert f'password = "{PASSWORD}"' in applied(answer)


async def test_quotes_around_a_secret_may_not_change_if_the_value_needs_them(
    bench: Bench, scripted: ScriptedModel
) -> None:
    code = "def f():\n    password = r'a\\n1\"b{x}'$0\n    return password\n"
    scripted.default = Reply(code_reply('def f():\n    password = "STET_SECRET_1"\n    return password or None\n'))
    answer = await bench.run("refactor", code)
    assert not answer.success
    assert "The quotes around `STET_SECRET_1` changed" in answer.message


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (BODY.replace("    password = 'STET_SECRET_2'\n", "    password = input()\n"), "removes a value"),
        (BODY.replace("return open_(", "print('STET_SECRET_2')\n    return open_("), "copies a value"),
    ],
)
async def test_a_removed_or_copied_secret_is_reported(
    bench: Bench, scripted: ScriptedModel, made: str, message: str
) -> None:
    answer = await replied(bench, scripted, made)
    (danger,) = (item for item in answer.evidence if item.check is Check.DANGER)
    assert (danger.verdict, danger.trusted) == (Ruling.UNKNOWN, True)
    assert message in danger.detail
    assert PASSWORD not in answer.message


async def test_placeholders_from_tool_output_do_not_enter_the_code(bench: Bench, scripted: ScriptedModel) -> None:
    """A secret that stands in a diagnostic alone is hidden from the model, and no placeholder brings it back."""
    stranger = "glpat-" + "x9Y8z7W6v5U4t3S2"
    scripted.default = Reply(code_reply(BODY.replace("host, token", "host, 'STET_SECRET_3', token")))
    answer = await bench.run("debug", CODE, diagnostics=(Diagnostic(Span(20, 30), f"refused key {stranger}"),))
    assert stranger not in sent(scripted)
    assert not answer.success
    assert "`STET_SECRET_3`, which stands for nothing" in answer.message


PROSE = "It signs in with STET_SECRET_1 as the token.\n"


async def test_no_passed_message_contains_a_secret(
    bench: Bench, scripted: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.default = Reply(PROSE)
    with caplog.at_level(logging.DEBUG):
        explained = await bench.run("explain", CODE)
        scripted.default = Reply(code_reply(BODY.replace("return", "retrun x"), plan="Keep STET_SECRET_1."))
        broken = await bench.run("refactor", CODE)
        scripted.default = Reply(
            code_reply(BODY, plan="Keep STET_SECRET_1.") + "NOTES:\n- warning: STET_SECRET_2 is weak\n"
        )
        whole = await bench.run("refactor", CODE)
    assert "signs in with (hidden value) as" in explained.markdown
    for answer in (explained, broken, whole):
        shown = [answer.message, answer.markdown, answer.explanation, *answer.warnings]
        shown += [item.detail for item in answer.evidence]
        shown += [str(event) for event in bench.events]
        assert [text for text in shown if TOKEN in text or PASSWORD in text] == []
    assert TOKEN not in caplog.text
    assert PASSWORD not in caplog.text
    assert TOKEN not in sent(scripted)


async def test_no_report_contains_a_secret(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(
        "- `password = 'STET_SECRET_2'` | security | the value STET_SECRET_2 stands in the code\n"
        '- `token = "STET_SECRET_1"` | security | anyone can read STET_SECRET_1\n'
    )
    analyzed = await bench.run("analyze", CODE)
    explained = await bench.run("explain", f"def f(token={TOKEN!r}):\n    return token$0\n")
    assert TOKEN not in explained.markdown
    assert "def f(token='(hidden value)')" in explained.markdown
    assert "the value (hidden value) stands in the code" in analyzed.markdown
    assert "`password = '(hidden value)'`" in analyzed.markdown
    for secret in (TOKEN, PASSWORD):
        assert secret not in analyzed.markdown
        assert secret not in str([finding.message for finding in analyzed.findings])


async def test_no_evidence_contains_a_secret(bench: Bench, scripted: ScriptedModel) -> None:
    answer = await replied(bench, scripted, BODY.replace("    ret", "    Path('STET_SECRET_1').unlink()\n    ret"))
    assert "adds `Path('STET_SECRET_1').unlink`, which deletes files" in answer.message
    assert TOKEN not in str(answer.evidence)
    assert TOKEN not in str(bench.events)


async def test_logged_prompts_contain_no_secrets(
    scripted: ScriptedModel, stet_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.default = Reply(code_reply(BODY))
    rules = Settings(log=LogSettings(prompts=True), privacy=Privacy(loopback="allow"))
    async with Bench(scripted, rules) as bench:
        with caplog.at_level(logging.DEBUG, "stet_ls"):
            assert (await bench.run("refactor", CODE)).success
    assert TOKEN in sent(scripted), "this machine's own model may read it"
    assert "STET_SECRET_1" in caplog.text
    assert TOKEN not in caplog.text


async def test_show_prompt_contains_no_secrets(bench: Bench) -> None:
    prompt = await bench.engine.show_prompt(request_for("refactor", CODE))
    assert [(one.line, one.kind) for one in prompt.redactions] == [(4, "access token"), (5, "secret")]
    assert TOKEN not in repr(prompt)
    assert PASSWORD not in str(prompt.messages)


# `.env` files.

DOTENV = """\
# local
NODE_ENV=development
PORT=3000
HOST=localhost
DEBUG=true
BASE_URL=https://api.example.org/v1
API_TOKEN="correct horse battery"
export DATABASE_URL=postgres://me:pa55/word@localhost/x
SESSION_SALT='qwertyuiop'
"""
USING = """def f():
    a = "development", 3000, "localhost", True, "https://api.example.org/v1"
    b = ["correct horse battery", "postgres://me:pa55/word@localhost/x"]
    c = "qwertyuiop" + "cXdlcnR5dWlvcA=="$0
    return a, b, c
"""


@pytest.mark.parametrize("where", ["disk", "buffer", "parent", "below"])
async def test_values_of_an_env_file_are_hidden_everywhere(
    bench: Bench, scripted: ScriptedModel, tmp_path: Path, where: str
) -> None:
    folder = tmp_path / "pkg" / "deep"
    folder.mkdir(parents=True)
    place = {"below": tmp_path / "pkg", "parent": tmp_path}.get(where, folder) / ".env"
    buffers: tuple[Buffer, ...] = ()
    if where == "buffer":
        buffers = (Buffer(place, 1, DOTENV),)
    else:
        place.write_text(DOTENV)
    scripted.default = Reply(code_reply("def f():\n    return 1"))
    await bench.run("refactor", USING, path=folder / "a.py", workspace=Workspace((tmp_path,), buffers))
    seen = sent(scripted)
    assert 'a = "development", 3000, "localhost", True, "https://api.example.org/v1"' in seen
    for value in ("correct horse battery", "pa55/word", "qwertyuiop", "cXdlcnR5dWlvcA"):
        assert value not in seen


async def test_an_env_file_that_is_the_target_is_sent_without_its_values(
    bench: Bench, scripted: ScriptedModel, tmp_path: Path
) -> None:
    scripted.default = Reply(code_reply(DOTENV.replace("# local", "# mine"), "dotenv"))
    await bench.run("refactor", DOTENV, language="dotenv", path=tmp_path / ".env")
    seen = sent(scripted)
    assert "API_TOKEN=" in seen
    for value in ("correct horse", "pa55", "qwertyuiop"):
        assert value not in seen


async def test_files_of_secrets_are_left_out_of_the_context_and_reported(
    bench: Bench, scripted: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / ".stetignore").write_text("docs/\n")
    request = request_for(
        "refactor",
        CODE,
        path=tmp_path / "a.py",
        workspace=Workspace((tmp_path,)),
        context={".env": "PLAIN=words", f"{tmp_path}/docs/a.md": "our plans", "hint": "be quick"},
    )
    prompt = await bench.engine.show_prompt(request)
    text = str(prompt.messages)
    assert "be quick" in text
    assert "PLAIN" not in text
    assert "our plans" not in text
    assert prompt.left_out == (
        "context '.env' (file of secrets)",
        f"context '{tmp_path}/docs/a.md' (ignored by .stetignore)",
    )
