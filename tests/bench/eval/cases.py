"""The development cases, read from public data sets that lie in one folder; nothing of them is part of this repository.

    DIR/humanevalpack/python/humanevalpack.jsonl    debug
    DIR/mbxp/mbpp_release_v1.jsonl                  generate, refactor; both also "bare": without any example
    DIR/coffe/data.json and testcases.json          optimize

`obtain.sh DIR` fetches them. They are in every model's training data: only differences to the same model's single
shot mean anything.
"""

from __future__ import annotations

import ast
import json
import random
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AGAIN = "asked again"
"""Cases of `generate` in other words, for the variants that remember such tasks."""
_BARE = "bare "
"""Before an action: with a description and no example, as most code is. What stands then stands by other evidence."""


@dataclass(frozen=True, slots=True)
class Case:
    """One task. `hidden` is Python that runs behind the answered document and raises if it is wrong.

    `action` names the set that it is of; `unit` is the function that is asked for, `text` the document that holds it.
    """

    id: str
    action: str
    text: str
    unit: str
    hidden: str
    instruction: str = ""

    @property
    def asks(self) -> str:
        """The engine's action."""
        return "generate" if self.action == AGAIN else self.action.removeprefix(_BARE)


@dataclass(frozen=True, slots=True)
class Solved:
    """A task of MBPP with its reference solution: `text` is one documented function, as a project would hold it."""

    number: str
    unit: str
    words: str
    text: str


def load(data: Path, actions: tuple[str, ...], count: int, seed: int) -> list[Case]:
    """`count` cases of each action, drawn by `seed`. FileNotFoundError names the file that is missing."""
    chosen = []
    for action in actions:
        cases = [case for case in _READERS[action](data) if _parses(case.text)]
        random.Random(f"{seed} {action}").shuffle(cases)
        chosen += cases[:count]
    return chosen


def solved(data: Path) -> Iterator[Solved]:
    """All tasks of MBPP whose solution parses, with the one example that a case shows too."""
    for row, examples in _mbpp(data):
        body = textwrap.indent(textwrap.dedent(row["canonical_solution"]).strip("\n"), "    ")
        text = f"{_signature(row)}\n{_docstring(row, examples[:1])}\n{body}\n".lstrip("\n")
        if _parses(text):
            yield Solved(row["task_id"].rpartition("/")[2], row["entry_point"], row["description"], text)


def _debug(data: Path) -> Iterator[Case]:
    for row in _rows(data / "humanevalpack/python/humanevalpack.jsonl"):
        text = row["prompt"] + row["buggy_solution"]
        yield Case(f"debug {row['task_id']}", "debug", text, row["entry_point"], row["test"])


def _generate(data: Path, action: str = "generate", shown: int = 1) -> Iterator[Case]:
    for row, examples in _mbpp(data):
        # One example is shown, as a person would write one; the others are the hidden tests.
        text = f"{_signature(row)}\n{_docstring(row, examples[:shown])}\n    raise NotImplementedError\n"
        yield Case(f"{action} {row['task_id']}", action, text, row["entry_point"], _check(row), row["description"])


def _refactor(data: Path) -> Iterator[Case]:
    for row, _ in _mbpp(data):
        text = row["prompt"] + row["canonical_solution"] + "\n"
        yield Case(f"refactor {row['task_id']}", "refactor", text, row["entry_point"], _check(row))


def _bare_generate(data: Path) -> Iterator[Case]:
    return _generate(data, f"{_BARE}generate", shown=0)


def _bare_refactor(data: Path) -> Iterator[Case]:
    for row, _ in _mbpp(data):
        text = f"{_signature(row)}\n{_docstring(row, [])}\n{row['canonical_solution']}\n"
        yield Case(f"{_BARE}refactor {row['task_id']}", f"{_BARE}refactor", text, row["entry_point"], _check(row))


def _optimize(data: Path) -> Iterator[Case]:
    tests = json.loads((data / "coffe/testcases.json").read_text("utf-8"))
    for row in json.loads((data / "coffe/data.json").read_text("utf-8")):
        examples, body = tests.get(row["final_prompt"]), row.get("canonical_solution")
        if not examples or not body:
            continue
        text = f"{row['final_prompt'].rstrip()}\n{body}"
        checks = "\n".join(
            f"assert {row['entry_point']}(*{example['input']!r}) == {example['output'][0]!r}" for example in examples
        )
        yield Case(f"optimize {row['entry_point']}", "optimize", text, row["entry_point"], checks)


def _mbpp(data: Path) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """The rows whose docstring holds examples, with these."""
    for row in _rows(data / "mbxp/mbpp_release_v1.jsonl"):
        _, *examples = row["prompt"].split(">>> ")
        if examples:
            yield row, [example.strip().strip('"').rstrip() for example in examples]


def _docstring(row: Mapping[str, Any], examples: list[str]) -> str:
    if not examples:
        return f'    """{row["description"]}"""'
    shown = [line.strip() for example in examples for line in f">>> {example}".split("\n")]
    return "\n".join([f'    """{row["description"]}', "", *(f"    {line}" for line in shown), '    """'])


def _signature(row: Mapping[str, Any]) -> str:
    head, _, _ = row["prompt"].partition('"""')
    return str(head.rstrip())


def _check(row: Mapping[str, Any]) -> str:
    return f"{row['test']}\ncheck({row['entry_point']})\n"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


_READERS: Mapping[str, Callable[[Path], Iterator[Case]]] = {
    "generate": _generate,
    "debug": _debug,
    "refactor": _refactor,
    "optimize": _optimize,
    f"{_BARE}generate": _bare_generate,
    f"{_BARE}refactor": _bare_refactor,
}
ACTIONS = tuple(_READERS)
"""The sets of cases."""
