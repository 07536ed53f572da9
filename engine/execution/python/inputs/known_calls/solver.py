"""Inputs that CrossHair finds: a solver follows both texts of a function until an input tells them apart.

It needs the extra `solver` and hints on all parameters. What it finds is only an input like any other: the harness runs
both texts on it. That it finds none means nothing: it gives up early, and knows no generators and no coroutines.

https://crosshair.readthedocs.io/en/latest/diff_behavior.html
"""

from __future__ import annotations

import ast
import asyncio
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.python.inputs.calls import call_of
from stet_ls.engine.execution.python.inputs.subject import Subject, known_module, subject_of
from stet_ls.engine.execution.python.module_location import isolated_unit
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, RunSpec
from stet_ls.validators.ast_text import try_parse_expression, unparse

_SECONDS = 2.0
"""Processor seconds that the search may take."""
_LIMITS = Limits(seconds=2 * _SECONDS)
"""Its start takes as long again on a busy machine."""
_FOUND = re.compile(r"^Given: \((.*)\),?$", re.MULTILINE)
_KNOWN = frozenset({
    "int", "float", "bool", "str", "bytes", "None", "list", "tuple", "set", "dict", "frozenset", "Optional", "Union",
    "List", "Tuple", "Set", "Dict", "FrozenSet", "Sequence", "Mapping", "Iterable", "Collection",
})  # fmt: skip
"""The words of hints for which it makes values that can be written down."""


@cache
def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("crosshair") is not None


async def solved_calls(runtime: Runtime, texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """A call on which the texts of a function may differ; none if the solver found none, or cannot be asked."""
    subject = await asyncio.to_thread(_askable, texts[0], unit) if is_installed() else None
    if subject is None or runtime.left() < _LIMITS.seconds:
        return ()
    before, after = [await asyncio.to_thread(isolated_unit, text, unit) for text in texts]
    if before is None or after is None:
        return ()
    options = (f"--per_condition_timeout={_SECONDS}", f"--per_path_timeout={_SECONDS / 4}")
    spec = RunSpec(
        (sys.executable, "-m", "crosshair", "diffbehavior", *options, f"before.{unit}", f"after.{unit}"),
        files={"before.py": before.encode(), "after.py": after.encode()},
        binds=mounts.interpreter(Path(sys.executable)),
        env={"PYTHONHASHSEED": "0", "PYTHONPATH": "."},
        limits=_LIMITS,
    )
    try:
        async with asyncio.timeout(_LIMITS.within(runtime.left()).wall):
            result = await runtime.sandbox.run(spec)
    except (TimeoutError, StetError, ValueError, OSError):
        return ()
    return tuple(_calls(result.stdout.decode("utf-8", "replace"), subject))


def _askable(text: str, unit: str) -> Subject | None:
    """The function, if hints that the solver knows say what it is called with."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None or subject.how != "function" or not isinstance(subject.node, ast.FunctionDef):
        return None
    hints = [each.annotation for each in subject.parameters]
    if not hints or any(each.name[0] == "*" for each in subject.parameters):
        return None
    words = {word for hint in hints for word in re.findall(r"\w+", unparse(hint) if hint is not None else "object")}
    return subject if words <= _KNOWN else None


def _calls(output: str, subject: Subject) -> Iterator[Call]:
    """The call that a report of the solver names, if its arguments are literals."""
    found = _FOUND.search(output)
    call = try_parse_expression(f"f({found[1]})") if found else None
    if call is None or not isinstance(call, ast.Call):
        return
    texts = {each.arg: unparse(each.value) for each in call.keywords if each.arg}
    row = {name: text for name, text in texts.items() if text == "None" or literal(text) is not None}
    if len(row) == len(texts) == len(call.keywords) + len(call.args):
        yield call_of(subject, {name: text_of(literal(text)) for name, text in row.items()}, "solved")
