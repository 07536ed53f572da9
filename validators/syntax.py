"""Does a text parse? The verdict on it, and what an edit broke."""

from __future__ import annotations

import time
from pathlib import Path

from stet_ls.validators import grammars, languages, messages, ruff
from stet_ls.validators.findings import Finding, Status, Verdict, new_findings
from stet_ls.validators.parse import DeadlineError, parse
from stet_ls.validators.source import Source


def check(source: Source, language: str, *, path: Path | None = None, deadline: float = 1.0) -> Verdict:
    """The verdict on a text, by the best judge that this machine has for the language.

    `path` tells a tool the kind of file (never read or written); `deadline` is in seconds, for everything together.
    Never raises on account of the text; what could not be judged is UNKNOWN with a reason.
    """
    started = time.monotonic()
    seen = glance(source, language, deadline=deadline)
    if seen.language != "python":
        return seen
    findings = ruff.syntax(source, path=path, deadline=max(deadline - seen.seconds, 0.0))
    if findings is None:
        return seen
    return Verdict(
        Status.ERROR if findings else Status.OK,
        seen.language,
        findings,
        source="ruff",
        authoritative=True,
        seconds=time.monotonic() - started,
    )


def glance(source: Source, language: str, *, deadline: float = 0.2) -> Verdict:
    """The verdict of the grammar alone: at once, for every language that has one, as one types."""
    started = time.monotonic()
    row = languages.language(language)
    name = row.id if row else language
    try:
        parsed = parse(source, name, deadline=deadline)
    except (grammars.NoGrammarError, DeadlineError) as error:
        return Verdict(Status.UNKNOWN, name, may_block=False, reason=str(error), seconds=time.monotonic() - started)
    findings = messages.explain(parsed, end=started + deadline) if parsed.root.has_error else ()
    return Verdict(
        Status.ERROR if findings else Status.OK,
        name,
        findings,
        may_block=bool(row and row.trusted),
        seconds=time.monotonic() - started,
    )


def broken_by(before: Verdict, after: Verdict) -> tuple[Finding, ...]:
    """The errors that are in `after` and were not in `before`: only these can be held against an edit."""
    return new_findings(before.findings, after.findings)
