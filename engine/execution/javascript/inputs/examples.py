"""Finds written calls: in doc comments, in the file itself, in its tests."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.javascript.inputs.brackets import end_of_brackets
from stet_ls.engine.execution.javascript.inputs.subject import Module, Subject
from stet_ls.engine.execution.javascript.inputs.values.conversion import row_text, source, unchanged_row_text
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import descendants, part_of, text_of
from stet_ls.validators.containment import is_inside
from stet_ls.validators.languages import language_of
from stet_ls.validators.project_files import read_text
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import captures, tree_of

if TYPE_CHECKING:
    import tree_sitter

_MOST_ROWS = 60
_MOST_CALLS = 400
_MOST_TEXT = 300_000
_MOST_REPLY = 20_000
_CALLS = frozenset({"call_expression", "new_expression"})
_ENDINGS = ("test.{}", "spec.{}")
_EXTENSIONS = ("js", "mjs", "cjs", "jsx", "ts", "mts", "tsx")

TestText = tuple[str, str]
"""The text of a test file and its language."""


def rows_for(module: Module, subject: Subject, tests: tuple[TestText, ...] = ()) -> list[ArgumentRow]:
    """Arguments with which the subject is called in its documentation, its file, and the texts of its tests."""
    found: list[ArgumentRow] = []
    calls = (_row(call, subject, module, values) for call, values in _calls(module, subject, tests))
    for row in itertools.chain(calls, _labeled(subject)):
        if row is not None and row not in found:
            found.append(row)
        if len(found) >= _MOST_ROWS:
            break
    return found


def rows_in(reply: str, module: Module, subject: Subject) -> list[ArgumentRow]:
    """Arguments with which a model's reply calls the subject: of a stranger's text only literals are read."""
    found: list[ArgumentRow] = []
    for call in _in_prose(reply[:_MOST_REPLY], re.escape(subject.callee)):
        row = _row(call, subject, module, {})
        if (
            row is not None
            and row not in found
            and all(literal(text) is not None or text == "None" for text in row.values())
        ):
            found.append(row)
    return found


def test_texts(path: Path | None, root: Path | None) -> tuple[TestText, ...]:
    """The test files of a module, by their usual names and places."""
    if path is None or root is None:
        return ()
    names = [f"{path.stem}.{ending.format(each)}" for ending in _ENDINGS for each in _EXTENSIONS]
    folders = [path.parent, path.parent / "__tests__", path.parent / "tests", path.parent / "test",
               root / "tests", root / "test", root / "__tests__", root]  # fmt: skip
    found: list[TestText] = []
    for file in dict.fromkeys(folder / name for folder in folders for name in names):
        if is_inside(file, root) and (text := read_text(file, most=_MOST_TEXT)) is not None:
            found.append((text, language_of(file) or "javascript"))
    return tuple(found)


def _calls(
    module: Module, subject: Subject, tests: tuple[TestText, ...]
) -> Iterator[tuple[tree_sitter.Node, dict[str, str]]]:
    prose = "\n".join(text_of(each) for each in captures(module.parsed, frozenset({"comment"})))
    for text, name in ((subject.doc, subject.callee), (prose, subject.callee), (subject.doc, r"[A-Za-z_$][\w$]*")):
        yield from ((call, {}) for call in _in_prose(text, name if "[" in name else re.escape(name)))
    yield from _in_code(module.parsed.root, subject.callee, captures(module.parsed, _CALLS))
    for test, language in tests:
        parsed = tree_of(Source(test), "typescript" if language == "typescript" else "typescriptreact")
        if parsed is not None:
            yield from _in_code(parsed.root, subject.callee, captures(parsed, _CALLS))


def _in_code(
    root: tree_sitter.Node, name: str, calls: list[tree_sitter.Node]
) -> Iterator[tuple[tree_sitter.Node, dict[str, str]]]:
    values: dict[str, str] | None = None
    for node in calls:
        if re.split(r"[.\s]", text_of(part_of(node, "function", "constructor")))[-1] == name:
            values = _constants(root) if values is None else values
            yield node, values


def _constants(root: tree_sitter.Node) -> dict[str, str]:
    """The literals that names in a test file refer to."""
    found: dict[str, str] = {}
    for each in descendants(root):
        if each.type == "variable_declarator":
            name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
            if name is not None and value is not None and (text := row_text(value)) is not None:
                found[text_of(name)] = text
    return found


def _in_prose(text: str, name: str) -> Iterator[tree_sitter.Node]:
    """Calls written anywhere in a comment: `>>> f(1)`, `f(1) => 2`, "for example f(1) returns 2"."""
    for match in list(re.finditer(rf"(?<![\w$.]){name}\s*\(", text))[:_MOST_CALLS]:
        end = end_of_brackets(text, match.end())
        if end is None:
            continue
        words = re.sub(r"^[ \t]*\* ?", "", text[match.start() : end], flags=re.MULTILINE)
        parsed = tree_of(Source(words), "typescript")
        if parsed is None or parsed.root.has_error:
            continue
        yield from captures(parsed, frozenset({"call_expression"}))[:1]


def _labeled(subject: Subject) -> Iterator[ArgumentRow]:
    """Values that follow the parameters' names: `k = 3`, `grid : [[1, 2], [3, 4]]`."""
    columns: dict[str, list[str]] = {}
    for parameter in subject.parameters:
        for match in re.finditer(rf"(?<![\w$.]){re.escape(parameter.name)}\s*[:=]\s*(?=[-\[{{\"'\d])", subject.doc):
            text = _literal(subject.doc, match.end())
            if text is not None:
                columns.setdefault(parameter.name, []).append(text)
    if subject.parameters and len(columns) == len(subject.parameters):
        for values in zip(*columns.values(), strict=False):
            yield dict(zip(columns, values, strict=True))


def _literal(text: str, start: int) -> str | None:
    """The literal that begins at a position, as a row holds it."""
    opens = text[start]
    end = end_of_brackets(text, start + 1) if opens in "[{" else None
    match = re.match(r"-?\d[\d.]*|\"[^\"\n]*\"|'[^'\n]*'", text[start : start + 200])
    words = text[start:end] if end else match[0].rstrip(".") if match else ""
    parsed = tree_of(Source(f"({words})"), "typescript") if words else None
    if parsed is None or parsed.root.has_error:
        return None
    return row_text(parsed.root.named_children[0].named_children[0])


def _row(call: tree_sitter.Node, subject: Subject, module: Module, values: dict[str, str]) -> ArgumentRow | None:
    """The arguments by the parameters' names; None if they do not fit."""
    listed = call.child_by_field_name("arguments")
    if listed is None or listed.type != "arguments":
        return None
    texts: list[str] = []
    for each in listed.named_children:
        if each.type == "comment":
            continue
        text = values.get(text_of(each)) if each.type == "identifier" else row_text(each, module.classes)
        text = text or row_text(each, module.classes)
        if text is None:
            return None
        texts.append(text)
    given = subject.parameters
    row: ArgumentRow = {}
    for number, parameter in enumerate(given):
        if parameter.rest:
            row[parameter.name] = unchanged_row_text("[" + ", ".join(map(source, texts[number:])) + "]")
        elif number < len(texts):
            row[parameter.name] = texts[number]
        elif not parameter.optional:
            return None
    return row if row and (len(texts) <= len(given) or given[-1].rest) else None
