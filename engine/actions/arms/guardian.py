"""The guardian: secrets, dangerous calls and words for a model, in what a request or the steps added."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from stet_ls.engine.actions.action import finish_answer
from stet_ls.engine.actions.arms.arm import StepRun
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.judges.danger.risks import risks_in
from stet_ls.engine.privacy.secrets.scan import find_secrets
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source

_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:the\s+|your\s+)?(?:previous|prior|above|earlier)\s+"
    r"(?:instructions?|prompts?|rules)\b|\byou are now\b.{0,40}\b(?:assistant|model|agent)\b|\bsystem prompt\b",
    re.IGNORECASE,
)
"""Words that are meant for a model, not for a reader."""


class AdditionKind(StrEnum):
    """What was added. RISK: a call or code that the judges of an edit look for, too."""

    SECRET = "secret"
    RISK = "risk"
    INJECTION = "injection"


@dataclass(frozen=True, slots=True)
class Addition:
    """One finding of the guardian, with its text for a person."""

    kind: AdditionKind
    text: str


async def guard(run: StepRun) -> Answer:
    """What the steps so far added that the user should see before it is applied."""
    found = [
        each.text for path, (old, new) in run.overlay.changes().items() for each in additions_in(path.name, old, new)
    ]
    evidence = Evidence(
        Check.DANGER, Ruling.UNKNOWN if found else Ruling.PASS, "; ".join(found) or "nothing dangerous", trusted=True
    )
    request = run.job.request
    summary = Summary("Looked for secrets and dangerous calls")
    return finish_answer(run.job, Answer(True, request.action, request.language, summary, evidence=(evidence,)))


def additions_in(name: str, before: Source, after: Source) -> Iterator[Addition]:
    """What a text has and the former one had not: secrets by kind, risks, and words for a model."""
    known = {secret.value for secret in find_secrets(before.text)}
    for kind in sorted({secret.kind for secret in find_secrets(after.text) if secret.value not in known}):
        yield Addition(AdditionKind.SECRET, f"{name} gets a secret ({kind})")
    language = language_of(name)
    for what, call in sorted(Counter(risks_in(after, language)) - Counter(risks_in(before, language))):
        yield Addition(AdditionKind.RISK, f"{name} gets `{call}`, which {what}")
    if _INJECTION.search(after.text) and not _INJECTION.search(before.text):
        yield Addition(AdditionKind.INJECTION, f"{name} has words that are meant for a model")
