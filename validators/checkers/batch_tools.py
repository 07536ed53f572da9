"""Tools that read many texts in one start, with the same findings as for each text alone.

Each function takes texts by the caller's keys and answers by them; a text that is missing in the result has to be
checked alone. The tools read private copies: a file may change in the meantime, and no name can be taken for an option.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.output_parsing import distinct, finding
from stet_ls.validators.checkers.tool_process import PRIVATE, ToolResult, run_tool
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.checkers.tools import java, ruff
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source

_EACH = 0.1  # seconds per text, in addition to the deadline of one: several times what any of these tools takes
_OUTPUT = 200_000_000


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text to be judged, as `syntax.check` takes it."""

    source: Source
    language: str
    path: Path | None = None


NumberedTexts = Mapping[int, CheckedText]
Answers = Mapping[int, tuple[Finding, ...]]


def by_ruff(question: ruff.RuleSelection, texts: NumberedTexts, deadline: float, tools: Toolbox) -> Answers:
    """One start per project: its Python version and line length are options of the whole run."""
    projects: defaultdict[tuple[str, ...], dict[int, CheckedText]] = defaultdict(dict)
    for key, text in texts.items():
        projects[ruff.project_options(text.path)][key] = text
    answers: dict[int, tuple[Finding, ...]] = {}
    for options, members in projects.items():
        argv = ruff.command(question, options)
        program = programs.find(argv[0], tools, name="ruff", path=None) if argv else None
        if argv is None or program is None or len(members) < 2:  # a single text needs no files
            continue
        files = {
            f"{key}{Path(ruff.file_name(text.path)).suffix}": ruff.file_text(text.source)
            for key, text in members.items()
        }
        argv = [str(program.path), *argv[1:], "--no-respect-gitignore", PRIVATE]
        found = ruff.answer(_run(argv, files, deadline, tools))
        if found is None:
            continue
        items: dict[int, list[Mapping[str, Any]]] = {key: [] for key in members}
        for item in found:
            items[int(Path(item["filename"]).stem)].append(item)
        answers |= {key: ruff.findings(members[key].source, each, question) for key, each in items.items()}
    return answers


_JAVA_ERROR = re.compile(rf"^.*?/(\d+){java.ERROR}", re.MULTILINE)


def javac(texts: NumberedTexts, deadline: float, tools: Toolbox) -> Answers:
    """The errors of the compiler's parser: half a second to start a JVM, a few milliseconds per text."""
    texts = {key: text for key, text in texts.items() if not java.is_module(text.path)}
    program = programs.find("javac", tools, name="javac", path=None)
    if program is None or len(texts) < 2:
        return {}
    files = {f"{key}.java": java.file_text(text.source) for key, text in texts.items()}
    argv = [str(program.path), *java.ARGUMENTS, "-Xmaxerrs", "1000000", *(f"{PRIVATE}/{name}" for name in files)]
    result = _run(argv, files, deadline, tools)
    found: dict[int, list[Finding]] = {key: [] for key in texts}
    for match in _JAVA_ERROR.finditer(result.stderr.decode("utf-8", "replace")):
        key, line, message, indent = int(match[1]), int(match[2]), match[3], match[4] or ""
        found[key].append(finding(texts[key].source, message, line, len(indent) + 1, "javac", encoding="utf-16"))
    if result.status != 0 and not any(found.values()):
        return {}  # it failed, but not on the syntax
    return {key: distinct(each) for key, each in found.items()}


def _run(argv: Sequence[str], files: Mapping[str, bytes], deadline: float, tools: Toolbox) -> ToolResult:
    environment = {"PATH": programs.search_path(tools)}
    return run_tool(argv, files=files, deadline=deadline + _EACH * len(files), limit=_OUTPUT, environment=environment)
