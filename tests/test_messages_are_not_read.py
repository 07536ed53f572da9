"""Nothing reads data back out of a sentence of our own: what a caller decides on is a field."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SENTENCES = {"message", "problem", "detail", "reason", "sentence"}
READING = {"startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "split"}
SEARCHING = {"search", "match", "fullmatch", "findall", "finditer", "sub"}
LINES = {"\n"}
"""The first line of a text is a matter of layout."""
ALLOWED = {
    "engine/diagnosis": "what test runners and interpreters print",
    "engine/execution/harness_run.py": "Python's own error messages",
    "engine/execution/python/inputs/uses/observed.py": "Python's own error messages",
    "engine/judges/differential/excuses/excused_differences.py": "Python's own error messages",
    "engine/judges/types/judge.py": "what type checkers print",
    "engine/model/endpoint/request_quirks.py": "what endpoints answer",
    "engine/runners/control_tests.py": "what a test of ours prints in the sandbox",
    "server/diagnostics/live_syntax.py": "lines in the messages of any tool",
    "engine/verify/report.py": "a finding is the same on another line: numbers are left out of what identifies it",
    "validators/findings.py": "a finding is the same on another line: numbers are left out of what identifies it",
    "server/lsp/convert.py": "messages of any tool: an editor shows the line itself",
    "server/job_flow/apply_edit.py": "what an editor answers",
}


def test_no_sentence_of_ours_is_read_back() -> None:
    found = [f"{path}:{line}: {what}" for path, line, what in _readings() if not _reason(path)]
    assert found == [], "make what is read a field of its own, or say here whose text it is"


def test_each_exception_is_needed() -> None:
    read = [path for path, _, _ in _readings()]
    assert [each for each in ALLOWED if not any(path.startswith(each) for path in read)] == []


def test_a_planted_reading_is_found() -> None:
    planted = 'def f(found):\n    return found.message.startswith("not run")\n'
    assert [what for _, what in _reads(ast.parse(planted))] == ["message.startswith"]
    assert [what for _, what in _reads(ast.parse("_LINE.search(found.detail)"))] == ["search of detail"]


def _reason(path: str) -> str:
    return next((why for each, why in ALLOWED.items() if path.startswith(each)), "")


def _readings() -> Iterator[tuple[str, int, str]]:
    for room in ("engine", "server", "validators"):
        for file in sorted((ROOT / room).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            yield from ((file.relative_to(ROOT).as_posix(), line, what) for line, what in _reads(tree))


def _reads(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for each in ast.walk(tree):
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute):
            continue
        method, held = each.func.attr, each.func.value
        first = each.args[0] if each.args else None
        if method in READING and isinstance(held, ast.Attribute) and held.attr in SENTENCES:
            is_line = isinstance(first, ast.Constant) and first.value in LINES
            if first is not None and not is_line and not _is_line_end(first):
                yield each.lineno, f"{held.attr}.{method}"
        elif method in SEARCHING:
            texts = [arg for arg in each.args if isinstance(arg, ast.Attribute) and arg.attr in SENTENCES]
            yield from ((each.lineno, f"{method} of {arg.attr}") for arg in texts)


def _is_line_end(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "chr"
