"""Evidence, and the checks that produce it, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar

from stet_ls.engine.api.json_schema import COUNT, FLAG, NUMBER, TEXT, Schema, array, table


class Check(StrEnum):
    """The names of the checks, as in evidence. CUSTOM: a check of a package, whose name is in the evidence."""

    NOOP = "noop"
    SYNTAX = "syntax"
    DANGER = "danger"
    DEFINITIONS = "definitions"
    NAMES = "names"
    SIGNATURE = "signature"
    LINT = "lint"
    TYPES = "types"
    COMMENTS = "comments"
    DOCTEST = "doctest"
    TESTS = "tests"
    DIFFERENTIAL = "differential"
    TIMING = "timing"
    MUTANTS = "mutants"
    AGREEMENT = "agreement"
    REPRODUCED = "reproduced"
    SEARCH = "search"
    EFFECT = "effect"
    EXECUTION = "execution"
    REVIEW = "review"
    CUSTOM = "custom"


class Ruling(StrEnum):
    """The verdict of a judge. SKIPPED: it did not run or does not apply. UNKNOWN: it ran and could not decide."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


WORST_FIRST = (Ruling.FAIL, Ruling.UNKNOWN, Ruling.SKIPPED, Ruling.PASS)
"""The order in which one ruling stands for several."""


class EvidenceTier(StrEnum):
    """How much the evidence proves, the weakest first. Records of earlier versions call the tiers E0 to E5."""

    UNCHECKED = "unchecked"
    """Nothing was checked, or the reply is incomplete."""
    PARSED = "parsed"
    """It parses and its names resolve; it was not run."""
    SELF_TESTED = "self-tested"
    """Tests or examples of the model pass; or examples of the user do, but other evidence contradicts them."""
    COMPARED = "compared"
    """Several samples agree; or old and new code do on few inputs, or on part of the change."""
    EQUIVALENT = "equivalent"
    """Old and new code behave the same on many valid inputs."""
    TESTED = "tested"
    """Tests or examples of the user run it and pass."""

    @classmethod
    def _missing_(cls, value: object) -> EvidenceTier | None:
        former = {f"E{number}": tier for number, tier in enumerate(cls)}
        return former.get(str(value))


UNPROVEN = frozenset({EvidenceTier.UNCHECKED, EvidenceTier.PARSED})
"""The tiers of edits that nothing ran."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A document (at most `MOST_BYTES`) to open for evidence; `name` is a file name, `language` an LSP language id."""

    MOST_BYTES: ClassVar[int] = 64 * 1024

    name: str
    language: str
    text: str

    @classmethod
    def of(cls, name: str, language: str, text: str) -> Attachment:
        """The text, truncated at its limit with a last line that says so."""
        data = text.encode("utf-8", "replace")
        if len(data) <= cls.MOST_BYTES:
            return cls(name, language, text)
        kept = data[: cls.MOST_BYTES - 100].decode("utf-8", "ignore").rpartition("\n")[0]
        return cls(name, language, f"{kept}\n... cut: {len(data):,} bytes are more than is kept\n")

    def to_json(self) -> dict[str, str]:
        """The attachment as in an answer's JSON."""
        return {"name": self.name, "language": self.language, "text": self.text}


@dataclass(frozen=True, slots=True)
class MissingInputs:
    """What a comparison lacks: calls of one unit."""

    unit: str
    """Qualified name of the unit."""
    code: str
    """Its old text, with what that uses of its file."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one judge found about a candidate."""

    check: Check
    """What was checked; CUSTOM for a judge of a package."""
    verdict: Ruling
    """The result of the check."""
    detail: str
    """Why, as a phrase for the user: "4 tests pass"."""
    trusted: bool = False
    """Whether it may refute the candidate; what a model wrote never may."""
    seconds: float = 0.0
    """How long the judge took."""
    count: int = 0
    """Number of tests, examples or valid inputs behind it, 0 if it has none."""
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    """Documents with the details, to open in the editor."""
    codes: tuple[str, ...] = ()
    """Names of the dangers that it reports, by which the user accepts them."""
    name: str = ""
    """Name of a custom judge, "" for others."""
    differing: int = field(default=0, repr=False)
    """Number of a comparison's inputs that gave another result."""
    for_tests_alone: bool = field(default=False, repr=False)
    """Whether those inputs come from tests alone."""
    missing: MissingInputs | None = field(default=None, repr=False)
    """The inputs that a comparison needs to decide; None if it had enough, or if none can be requested."""

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Evidence:
        """The evidence of a row of an answer's JSON; an unknown check name is a custom judge's."""
        built_in = row["check"] in set(Check)
        check, name = (Check(row["check"]), "") if built_in else (Check.CUSTOM, row["check"])
        return cls(check, Ruling(row["verdict"]), row["detail"], row["trusted"], name=name)

    @property
    def label(self) -> str:
        """Its name in records, commands and settings: the check, or the name of a custom judge."""
        return self.name or self.check.value

    @property
    def title(self) -> str:
        """The words before its detail."""
        return CHECKS[self.check].title or self.label

    def to_json(self) -> dict[str, Any]:
        """The evidence as in an answer's JSON."""
        return {
            "check": self.label,
            "verdict": self.verdict.value,
            "detail": self.detail,
            "trusted": self.trusted,
            "seconds": round(self.seconds, 3),
            "count": self.count,
            "codes": list(self.codes),
            "attachments": [each.to_json() for each in self.attachments],
        }


EVIDENCE_SCHEMA: Schema = table(
    check=TEXT,
    verdict={"enum": [ruling.value for ruling in Ruling]},
    detail=TEXT,
    trusted=FLAG,
    seconds=NUMBER,
    count=COUNT,
    codes=array(TEXT),
    attachments=array(table(name=TEXT, language=TEXT, text=TEXT)),
)
"""The JSON schema of `Evidence.to_json`."""


class JudgedEdits(StrEnum):
    """The kinds of edits that a check judges."""

    EVERY_EDIT = "every edit"
    CODE = "edits of code, and those of custom actions that name it"
    INTERFACE = "edits that callers must not notice, and those of custom actions that name it"
    NAMED = "edits of custom actions that name it"
    RUNS = "edits after which the examples and the project's tests have to pass"
    SAME_BEHAVIOR = "edits after which the code has to behave as before"
    FASTER = "edits that have to make the code faster"
    INTERNAL = "none by itself: an action makes the evidence"


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check. Each except those that are INTERNAL has a judge of its name in `engine/judges/`.

    `looks_at`: what it judges, for the progress line ("checking: the examples").
    `title`: the words before its detail; "" for its name.
    `judged_edits`: which edits it judges.
    `skipped`: what the summary says if it did not run; "" for "NAME not checked".
    `proves`: a trusted pass counts as proof, because the code was run or found to be the same.
    `blocks_offer`: a candidate that fails it is never offered.
    `silent_pass`: its pass is not shown in the summary.
    `silent_skip`: nor is it shown if it did not run, because it does not apply to most code.
    `detail_is_finding`: if it cannot decide, its detail is a finding.
    `varies_between_runs`: a replay gets another result, because it measures the machine.
    `reason_rank`: its rank among the reasons of a confidence, from 1; 0 if it is none.
    """

    check: Check
    looks_at: str
    judged_edits: JudgedEdits = JudgedEdits.INTERNAL
    title: str = ""
    skipped: str = ""
    proves: bool = False
    blocks_offer: bool = False
    silent_pass: bool = False
    silent_skip: bool = False
    detail_is_finding: bool = False
    varies_between_runs: bool = False
    reason_rank: int = 0


_ROWS = (
    CheckSpec(Check.NOOP, "what changed", JudgedEdits.EVERY_EDIT, title="change", blocks_offer=True, silent_pass=True),
    CheckSpec(Check.SYNTAX, "syntax", JudgedEdits.EVERY_EDIT, blocks_offer=True),
    CheckSpec(Check.DANGER, "side effects", JudgedEdits.EVERY_EDIT, silent_pass=True, detail_is_finding=True),
    CheckSpec(Check.DEFINITIONS, "definitions", JudgedEdits.EVERY_EDIT, silent_pass=True),
    CheckSpec(Check.NAMES, "names", JudgedEdits.CODE),
    CheckSpec(Check.SIGNATURE, "signature", JudgedEdits.INTERFACE),
    CheckSpec(Check.LINT, "lint", JudgedEdits.CODE, detail_is_finding=True),
    CheckSpec(Check.TYPES, "types", JudgedEdits.CODE, silent_skip=True, detail_is_finding=True),
    CheckSpec(Check.COMMENTS, "the code without comments", JudgedEdits.NAMED, proves=True, reason_rank=4),
    CheckSpec(
        Check.DOCTEST,
        "the examples",
        JudgedEdits.RUNS,
        skipped="doctests not run",
        silent_skip=True,
        proves=True,
        reason_rank=2,
    ),
    CheckSpec(
        Check.TESTS, "the project's tests", JudgedEdits.RUNS, skipped="tests not run", proves=True, reason_rank=1
    ),
    CheckSpec(
        Check.DIFFERENTIAL,
        "behavior, old and new",
        JudgedEdits.SAME_BEHAVIOR,
        skipped="behavior not compared",
        proves=True,
        reason_rank=3,
    ),
    CheckSpec(
        Check.TIMING,
        "speed, old and new",
        JudgedEdits.FASTER,
        skipped="speed not measured",
        varies_between_runs=True,
        reason_rank=7,
    ),
    CheckSpec(Check.MUTANTS, "mutants", skipped="no mutation testing", reason_rank=6),
    CheckSpec(Check.AGREEMENT, "sample agreement", reason_rank=5),
    CheckSpec(Check.REPRODUCED, "the failure"),
    CheckSpec(Check.SEARCH, "small edits of the code", detail_is_finding=True),
    CheckSpec(Check.EFFECT, "whether it changes anything", silent_pass=True, silent_skip=True),
    CheckSpec(Check.EXECUTION, "whether the programs run"),
    CheckSpec(Check.REVIEW, "the review", detail_is_finding=True, silent_skip=True),
    CheckSpec(Check.CUSTOM, ""),
)

CHECKS: Mapping[Check, CheckSpec] = MappingProxyType({row.check: row for row in _ROWS})
"""Every check, in the order in which they run: the cheapest first."""
REASONS = tuple(row.check for row in sorted(_ROWS, key=lambda row: row.reason_rank) if row.reason_rank)
"""The checks that are reasons of a confidence, in the order in which it names them."""
NAMEABLE = tuple(
    row.check for row in _ROWS if row.judged_edits in (JudgedEdits.CODE, JudgedEdits.INTERFACE, JudgedEdits.NAMED)
)
"""The checks that a custom action can name."""
PROVING = frozenset(row.check for row in _ROWS if row.proves)
"""The checks whose trusted pass is proof."""
