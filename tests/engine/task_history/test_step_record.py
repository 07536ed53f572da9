"""The answer of a step is read back for the text that it was made for, and for no other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.api.answer import Answer, Edit, NewFile
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.execution_result import ExecutionResult, FileKind, ProducedFile
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.task_history.step_record import answer_of, row_of, taken_paths
from stet_ls.validators.source import Source, Span

PATH, NEW, PICTURE = Path("/w/a.py"), Path("/w/test_a.py"), Path("/w/plot.png")
TEXT = "x = 1\n"
ANSWER = Answer(
    True,
    "refactor",
    "python",
    Summary("Refactored", "`x`"),
    (Edit(PATH, Source(TEXT), Span(4, 5), "2"),),
    (NewFile(NEW, "import a\n"), NewFile(PICTURE, "", b"\x89PNG\r\n")),
    evidence=(Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok"),),
    warnings=("slow",),
    confidence=0.7,
    execution=ExecutionResult("ok", "5 rows", "", 0.1, 1),
    files=(ProducedFile(PICTURE, "plot.png", FileKind.IMAGE, 6, "5 x 4"),),
)


def test_an_answer_comes_back_from_its_row() -> None:
    row = json.loads(json.dumps(row_of(ANSWER)))
    found = answer_of(row, {PATH: TEXT}.get)
    assert found is not None
    assert found.message == ANSWER.message
    assert replace(found, edits=()) == replace(ANSWER, edits=())
    assert [(each.path, each.base.text, each.span, each.new_text) for each in found.edits] == [
        (PATH, TEXT, Span(4, 5), "2")
    ]


def test_an_answer_for_another_text_is_none() -> None:
    row = row_of(ANSWER)
    assert answer_of(row, {PATH: "x = 3\n"}.get) is None
    assert answer_of(row, {}.get) is None, "the file is gone"
    assert answer_of(row, {PATH: TEXT, NEW: ""}.get) is None, "the new file exists by now"


def test_what_a_user_took_already_is_known_by_the_texts() -> None:
    first = json.loads(json.dumps(row_of(ANSWER)))
    second = row_of(replace(ANSWER, edits=(Edit(PATH, Source("x = 2\n"), Span(4, 5), "3"),), new_files=()))
    rows = {1: first, 2: second}
    picture = b"\x89PNG\r\n".decode("utf-8", "replace")
    assert taken_paths(rows, {PATH: TEXT}.get) == {1: frozenset(), 2: frozenset()}
    assert taken_paths(rows, {PATH: "x = 2\n", PICTURE: picture}.get) == {1: {PATH, PICTURE}, 2: frozenset()}
    after = {PATH: "x = 3\n", NEW: "import a\n", PICTURE: picture}
    taken = taken_paths(rows, after.get)
    assert taken == {1: {PATH, NEW, PICTURE}, 2: {PATH}}
    found = answer_of(first, after.get, taken[1])
    assert found is not None
    assert not found.edits
    assert not found.new_files
    assert found.message == ANSWER.message
