"""What tests pass to the code may be secret: it reaches the sandbox's other run, and nothing else."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import LogSettings, Settings

PARTS = ("ghp", "a1B2c3D4e5" * 3)
PASSWORD = "Tr0ub4dor" + "&3x"
# Only the captured password fulfils it, so the evidence has no other input to quote.
CAPTURED = f"sum(ord(each) ** 2 for each in account.password) == {sum(ord(each) ** 2 for each in PASSWORD)}"
CODE = """class Account:
    def __init__(self, name, password):
        self.name = name
        self.password = password


def header(user, token):
    $0return f"{user}:{token}"


def shown(account):
    return account.name + account.password
"""
TESTS = f"""from service import Account, header, shown

def test_header():
    token = "_".join({PARTS!r})
    assert header("alice", token).startswith("alice")
    assert header("alice", {PASSWORD!r})

def test_account():
    assert shown(Account("alice", password={PASSWORD!r})).startswith("alice")
"""


@pytest.mark.parametrize(
    ("marked", "reply", "shown"),
    [
        (CODE, 'def header(user, token):\n    return f"{user}:{token.upper()}"', "differential: `"),
        (
            CODE.replace("$0", "").replace("    return account", "    $0return account"),
            f"def shown(account):\n    return account.name + account.password[:: -1 if {CAPTURED} else 1]",
            "`shown(account=<Account>)`",
        ),
    ],
)
async def test_a_captured_secret_is_nowhere(
    scripted: ScriptedModel,
    stet_home: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    marked: str,
    reply: str,
    shown: str,
) -> None:
    """Wrong replies: the evidence quotes inputs, as do the prompt of the repair and the record."""
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / "tests/test_service.py").write_text(TESTS)
    (root / "service.py").write_text(marked.replace("$0", ""))
    scripted.default = Reply(code_reply(reply))
    with caplog.at_level(logging.DEBUG, "stet_ls"):
        async with Bench(scripted, Settings(log=LogSettings(prompts=True))) as bench:
            answer = await bench.run("refactor", marked, path=root / "service.py", workspace=Workspace((root,)))
            events = str(bench.events)

    compared = next(item for item in answer.evidence if item.check is Check.DIFFERENTIAL)
    assert compared.verdict is Ruling.FAIL, compared.detail
    prompts = "\n".join(str(request.body["messages"]) for request in scripted.requests)
    files = "\n".join(file.read_text(errors="replace") for file in stet_home.rglob("*") if file.is_file())
    reported = [str(answer), str(answer.to_json()), events, caplog.text, prompts, files]
    for secret in ("_".join(PARTS), PASSWORD, PASSWORD[::-1], "_".join(PARTS).upper()):
        assert [text for text in reported if secret in text] == []
    assert len(scripted.requests) > 1, "the repair quotes the evidence"
    assert shown in prompts
