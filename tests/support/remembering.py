"""Jobs that are remembered: one wish in other words, and the code that fulfills it."""

from __future__ import annotations

from pathlib import Path

from support.engine import Bench, code_reply
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Workspace

CODE = "def parse_date(text):\n    return datetime.date.fromisoformat(text)"
BEFORE = "import datetime\n\n\n$0\n"
INSTRUCTION = "Parse an ISO date from a string"
AGAIN = "read a date in ISO form from a string of text"


async def generate(
    bench: Bench, project: Path, instruction: str, name: str = "src/dates.py", code: str = CODE
) -> Answer:
    """The answer to a wish in a file of the project; nothing is run for it."""
    where = {"path": project / name, "workspace": Workspace((project,)), "budget": Budget.QUICK}
    return await bench.run("generate", BEFORE, instruction=instruction, **where)


async def learn(bench: Bench, scripted: ScriptedModel, project: Path, outcome: EditOutcome, text: str = "") -> Answer:
    scripted.reply(code_reply(CODE))
    answer = await generate(bench, project, INSTRUCTION)
    assert answer.success, answer.message
    await bench.engine.learn_outcome(answer.metadata.trace, outcome, text or f"import datetime\n\n\n{CODE}\n")
    return answer


def prompt_of(scripted: ScriptedModel) -> str:
    return scripted.requests[-1].prompt


FELL = [EditOutcome.UNDONE, EditOutcome.REJECTED]
