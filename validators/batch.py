"""Many texts at once, with the verdicts that `syntax.check` and `lint.check` give one by one.

A process for each text costs more than the check itself: one ruff reads hundreds of files in the time of ten starts.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.validators import languages, lint, ruff, syntax
from stet_ls.validators.checkers import programs, python
from stet_ls.validators.checkers.table import checkers
from stet_ls.validators.findings import Finding, Status, Verdict
from stet_ls.validators.process import run_tool
from stet_ls.validators.source import Source
from stet_ls.validators.toolbox import BUILT_IN, Role, Toolbox

_PYTHON = "python"
_EACH = 0.1  # seconds of ruff's time for each text, on top of the deadline of one: a hundred times what it takes
_OUTPUT = 200_000_000


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be judged, as `syntax.check` takes it."""

    source: Source
    language: str
    path: Path | None = None


def check(texts: Sequence[Text], *, deadline: float = 1.0, tools: Toolbox = BUILT_IN) -> list[Verdict]:
    """The verdict on each text, as `syntax.check` would give it. `deadline` is that of one text, in seconds."""
    answered = _ask_ruff(ruff.SYNTAX, texts, Role.SYNTAX, deadline, tools)
    return [
        _python(text, answered[index], deadline)
        if index in answered
        else syntax.check(text.source, text.language, path=text.path, deadline=deadline, tools=tools)
        for index, text in enumerate(texts)
    ]


def check_lint(
    texts: Sequence[Text], *, deadline: float = 2.0, tools: Toolbox = BUILT_IN
) -> list[tuple[Finding, ...] | None]:
    """What `lint.check` would say about each text."""
    answered = _ask_ruff(ruff.LINT, texts, Role.LINT, deadline, tools)
    return [
        answered[index]
        if index in answered
        else lint.check(text.source, text.language, path=text.path, deadline=deadline, tools=tools)
        for index, text in enumerate(texts)
    ]


def _python(text: Text, found: tuple[Finding, ...], deadline: float) -> Verdict:
    status = Status.ERROR if found else Status.OK
    native = Verdict(status, _PYTHON, found, "ruff", authoritative=True)
    return syntax.conclude(native, text.source, _PYTHON, deadline)


def _ask_ruff(
    question: ruff.Question, texts: Sequence[Text], role: Role, deadline: float, tools: Toolbox
) -> dict[int, tuple[Finding, ...]]:
    """Ruff's findings by the text's index: of the Python texts, unless a tool of the user's comes before ruff."""
    asked = checkers(_PYTHON, role, tools)
    if not asked or asked[0].check not in (python.syntax, python.lint):
        return {}
    projects: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        row = languages.language(text.language)
        if row is not None and row.id == _PYTHON:
            projects[ruff.project_options(text.path)].append(index)
    answered: dict[int, tuple[Finding, ...]] = {}
    for options, members in projects.items():
        if len(members) > 1:  # a single one goes the common way, without files
            items = _run(question, options, {index: texts[index] for index in members}, deadline, tools)
            answered |= {index: ruff.findings(texts[index].source, found, question) for index, found in items.items()}
    return answered


def _run(
    question: ruff.Question, options: Sequence[str], texts: Mapping[int, Text], deadline: float, tools: Toolbox
) -> dict[int, list[Mapping[str, Any]]]:
    """What ruff writes about texts of one project, by their keys; nothing if it did not get to its end.

    It reads private copies: a file may change meanwhile, and no name can be taken for an option.
    """
    argv = ruff.command(question, options)
    program = programs.find(argv[0], tools, name="ruff", path=None) if argv else None
    if argv is None or program is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="stet-check-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for key, text in texts.items():
            place = folder / str(key)
            place.mkdir()
            (place / ruff.file_name(text.path)).write_bytes(ruff.file_text(text.source))
        result = run_tool(
            [str(program.path), *argv[1:], "--no-respect-gitignore", name],
            deadline=deadline + _EACH * len(texts),
            limit=_OUTPUT,
        )
    found = ruff.answer(result)
    if found is None:
        return {}
    items: dict[int, list[Mapping[str, Any]]] = {key: [] for key in texts}
    for item in found:
        items[int(Path(item["filename"]).parent.name)].append(item)
    return items
