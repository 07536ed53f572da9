"""Many texts at once, with the results that `syntax.check` and `lint.check` give one by one.

A process per text costs more than the check itself: one ruff reads hundreds of files in the time of ten starts, and a
JVM takes as long to start as to read a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from stet_ls.validators import languages, lint, syntax
from stet_ls.validators.checkers import batch_tools
from stet_ls.validators.checkers.batch_tools import Answers, CheckedText, NumberedTexts
from stet_ls.validators.checkers.checker_request import CheckFunction
from stet_ls.validators.checkers.table import SLOW, Checker, checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.checkers.tools import java, python, ruff
from stet_ls.validators.findings import Finding, Status, SyntaxResult

__all__ = ["CheckedText", "check", "check_lint", "reads_many"]

_TOGETHER: Mapping[CheckFunction, Callable[[NumberedTexts, float, Toolbox], Answers]] = {
    python.syntax: partial(batch_tools.by_ruff, ruff.SYNTAX),
    python.lint: partial(batch_tools.by_ruff, ruff.LINT),
    java.javac: batch_tools.javac,
}
"""The batch function for each function that checks one text."""


def check(
    texts: Sequence[CheckedText], *, deadline: float = syntax.THOROUGH, tools: Toolbox = BUILT_IN
) -> list[SyntaxResult]:
    """The result on each text, as `syntax.check` would give it. `deadline` is that of one text, in seconds."""
    answered = _ask(Role.SYNTAX, texts, deadline, tools)
    return [
        _verdict(text, *answered[index], deadline)
        if index in answered
        else syntax.check(text.source, text.language, path=text.path, deadline=deadline, tools=tools)
        for index, text in enumerate(texts)
    ]


def reads_many(language: str) -> bool:
    """True if the best checker of a language reads many texts in one start."""
    best = next(iter(checkers(language, Role.SYNTAX)), None)
    return best is not None and best.check in _TOGETHER


def check_lint(
    texts: Sequence[CheckedText], *, deadline: float = 5.0, tools: Toolbox = BUILT_IN
) -> list[tuple[Finding, ...] | None]:
    """The result of `lint.check` for each text."""
    answered = _ask(Role.LINT, texts, deadline, tools)
    return [
        answered[index][1]
        if index in answered
        else lint.check(text.source, text.language, path=text.path, deadline=deadline, tools=tools)
        for index, text in enumerate(texts)
    ]


def _verdict(text: CheckedText, checker: Checker, found: tuple[Finding, ...], deadline: float) -> SyntaxResult:
    status = Status.ERROR if found else Status.OK
    name = languages.id_of(text.language)
    native = SyntaxResult(status, name, found, checker.name, authoritative=checker.authoritative)
    return syntax.conclude(native, text.source, text.language, deadline)


def _ask(
    role: Role, texts: Sequence[CheckedText], deadline: float, tools: Toolbox
) -> dict[int, tuple[Checker, tuple[Finding, ...]]]:
    """The results of tools that read many texts in one start, by the text's index, if such a tool is the best one."""
    chosen: dict[str, tuple[Checker, dict[int, CheckedText]]] = {}
    for index, text in enumerate(texts):
        best, *others = checkers(text.language, role, tools) or (None,)
        if best is None or best.check not in _TOGETHER or (best.slow and deadline < SLOW):
            continue
        if role is Role.SYNTAX or all(set(best.covers) & set(other.covers) for other in others if other):
            chosen.setdefault(best.name, (best, {}))[1][index] = text
    return {
        index: (best, found)
        for best, members in chosen.values()
        for index, found in _TOGETHER[best.check](members, deadline, tools).items()
    }
