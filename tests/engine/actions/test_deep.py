"""Code that is nested too deeply for what reads it by recursion ends no job."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.budget import Budget

TERMS = " + ".join(map(str, range(400)))
SHORTER = f"def f(x):\n    return x + {TERMS}\n"


@pytest.fixture(autouse=True)
def home(stet_home: Path) -> Path:
    return stet_home


@pytest.mark.parametrize("action", ["refactor", "debug"])
async def test_an_expression_of_hundreds_of_terms_is_judged(scripted: ScriptedModel, action: str) -> None:
    scripted.replies([code_reply(SHORTER, "python")] * 4)
    fields = {"language": "python", "instruction": "Shorten it", "budget": Budget.THOROUGH}
    async with Bench(scripted) as bench:
        answer = await bench.run(action, f"def f(x):\n    y = $0{TERMS}\n    return x + y\n", **fields)
    assert applied(answer) == SHORTER


async def test_code_nested_too_deeply_for_a_judge_is_refused_with_a_message(scripted: ScriptedModel) -> None:
    scripted.default = code_reply(f"def f(x):\n    with contextlib.suppress(Exception, {TERMS}):\n        return x\n")
    async with Bench(scripted) as bench:
        answer = await bench.run(
            "refactor", "import contextlib\n\n\ndef f(x):\n    $0return x + 0\n", language="python"
        )
    assert not answer.success
    assert "nested too deeply to check" in answer.message
