"""`check_action`: an action as its manual would show it, a document before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from support.engine import Bench, applied, code_reply, reply_of_tests
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Workspace


@dataclass(frozen=True)
class CheckAction:
    """Runs an action on a document of a folder, with a model that says what the test wrote."""

    scripted: ScriptedModel
    folder: Path

    async def __call__(
        self,
        action: str,
        before: str,
        after: str,
        *,
        reply: str | Sequence[str] = "",
        name: str = "shop.py",
        **fields: Any,
    ) -> Answer:
        """Fails unless the edit makes `after` of `before`. Texts may be indented as the test is.

        `before` has `$0` at the cursor, or one on each side of the selection. `after` is the document with the edit in
        it, or the file that is new, or words of the report. `reply` is the code that the model writes, without one all
        of `after`, or what it says where an action has words. Several replies are taken in order, as they are.
        """
        path = self.folder / name
        path.write_text(_plain(before).replace("$0", ""))
        if isinstance(reply, str):
            self.scripted.default = Reply(_worded(action, _plain(reply or after), fields.get("language", "python")))
        else:
            self.scripted.replies([_plain(each) for each in reply])
        asked = {"budget": Budget.QUICK, "path": path, "workspace": Workspace((self.folder,)), **fields}
        async with Bench(self.scripted) as bench:
            answer = await bench.run(action, _plain(before), **asked)
        assert answer.success, answer.message
        if answer.edits or answer.new_files:
            assert (applied(answer) if answer.edits else answer.new_files[0].text) == _plain(after)
        else:
            assert _plain(after).strip() in answer.markdown, answer.markdown
        return answer


def code(text: str, language: str = "python") -> str:
    """One of several replies: code in the form that is asked for."""
    return code_reply(_plain(text), language)


def _plain(text: str) -> str:
    return dedent(text).lstrip("\n")


def _worded(action: str, reply: str, language: str) -> str:
    spec = ACTIONS.get(action)
    if spec is not None and spec.writes_tests:
        return reply_of_tests(reply, language)
    return code_reply(reply, language) if spec is None or spec.judged_as else reply
