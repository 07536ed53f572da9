"""`stet run --show-prompt` prints what `stet run` then really sends, and what each part of it takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel

USE = "from helpers import tidy\n\n\ndef use(x):\n    total = tidy(x)\n    return total\n"
NEW = "def use(x):\n    return tidy(x)\n"


@pytest.fixture
def file(folder: Path) -> Path:
    (folder / ".git").mkdir()
    (folder / "helpers.py").write_text("def tidy(x):\n    return x.strip()\n")
    (folder / "use.py").write_text(USE)
    return folder / "use.py"


def test_the_shown_prompt_is_the_prompt_that_is_sent(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply(f"PLAN: shorter\nCODE:\n```python\n{NEW}```\n")
    asked = ("run", "refactor", "use.py:4", "--instruction", "shorter", "--constraint", "No regex.")
    shown = json.loads(stet(*asked, "--show-prompt", "--json").out)
    assert scripted.requests == []
    assert stet(*asked).status == 0

    def plain(messages: list[dict[str, str]]) -> list[tuple[str, str]]:
        return [(one["role"], re.sub(r"data-\w{8}>", "data-ID>", one["content"])) for one in messages]

    sent = scripted.requests[0].body["messages"]
    assert plain(shown["messages"]) == plain(sent)
    assert "From helpers.py" in sent[-1]["content"], "the project's symbols were read for the command"


def test_each_part_of_the_prompt_is_listed_with_its_tokens(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    ran = stet("run", "refactor", "use.py:4", "--show-prompt")
    output = re.findall(r"^ *([\d,]+) tokens: (.+)$", ran.err, re.MULTILINE)
    assert [name for _, name in output] == [
        "the rules", "imports", "the body of tidy of helpers.py", "the target", "the task", "the reply's form",
        "titles, fences and turns",
    ]  # fmt: skip
    whole = re.search(r"^(\d+) tokens, 0 values replaced; left out: 0$", ran.err, re.MULTILINE)
    assert whole
    assert sum(int(tokens.replace(",", "")) for tokens, _ in output) == int(whole[1])


def test_omitted_context_is_listed_with_reason_and_size(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    ran = stet(
        "run", "refactor", "use.py:4", "--show-prompt", "--context", f"log={'1 ' * 60_000}", "--context", ".env=x"
    )
    assert re.search(r"^left out: context 'log' \(no room for [\d,]{6,} tokens\)$", ran.err, re.MULTILINE)
    assert "left out: context '.env' (file of secrets)" in ran.err
