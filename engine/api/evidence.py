"""Evidence, its checks and its attachments."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from stet_ls.engine.api.json_schema import COUNT, FLAG, NUMBER, TEXT, Schema, array, table


class Check(StrEnum):
    """The names of the judges, as evidence carries them. CUSTOM: a package's own, of which evidence has the name."""

    REPRODUCED = "reproduced"
    NOOP = "noop"
    SYNTAX = "syntax"
    NAMES = "names"
    SIGNATURE = "signature"
    LINT = "lint"
    DOCTEST = "doctest"
    TESTS = "tests"
    DIFFERENTIAL = "differential"
    MUTANTS = "mutants"
    TIMING = "timing"
    AGREEMENT = "agreement"
    DANGER = "danger"
    CUSTOM = "custom"


class Ruling(StrEnum):
    """What a judge says. SKIPPED: it was not asked or does not apply. UNKNOWN: it was asked and could not tell."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class EvidenceTier(StrEnum):
    """How far the evidence reaches, the weakest first. Records of earlier versions call them E0 to E5."""

    UNCHECKED = "unchecked"
    """Nothing was checked, or the reply broke off."""
    PARSED = "parsed"
    """It parses and its names resolve; nothing ran it."""
    SELF_TESTED = "self-tested"
    """Tests or examples of the model pass, or examples of the user do and other evidence is against them."""
    COMPARED = "compared"
    """Several samples agree, or old and new code do on few inputs or beside a part of the change."""
    EQUIVALENT = "equivalent"
    """Old and new code do the same on many valid inputs."""
    TESTED = "tested"
    """Tests or examples of the user run it and pass."""

    @classmethod
    def _missing_(cls, value: object) -> EvidenceTier | None:
        former = {f"E{number}": tier for number, tier in enumerate(cls)}
        return former.get(str(value))


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something to open beside a line of evidence: a counter-example as a runnable file, a failing test's output.

    `name` is a file name, `language` an LSP language id. Nothing is longer than `MOST_BYTES`.
    """

    MOST_BYTES: ClassVar[int] = 64 * 1024

    name: str
    language: str
    text: str

    @classmethod
    def of(cls, name: str, language: str, text: str) -> Attachment:
        """With the text cut at its bound, and the cut told in a last line."""
        data = text.encode("utf-8", "replace")
        if len(data) <= cls.MOST_BYTES:
            return cls(name, language, text)
        kept = data[: cls.MOST_BYTES - 100].decode("utf-8", "ignore").rpartition("\n")[0]
        return cls(name, language, f"{kept}\n... cut: {len(data):,} bytes are more than is kept\n")

    def to_json(self) -> dict[str, str]:
        """As answers hold it."""
        return {"name": self.name, "language": self.language, "text": self.text}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one judge found out about a candidate. `trusted` evidence may refute it on its own.

    `count` says on how many tests, examples or valid inputs it rests, where it rests on any. `codes` name the dangers
    that it tells of, by which a person accepts them. `name` is that of a custom judge, "" for others.
    """

    check: Check
    verdict: Ruling
    detail: str
    trusted: bool = False
    seconds: float = 0.0
    count: int = 0
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    codes: tuple[str, ...] = ()
    name: str = ""

    @property
    def label(self) -> str:
        """What users read: the check, or the name of a custom judge."""
        return self.name or self.check.value

    def to_json(self) -> dict[str, Any]:
        """As answers carry it."""
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
"""What `Evidence.to_json` gives."""
