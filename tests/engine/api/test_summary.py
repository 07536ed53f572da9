"""An answer's sentence is made of its parts, in one place, and nothing reads it back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet_ls.engine.api import summary as renderer
from stet_ls.engine.api.answer import ANSWER_SCHEMA, Answer
from stet_ls.engine.api.evidence import Attachment, Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.api.json_schema import Schema
from stet_ls.engine.api.metadata import MemoryHit, Metadata, TokenCounts
from stet_ls.engine.api.summary import Caution, Summary, render

SYNTAX = Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok")
CHANGED = Evidence(Check.NOOP, Ruling.PASS, "2 lines changed")
NO_EXAMPLES = Evidence(Check.DOCTEST, Ruling.SKIPPED, "no examples")
NOT_RUN = Evidence(Check.TESTS, Ruling.SKIPPED, "no code ran")
FAILS = Evidence(Check.TESTS, Ruling.FAIL, "test_add fails")
RUDE = Evidence(Check.CUSTOM, Ruling.FAIL, "no greeting", name="greet.polite")
DIFFERS = Evidence(Check.DIFFERENTIAL, Ruling.FAIL, "add(1, 2) gives -1, not 3")
MEMORY = Metadata(memory=(MemoryHit("1", 0.9, "from `a.py`, kept 1 time"),))

SUMMARIES: tuple[tuple[Summary, tuple[Evidence, ...], Metadata, str], ...] = (
    (Summary(problem="Refactor: no edit, it broke off."), (SYNTAX,), MEMORY, "Refactor: no edit, it broke off."),
    (Summary("Explained", "`add`"), (), Metadata(), "Explained `add`"),
    (Summary("Refactored"), (), Metadata(), "Refactored"),
    (Summary("Refactored", "`add`", gains=("3 → 2 lines",)), (SYNTAX, CHANGED, NO_EXAMPLES, NOT_RUN), Metadata(),
     "Refactored `add` · 3 → 2 lines · syntax ok · tests not run"),
    (Summary("Wrote tests for", "`add`", "test_a.py", notes=("1 shown separately",)), (SYNTAX,), Metadata(),
     "Wrote tests for `add` in test_a.py · syntax ok · 1 shown separately"),
    (Summary("Did 2 steps", new_files=("a.py", "b.py")), (SYNTAX,), Metadata(),
     "New files a.py, b.py · Did 2 steps · syntax ok"),
    (Summary("Tried to refactor", "`add`", caution=Caution.NOT_EQUIVALENT), (SYNTAX, DIFFERS), Metadata(),
     "NOT EQUIVALENT · Tried to refactor `add` · differential FAILED: add(1, 2) gives -1, not 3 · syntax ok"),
    (Summary("Greet:", "`add`"), (SYNTAX, RUDE, FAILS), Metadata(),
     "Greet: `add` · greet.polite FAILED: no greeting · tests FAILED: test_add fails · syntax ok"),
    (Summary("Generated", "`add`"), (SYNTAX,), MEMORY,
     "Generated `add` · syntax ok · remembered: from `a.py`, kept 1 time"),
    (Summary("Generated", "`add`", recalled="from memory, kept 1 time, its tests pass"), (SYNTAX,), MEMORY,
     "Generated `add` · from memory, kept 1 time, its tests pass · syntax ok"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("summary", "evidence", "metadata", "sentence"), SUMMARIES, ids=[row[-1][:30] for row in SUMMARIES]
)
def test_the_summary_names_its_parts(
    summary: Summary, evidence: tuple[Evidence, ...], metadata: Metadata, sentence: str
) -> None:
    assert render(summary, evidence, metadata) == sentence
    assert Answer(True, "refactor", "python", summary, evidence=evidence, metadata=metadata).message == sentence


# On the wire ----------------------------------------------------------------------------------------------------------

WHOLE = Metadata(
    "qwen", "local", "0123456789ab", TokenCounts(70, 20, 5), None, 1, 1, MEMORY.memory, 1.23456, {"model": 0.98765},
    EvidenceTier.TESTED, "qwen", reasons=("4 doctests pass", "names resolve"), steps=("refactor a.py",),
)  # fmt: skip


def test_metadata_fields_are_serialized() -> None:
    assert WHOLE.to_json() == {
        "model": "qwen",
        "endpoint": "local",
        "tokens": {"prompt": 70, "completion": 20, "cached": 5},
        "cost": None,
        "calls": 1,
        "memory_hits": 1,
        "stages": {"model": 0.988},
        "seconds": 1.235,
        "trace": "0123456789ab",
        "show_trace": "stet trace show 0123456789ab",
        "calibration": "qwen",
        "confidence_reason": "4 doctests pass; names resolve",
        "evidence_tier": "tested",
        "steps": ["refactor a.py"],
        "memory": [{"id": "1", "score": 0.9, "provenance": "from `a.py`, kept 1 time"}],
    }


def test_fields_that_do_not_apply_are_left_out() -> None:
    assert set(WHOLE.to_json()) - set(Metadata().to_json()) == {
        "calibration", "confidence_reason", "evidence_tier", "steps", "memory",
    }  # fmt: skip


def test_the_schema_names_the_fields_that_answers_have() -> None:
    file = Attachment("a.txt", "plaintext", "x")
    evidence = Evidence(Check.TESTS, Ruling.PASS, "1 test passes", attachments=(file,))
    data = Answer(True, "refactor", "python", Summary("Refactored"), evidence=(evidence,), metadata=WHOLE).to_json()
    assert list(_unnamed(ANSWER_SCHEMA, data)) == []
    assert list(_unnamed(ANSWER_SCHEMA, {**data, "odd": 1})) == ["odd"]
    assert set(ANSWER_SCHEMA["properties"]) == set(data)


def _unnamed(schema: Schema, data: object) -> Iterator[str]:
    """The fields of some data, however deep, that its schema does not know."""
    if isinstance(data, list):
        for each in data:
            yield from _unnamed(schema["items"], each)
    elif isinstance(data, dict) and "properties" in schema:
        for name, value in data.items():
            if name in schema["properties"]:
                yield from _unnamed(schema["properties"][name], value)
            else:
                yield name


@pytest.mark.parametrize(
    ("item", "title"), [(SYNTAX, "syntax"), (CHANGED, "change"), (FAILS, "tests"), (RUDE, "greet.polite")]
)
def test_evidence_is_deserialized_with_its_name(item: Evidence, title: str) -> None:
    back = Evidence.from_json(item.to_json())
    assert (back.check, back.name, back.verdict, back.detail) == (item.check, item.name, item.verdict, item.detail)
    assert (back.title, back.label) == (title, item.label)


# Nothing reads it back ------------------------------------------------------------------------------------------------

PRODUCT = Path(renderer.__file__).parents[2]
READING = frozenset(
    {"split", "rsplit", "splitlines", "partition", "rpartition", "find", "rfind", "index", "rindex", "count", "replace",
     "startswith", "endswith", "removeprefix", "removesuffix"}
)  # fmt: skip


def readers(code: str) -> list[int]:
    """The lines of code that look into an answer's message or into a detail of its evidence."""

    def is_sentence(node: ast.expr) -> bool:
        """`answer.message` and `item.detail`, by the names that all of the code gives to answers and evidence."""
        if not isinstance(node, ast.Attribute) or node.attr not in ("message", "detail"):
            return False
        owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        names = ("answer",) if node.attr == "message" else ("evidence", "item")
        return owner.lower().endswith(names)

    found = []
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in READING and is_sentence(value):
                found.append(node.lineno)
            case ast.Call(func=ast.Attribute(attr=attr), args=args) if attr in (
                "search",
                "match",
                "fullmatch",
                "findall",
                "finditer",
                "sub",
            ) and any(map(is_sentence, args)):
                found.append(node.lineno)
            case ast.Compare(ops=ops, comparators=right) if any(
                isinstance(op, ast.In | ast.NotIn) and is_sentence(each) for op, each in zip(ops, right, strict=True)
            ):
                found.append(node.lineno)
            case ast.Subscript(value=value) if is_sentence(value):
                found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "code",
    [
        'answer.message.split(" · ")',
        'job.answer.message.partition(" · ")[0]',
        'x = "remembered" in answer.message',
        "answer.message[:2]",
        'item.detail.startswith("syntax")',
        'evidence.detail.partition(": ")',
        "_CLOCK.search(answer.message)",
    ],
)
def test_code_that_parses_a_summary_is_found(code: str) -> None:
    assert readers(code) == [1]


def test_no_code_parses_a_summary() -> None:
    files = [file for folder in ("engine", "server") for file in (PRODUCT / folder).rglob("*.py")]
    assert len(files) > 300
    found = {str(file): lines for file in files if (lines := readers(file.read_text("utf-8")))}
    assert found == {}, "what two places need is a field"
