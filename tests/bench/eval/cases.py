"""The development cases, read from public data sets that lie in one folder; nothing of them is part of this repository.

    DIR/humanevalpack/python/humanevalpack.jsonl    debug
    DIR/mbxp/mbpp_release_v1.jsonl                  generate, refactor; both also "bare": without any example
    DIR/evalplus/MbppPlus.jsonl                     some hundred hidden inputs more for each of these
    DIR/evalplus/HumanEvalPlus.jsonl                the same for debug
    DIR/coffe/data.json, testcases.json, stressful_testcases.json    optimize

`obtain.sh DIR` fetches them. They are in every model's training data: only differences to the same model's single
shot mean anything. A hash of a task's name says which half it belongs to, in every action: what is tuned looks at the
cases of one half alone, and what is reported is counted on the other (PROTOCOL.md). What counts as right:

    debug       the data set's tests pass, and the results of EvalPlus' inputs hold where two solutions agree on them
    generate    the examples that were not shown hold, and so do the results of EvalPlus' inputs, where the data sets'
                two solutions agree on them
    refactor    the examples hold, the function's code is another one, and it returns what it returned before (the
                type too) and leaves its arguments as it left them, on EvalPlus' inputs
    optimize    the tests pass and COFFE's large inputs take 1/1.2 of the time or less
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ALIKE = Path(__file__).with_name("alike.py").read_text("utf-8")
_COFFE = ("testcases", "stressful_testcases")
_WORTH = 1.2
"""So many times faster counts as optimized."""

HALVES = ("tuning", "reporting")
AGAIN = "asked again"
"""Cases of `generate` in other words, for the variants that remember such tasks."""
_BARE = "bare "
"""Before an action: with a description and no example, as most code is. What stands then stands by other evidence."""


Row = Mapping[str, Any]
"""A line of a data set."""


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
class _More:
    """A task of EvalPlus: its solution, and a list of arguments for each call as Python's text."""

    unit: str
    solution: str
    inputs: str


@dataclass(frozen=True, slots=True)
class Solved:
    """A task of MBPP with its reference solution: `text` is one documented function, as a project would hold it."""

    number: str
    unit: str
    words: str
    text: str


def half_of(name: str) -> str:
    """The half that a case of this name belongs to: that of its task, whatever is asked about it."""
    return HALVES[int(hashlib.sha256(name.rpartition(" ")[2].encode()).hexdigest(), 16) % 2]


def load(data: Path, actions: tuple[str, ...], count: int, seed: int, half: str = "") -> list[Case]:
    """`count` cases of each action and of a half, drawn by `seed`. FileNotFoundError names the file that is missing.

    What has no hidden inputs beyond its examples is passed over once it is drawn, so that the others are drawn as ever.
    """
    chosen = []
    for action in actions:
        cases = [case for case in _READERS[action](data) if _parses(case.text)]
        random.Random(f"{seed} {action}").shuffle(cases)
        chosen += [case for case in cases if case.hidden and half in ("", half_of(case.id))][:count]
    return chosen


def solved(data: Path) -> Iterator[Solved]:
    """All tasks of MBPP whose solution parses, with the one example that a case shows too."""
    for row, examples in _mbpp(data):
        body = textwrap.indent(textwrap.dedent(row["canonical_solution"]).strip("\n"), "    ")
        text = f"{_signature(row)}\n{_docstring(row, examples[:1])}\n{body}\n".lstrip("\n")
        if _parses(text):
            yield Solved(row["task_id"].rpartition("/")[2], row["entry_point"], row["description"], text)


def _debug(data: Path) -> Iterator[Case]:
    more = _human_eval_plus(data / "evalplus")
    for row in _rows(data / "humanevalpack/python/humanevalpack.jsonl"):
        text = row["prompt"] + row["buggy_solution"]
        hidden = row["test"]
        if plus := more.get(row["task_id"].rpartition("/")[2]):
            reference, inputs = plus
            solutions = [row["prompt"] + row["canonical_solution"], row["prompt"] + reference]
            hidden += "\n" + _compared("same_result", row["entry_point"], solutions, repr(inputs))
        yield Case(f"debug {row['task_id']}", "debug", text, row["entry_point"], hidden)


def _human_eval_plus(folder: Path) -> dict[str, tuple[str, list[Any]]]:
    """By number of the task: the body of another solution, and the inputs. The first file is in HumanEval's order.

    Empty where the files are not there.
    """
    if not (folder / "HumanEvalPlusInputs.jsonl").is_file():
        return {}
    inputs = {row["task_id"].rpartition("_")[2]: row["inputs"] for row in _rows(folder / "HumanEvalPlusInputs.jsonl")}
    rows = enumerate(_rows(folder / "HumanEvalPlus.jsonl"))
    return {str(at): (row["reference"], [*row["base_input"], *inputs.get(str(at), ())]) for at, row in rows}


def _generate(data: Path, action: str = "generate", shown: int = 1) -> Iterator[Case]:
    more = _more(data)
    for row, examples in _mbpp(data):
        # One example is shown, as a person would write one; the others are hidden.
        text = f"{_signature(row)}\n{_docstring(row, examples[:shown])}\n    raise NotImplementedError\n"
        hidden = ""
        if plus := _inputs(row, examples, more):
            references = [row["prompt"] + row["canonical_solution"], plus.solution]
            hidden = _check(row) + _compared("same_result", row["entry_point"], references, plus.inputs)
        yield Case(f"{action} {row['task_id']}", action, text, row["entry_point"], hidden, row["description"])


def _refactor(data: Path) -> Iterator[Case]:
    more = _more(data)
    for row, examples in _mbpp(data):
        text = row["prompt"] + row["canonical_solution"] + "\n"
        yield _rewriting("refactor", row, text, _inputs(row, examples, more))


def _bare_generate(data: Path) -> Iterator[Case]:
    return _generate(data, f"{_BARE}generate", shown=0)


def _bare_refactor(data: Path) -> Iterator[Case]:
    more = _more(data)
    for row, examples in _mbpp(data):
        text = f"{_signature(row)}\n{_docstring(row, [])}\n{row['canonical_solution']}\n"
        yield _rewriting(f"{_BARE}refactor", row, text, _inputs(row, examples, more))


def _rewriting(action: str, row: Row, text: str, plus: _More | None) -> Case:
    name, hidden = row["entry_point"], ""
    if plus:
        rewritten = f"_alike.rewritten(open(__file__).read(), {text!r}, {name!r})\n"
        hidden = _check(row) + _compared("same_behavior", name, text, plus.inputs) + rewritten
    return Case(f"{action} {row['task_id']}", action, text, name, hidden)


def _optimize(data: Path) -> Iterator[Case]:
    tests, large = (json.loads((data / f"coffe/{name}.json").read_text("utf-8")) for name in _COFFE)
    for row in json.loads((data / "coffe/data.json").read_text("utf-8")):
        examples, body = tests.get(row["final_prompt"]), row.get("canonical_solution")
        inputs = [each["input"] for each in large.get(row["final_prompt"], ())]
        if not examples or not body or not inputs:
            continue
        text = f"{row['final_prompt'].rstrip()}\n{body}"
        checks = "\n".join(
            f"assert {row['entry_point']}(*{example['input']!r}) == {example['output'][0]!r}" for example in examples
        )
        timed = _compared("faster", row["entry_point"], text, f"[{', '.join(inputs)}], least={_WORTH}")
        yield Case(f"optimize {row['entry_point']}", "optimize", text, row["entry_point"], f"{checks}\n{timed}")


def _compared(how: str, name: str, references: str | list[str], inputs: str) -> str:
    """A hidden program that calls `how` of alike.py, whose names stay its own."""
    texts = references if isinstance(references, list) else [references]
    functions = ", ".join(f"_alike.function({text!r}, {name!r})" for text in texts)
    given = f"[{functions}]" if isinstance(references, list) else functions
    return (
        f"import types\n_alike = types.ModuleType('alike')\nexec({_ALIKE!r}, _alike.__dict__)\n"
        f"_alike.{how}({name}, {given}, {inputs})\n"
    )


def _more(data: Path) -> Mapping[str, _More]:
    """What EvalPlus holds of MBPP's tasks, by their number."""
    rows = _rows(data / "evalplus/MbppPlus.jsonl")
    return {
        row["task_id"].rpartition("/")[2]: _More(
            row["entry_point"], row["canonical_solution"], repr([*row["base_input"], *row["plus_input"]])
        )
        for row in rows
    }


def _inputs(row: Row, examples: list[str], more: Mapping[str, _More]) -> _More | None:
    """More inputs of a task; None if there are none, or JSON cannot hold what the task is called with."""
    plus = more.get(row["task_id"].rpartition("/")[2])
    return plus if plus and plus.unit == row["entry_point"] and all(map(_is_plain, examples)) else None


def _is_plain(example: str) -> bool:
    """Whether the arguments of an example's call are no tuples, sets or the like, which JSON gives back as lists."""
    try:
        call = ast.parse(example.splitlines()[0], mode="eval").body
        given = [ast.literal_eval(each) for each in call.args] if isinstance(call, ast.Call) else None
        return given is not None and repr(json.loads(json.dumps(given))) == repr(given)
    except (SyntaxError, ValueError, TypeError):
        return False


def _mbpp(data: Path) -> Iterator[tuple[Row, list[str]]]:
    """The rows whose docstring holds examples, with these."""
    for row in _rows(data / "mbxp/mbpp_release_v1.jsonl"):
        _, *examples = row["prompt"].split(">>> ")
        if examples:
            yield row, [example.strip().strip('"').rstrip() for example in examples]


def _docstring(row: Row, examples: list[str]) -> str:
    if not examples:
        return f'    """{row["description"]}"""'
    shown = [line.strip() for example in examples for line in f">>> {example}".split("\n")]
    return "\n".join([f'    """{row["description"]}', "", *(f"    {line}" for line in shown), '    """'])


def _signature(row: Row) -> str:
    head, _, _ = row["prompt"].partition('"""')
    return str(head.rstrip())


def _check(row: Row) -> str:
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
