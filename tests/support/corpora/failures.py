"""Failures with the class that a person gave them, kept as the text files that `sections` reads.

One file is one run. `%% asked.py` holds the stubs of what was asked for (`%% asked` in other languages: a name, the
least and the most arguments on a line), every other section is a file of the run. A label stands behind the line that
opens a test, `# -> logic of median: why`, or in a note for a whole file, `%% note: test_a.py -> test: why`:
the class, the unit that the test is about, the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from support.corpora import sections

from stet_ls.engine.diagnosis.code_facts import code_facts
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, Diagnosis
from stet_ls.engine.sandbox.environments.interpreter import Environment

FOLDER = Path(__file__).parents[2] / "fixtures" / "failures"
UNSEEN = FOLDER / "unseen"
"""Written before rules were corrected and not read since: what the table tells of failures it does not know."""
_LABEL = re.compile(r"-> (?P<cause>\w+)(?: of (?P<unit>\w+))?(?:: (?P<why>.*))?$")
_NAME = re.compile(r"""\b(?:def|func|fn) (\w+)|\b(?:test|it)\((['"])(.*?)\2""")
_TEST = re.compile(r"(^|/)test_\w+\.py$|_test\.(go|rs)$|\.test\.mjs$|Test\.java$")


@dataclass(frozen=True)
class Label:
    """One failure: `test` is the test's own name, or "" where the whole of `file` could not be run."""

    file: str
    test: str
    cause: Cause
    unit: str

    def of(self, diagnosis: Diagnosis) -> bool:
        """Whether a diagnosis is about this failure."""
        symptom = diagnosis.symptom
        if not self.test:
            return self.file in (symptom.file, symptom.test.partition("::")[0])
        return symptom.file == self.file and self.test == symptom.test.partition("[")[0].rpartition("::")[2]

    def __str__(self) -> str:
        return f"{self.file}::{self.test}" if self.test else self.file


@dataclass(frozen=True)
class LabeledRun:
    """One run: its files, what was asked for, and the failures to come."""

    name: str
    files: Mapping[str, str]
    asked: str
    labels: tuple[Label, ...]
    seconds: float | None

    @property
    def tests(self) -> tuple[str, ...]:
        """The test files."""
        return tuple(path for path in self.files if _TEST.search(path))

    def about(self, label: Label, language: str, environment: Environment | None) -> CodeFacts:
        """What is known when that failure is diagnosed."""
        solution = {path: text for path, text in self.files.items() if path not in self.tests}
        if language == "python":
            about = code_facts(self.asked, label.unit, environment=environment, texts=solution)
        else:
            rows = {name: (int(least), int(most)) for name, least, most in map(str.split, self.asked.splitlines())}
            about = CodeFacts(unit=label.unit, parameters=rows.get(label.unit), asked=frozenset(rows))
        return replace(
            about,
            solution=frozenset(solution),
            modules=frozenset(PurePosixPath(path).stem for path in self.files),
            texts=solution,
        )


def labeled_runs(runner: str, folder: Path = FOLDER) -> Iterator[LabeledRun]:
    """The runs of a runner, in the order of their names: those that rules were made by, or those in `UNSEEN`."""
    for path in sorted((folder / runner).glob("*.txt")):
        case = sections.read(path)
        asked = next(case.sections.pop(name) for name in ("asked.py", "asked") if name in case.sections)
        labels = [*map(_whole, case.notes)]
        labels += [label for file, text in case.sections.items() for label in _line_labels(file, text)]
        yield LabeledRun(
            f"{runner}/{path.stem}",
            {file: f"{text}\n" for file, text in case.sections.items()},
            asked,
            tuple(labels),
            float(case.keys["seconds"]) if "seconds" in case.keys else None,
        )


def _whole(note: str) -> Label:
    return _label(note.split(" ")[0], "", note)


def _line_labels(file: str, text: str) -> Iterator[Label]:
    for line in text.splitlines():
        if _LABEL.search(line) and (name := _NAME.search(line)) and re.search(r"(#|//) -> ", line):
            yield _label(file, name[1] or name[3], line)


def _label(file: str, test: str, line: str) -> Label:
    match = _LABEL.search(line)
    assert match, line
    return Label(file, test, Cause(match["cause"]), match["unit"] or "")
