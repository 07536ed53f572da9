"""How often a fault is seen, and how near: measured on the corpus of small faults, against the languages' own parsers.

The truth is on record (corpus/truth.py wrote it), so these tests need no tool for it. The grammar alone is measured on
every mutant; the native layer on every `_STRIDE`-th, or on all of them with CORPUS=all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from support.corpora.corpus import Mutant, digest, mutants, samples

from stet_ls.validators import batch, syntax
from stet_ls.validators.batch import CheckedText
from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.source import Source

TRUTH = json.loads((Path(__file__).parent / "corpus" / "truth.json").read_text())
NEAR = 2
_STRIDE = {"cpp": 6, "javascript": 3, "typescript": 4, "go": 3, "rust": 4}


@dataclass(frozen=True)
class Floor:
    """Percent of the rejected mutants that are found, percent of these within two lines, wrong alarms at most."""

    detected: float
    near: float
    alarms: int


# Wrong alarms are on mutants that a parser takes by luck. TypeScript's five are errors that its checker tells
# (`export export`); the others: `W: >` in Rust, `(, b) ->` which javac's parser alone lets pass, a ternary as a
# statement in C#, code in the branch of an `#ifdef` that is not taken in C++.
GRAMMAR = {
    "python": Floor(95, 97, 0),
    "javascript": Floor(97, 96, 0),
    "typescript": Floor(98, 97, 5),
    "go": Floor(99, 97, 0),
    "rust": Floor(98, 96, 1),
    "java": Floor(97, 95, 1),
    "csharp": Floor(96, 97, 1),
    "cpp": Floor(80, 95, 2),  # of those that it does not find the most are faults of types
}
NATIVE = {
    "python": Floor(99, 97, 0),
    "javascript": Floor(99, 93, 0),
    "typescript": Floor(99, 93, 5),
    "go": Floor(99, 97, 0),
    "rust": Floor(97, 93, 0),
    "java": Floor(99, 95, 0),
    "cpp": Floor(84, 90, 0),  # names that no one declared are no faults of syntax
}
"""C# is not here: there is no parser of it to be had, so that the grammar with our own checks is all of its layers."""


@dataclass(frozen=True)
class Seen:
    mutant: Mutant
    is_rejected: bool
    verdict: SyntaxResult

    @property
    def is_found(self) -> bool:
        return self.verdict.status is Status.ERROR

    @property
    def is_near(self) -> bool:
        return self.is_found and abs(self.verdict.findings[0].line - self.mutant.line) <= NEAR


def language_id(file: str) -> str:
    return file.partition("/")[0]


def is_rejected(language: str, mutant: Mutant) -> bool:
    return bool(TRUTH[language]["files"][mutant.file][mutant.kind][mutant.number] == "r")


@cache
def by_grammar(language: str) -> tuple[Seen, ...]:
    return tuple(
        Seen(mutant, is_rejected(language, mutant), check_fast(mutant.text, mutant.file))
        for mutant in mutants(language)
    )


def check_fast(text: str, file: str) -> SyntaxResult:
    return syntax.check_fast(Source(text), language_id(file), deadline=20)


def by_native(language: str) -> tuple[Seen, ...]:
    stride = 1 if os.environ.get("CORPUS") == "all" else _STRIDE.get(language, 1)
    chosen = [mutant for number, mutant in enumerate(mutants(language)) if number % stride == 0]
    texts = [CheckedText(Source(mutant.text), language_id(mutant.file), Path(mutant.file)) for mutant in chosen]
    verdicts = batch.check(texts, deadline=30)
    seen = [
        Seen(mutant, is_rejected(language, mutant), verdict) for mutant, verdict in zip(chosen, verdicts, strict=True)
    ]
    # On a busy machine a compiler may be too late: then the grammar answered, and that is measured above.
    answered = tuple(one for one in seen if one.verdict.authoritative)
    assert len(answered) > len(seen) // 2
    return answered


def hold(floor: Floor, seen: Sequence[Seen]) -> None:
    rejected = [one for one in seen if one.is_rejected]
    found = [one for one in rejected if one.is_found]
    missed = [one.mutant.name for one in rejected if not one.is_found]
    far = [one.mutant.name for one in found if not one.is_near]
    alarms = [one.mutant.name for one in seen if one.is_found and not one.is_rejected]
    assert len(found) >= floor.detected / 100 * len(rejected), missed
    assert len(found) - len(far) >= floor.near / 100 * len(found), far
    assert len(alarms) <= floor.alarms, alarms


@pytest.mark.parametrize("language", GRAMMAR)
def test_the_truth_is_about_these_mutants(language: str) -> None:
    """After a change of a sample or a mutation the parsers have to run again: corpus/truth.py."""
    assert digest([mutant.text for mutant in mutants(language)]) == TRUTH[language]["digest"]


@pytest.mark.parametrize("language", GRAMMAR)
def test_whole_files_raise_no_alarm(language: str) -> None:
    for file, text in samples(language):
        seen = check_fast(text, file)
        assert (file, seen.status, seen.findings) == (file, Status.OK, ())
        judged = syntax.check(Source(text), language_id(file), path=Path(file), deadline=30)
        assert (file, judged.status, judged.findings) == (file, Status.OK, ())


@pytest.mark.parametrize("language", GRAMMAR)
def test_the_grammar_alone_finds_faults_and_their_place(language: str) -> None:
    hold(GRAMMAR[language], by_grammar(language))


@pytest.mark.parametrize("language", NATIVE)
def test_with_the_native_layer(language: str) -> None:
    file, text = next(samples(language))
    judge = syntax.check(Source(text), language_id(file), path=Path(file), deadline=30)
    if not judge.authoritative:
        pytest.skip(f"this machine has no tool that judges {language}")
    hold(NATIVE[language], by_native(language))


@pytest.mark.parametrize("language", GRAMMAR)
def test_findings_tell_places_of_the_text(language: str) -> None:
    for one in by_grammar(language):
        source = Source(one.mutant.text)
        for finding in one.verdict.findings:
            places = [finding.span, *(related.span for related in finding.related)]
            assert all(source.whole.contains(place) for place in places), one.mutant.name
            assert finding.line == source.line_of(finding.span.start), one.mutant.name
            assert finding.message
            assert finding.signature


@pytest.mark.parametrize("language", GRAMMAR)
def test_a_fault_that_was_there_is_not_new_where_it_moved(language: str) -> None:
    """An edit elsewhere, in a text that was broken before."""
    note = "# a note\n" if language == "python" else "// a note\n"
    broken = [one for one in by_grammar(language) if one.is_found][::3]
    moved = [(one, check_fast(note + one.mutant.text, one.mutant.file)) for one in broken]
    blamed = [one.mutant.name for one, after in moved if syntax.broken_by(one.verdict, after)]
    assert len(blamed) <= len(broken) // 30, blamed


@pytest.mark.parametrize("language", GRAMMAR)
def test_a_second_fault_is_new_in_a_broken_text(language: str) -> None:
    pairs = list(two_faults(language))
    lost = [names for names, before, after in pairs if not syntax.broken_by(before, after)]
    assert len(pairs) >= 15
    assert len(lost) <= len(pairs) // 10, lost


def two_faults(language: str) -> Iterator[tuple[str, SyntaxResult, SyntaxResult]]:
    """The verdicts on a text with one fault, and on the same with a second one far from it."""
    whole = dict(samples(language))
    found = [one for one in by_grammar(language) if one.is_found and one.mutant.kind != "truncate"]
    for number, one in list(enumerate(found))[::2]:
        other = found[(number * 7 + 3) % len(found)]
        first, second = sorted((one.mutant.edit, other.mutant.edit))
        if other.mutant.file == one.mutant.file and first[1] < second[0] - 200:
            text = whole[one.mutant.file]
            both = text[: first[0]] + first[2] + text[first[1] : second[0]] + second[2] + text[second[1] :]
            yield f"{one.mutant.name} + {other.mutant.name}", one.verdict, check_fast(both, one.mutant.file)
