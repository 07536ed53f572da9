"""The tasks of the self-test. Each is short, has one kind of right answer, and is judged by its text alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class UnitTask:
    """A unit to rewrite, with the action's own prompt. `right` is a pattern that matches a right answer."""

    action: str
    language: str
    code: str
    instruction: str
    right: str

    def solved_by(self, code: str) -> bool:
        """True if the new code is correct, as far as its text shows."""
        return re.search(self.right, code, re.DOTALL) is not None


UNITS: tuple[UnitTask, ...] = (
    UnitTask(
        "debug",
        "python",
        'def total(items):\n    """Add up all prices."""\n    result = 0\n    for item in items:\n'
        "        result += item.price\n    return reslt\n",
        "total([]) raises NameError: name 'reslt' is not defined",
        r"return (result\b|sum\()(?!.*reslt)",
    ),
    UnitTask(
        "refactor",
        "python",
        "def names(users):\n    found = []\n    for user in users:\n        if user.active:\n"
        "            found.append(user.name)\n    return found\n",
        "Use a list comprehension.",
        r"\[\s*(\w+)\.name\s+for\s+\1\s+in\s+users\s+if\s+\1\.active\s*\]",
    ),
    UnitTask(
        "debug",
        "javascript",
        "export function last(items) {\n  if (items.length === 0) return undefined;\n"
        "  return items[items.length];\n}\n",
        "last([1, 2]) gives undefined instead of 2",
        r"length\s*-\s*1|at\(-1\)|slice\(-1\)",
    ),
    UnitTask(
        "debug",
        "python",
        "def clamp(value, low, high):\n    if value < low:\n        return high\n    if value > high:\n"
        "        return high\n    return value\n",
        "clamp(1, 5, 9) gives 9 instead of 5",
        r"value < low:\s+return low|max\(\s*low\s*,|max\(\s*min",
    ),
)


@dataclass(frozen=True, slots=True)
class BlockTask:
    """A text to change by search/replace blocks, and the only right result."""

    code: str
    instruction: str
    after: str


_CLIENT = '''\
class Client:
    """Talks to one host."""

    def __init__(self, host, port=80, timeout=30):
        self.host = host
        self.port = port
        self.timeout = timeout

    def address(self):
        return self.host + ":" + str(self.port)

    def describe(self):
        return self.address() + " within " + str(self.timeout) + " s"
'''

BLOCKS: tuple[BlockTask, ...] = (
    BlockTask(_CLIENT, "Make the default port 443.", _CLIENT.replace("port=80", "port=443")),
    BlockTask(
        _CLIENT,
        "Rename the method `describe` to `summary`.",
        _CLIENT.replace("def describe(self)", "def summary(self)"),
    ),
)

BLOCKS_SYSTEM = "You edit code. You reply with search/replace blocks and nothing else."


def blocks_prompt(task: BlockTask) -> str:
    """The prompt of a block task, the format last."""
    return f"""\
```python
{task.code}```

{task.instruction} Change nothing else.

Reply with one block for each change, in this form, the SEARCH lines copied exactly from the code:
<<<<<<< SEARCH
    the old lines
=======
    the new lines
>>>>>>> REPLACE"""


KINDS = ("logic", "environment", "test_error")

JSON_PROMPT = """\
A test run ended with: ModuleNotFoundError: No module named 'yaml' (app.py, line 3).
Which kind of failure is it: logic, environment or test_error?
Reply with JSON: {"kind": "...", "line": number}"""

JSON_FORMS: Mapping[str, Mapping[str, Any]] = {
    "schema": {
        "type": "json_schema",
        "json_schema": {
            "name": "failure",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"kind": {"type": "string", "enum": list(KINDS)}, "line": {"type": "integer"}},
                "required": ["kind", "line"],
                "additionalProperties": False,
            },
        },
    },
    "object": {"type": "json_object"},
}
"""Ways to request JSON, the stricter one first."""

BEGUN_PROMPT = """\
Write the numbers from 1 to 4 in a block of code, one a line, and the word finished below the block."""
BEGUN = "```\n1\n2\n"
"""The start of the reply to that. An endpoint that ignores it starts with a fence, or with 1."""


def continues_after_begun(reply: str) -> bool:
    """True if a reply continues after BEGUN, whether or not that is sent too, and stops at the end of the block."""
    return reply.removeprefix(BEGUN).split() == ["3", "4"]


SECRET_WORD = "marker_7351"


def long_prompt(lines: int) -> str:
    """A prompt with a question about its first line, whose answer is lost if a server truncates it."""
    body = "\n".join(f"entry number {line} is nothing special and needs no answer" for line in range(lines))
    return f"The word to remember is {SECRET_WORD}.\n{body}\nReply with the word to remember and nothing else."
