"""An answer's evidence for users: as a sentence, as a report, as attachments. Independent of the protocol."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.api.evidence import CHECKS
from stet_ls.engine.api.summary import MARKS, SEPARATOR, evidence_line, failed_first, phrase, shown_evidence
from stet_ls.engine.errors import UsageError
from stet_ls.engine.markdown import code_span, fenced, harmless, plain

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.api.evidence import Attachment, Evidence

SHOWN_LINES = 60
"""Lines of an attachment that a report quotes; its file has all."""

COLUMNS = 100
"""Width of a line of a report."""

_OUTPUT = ("plaintext", "text", "diff", "")
"""Languages of attachments that are no code."""

_BLOCK = re.compile(r"[#>+*=|-]+|\d+[.)]|[`~]{3,}.*")
"""Words that begin a block of Markdown at the start of a line."""

Files = Mapping[tuple[str, str], Path]
"""Where attachments were written, by check and name."""


def headline(answer: Answer) -> str:
    """What was done, without its evidence: "Refactored `add` · 3 → 2 lines"; or why there is no edit."""
    summary = answer.summary
    return summary.problem or SEPARATOR.join((*summary.lead(), *summary.body()))


def summarize(answer: Answer, omitted: Collection[str] = ()) -> str:
    """The confidence and its reasons, then what was done: an editor's message line may be too short for all of it.

    For a refusal: the reason, and what passed. `omitted` are phrases to omit because the caller adds them.
    """
    if not answer.success:
        passed = evidence_line(item for item in answer.evidence if item.verdict == "pass")
        return f"{answer.message} Passed: {passed}." if passed else answer.message
    reasons = [reason for reason in answer.metadata.reasons if reason not in omitted]
    judged = (phrase(item) for item in shown_evidence(answer.evidence) if not _is_reason(item, answer))
    return _sentence(answer, reasons, tuple(judged), omitted)


def conclude(answer: Answer) -> str:
    """What was done and the confidence, for output that also lists each line of the evidence."""
    return _sentence(answer, _other_reasons(answer))


def _sentence(answer: Answer, reasons: Sequence[str], judged: Sequence[str] = (), omitted: Collection[str] = ()) -> str:
    summary = answer.summary
    sure = f"{confidence(answer)} % sure" if answer.metadata.reasons else ""
    sure = ": ".join(filter(None, (sure, "; ".join(reasons))))
    parts = (*summary.lead(), sure, *summary.body(), *judged, *summary.tail(answer.metadata))
    return SEPARATOR.join(part for part in parts if part and part not in omitted)


def confidence(answer: Answer) -> str:
    """The confidence in percent."""
    return percent(answer.confidence, answer.metadata.confidence_interval)


def percent(counted: float, interval: Sequence[float] | None) -> str:
    """A confidence in percent: what was counted, or an interval where too few such answers were counted."""
    if not interval:
        return f"{100 * counted:.0f}"
    return f"{100 * interval[0]:.0f}-{100 * interval[1]:.0f}"


def _is_reason(item: Evidence, answer: Answer) -> bool:
    """Whether the reasons of the confidence state it already. Those of a task name the passed checks step by step."""
    by_step = bool(answer.metadata.steps) and item.verdict == "pass" and CHECKS[item.check].reason_rank > 0
    return by_step or phrase(item) in answer.metadata.reasons


def _other_reasons(answer: Answer) -> list[str]:
    """The reasons of the confidence that no line of the evidence states: "not executed"."""
    if answer.metadata.steps:
        return []
    stated = {phrase(item) for item in answer.evidence}
    return [reason for reason in answer.metadata.reasons if reason not in stated]


def sandbox_text(answer: Answer) -> str:
    """The sandbox level of its runs and its reason: "Code ran in landlock (strong), because ..."; "" if none ran."""
    box = answer.isolation
    if not box:
        return ""
    why = "" if is_fully_isolated(answer) else box.get("why_not_stronger", "")
    return f"Code ran in {box['backend']} ({box['level']}){f', because {why}' if why else ''}"


def is_fully_isolated(answer: Answer) -> bool:
    """True unless code ran in a sandbox with incomplete isolation."""
    return not answer.isolation or answer.isolation["level"] == "full"


def unrequested_risks(answer: Answer) -> tuple[str, ...]:
    """The edit's risks that were not requested, as text."""
    return tuple(
        item.detail for item in answer.evidence if item.check == "danger" and item.trusted and item.verdict == "unknown"
    )


NOT_RUN = "not-run"
"""The code of an edit that no check ran."""


def not_run(answer: Answer) -> str:
    """Why an edit that nothing ran is asked about, and what would have it checked; "" for any other."""
    return f"no check ran it; {answer.metadata.raised_by or 'add a test'}" if answer.not_run else ""


def unrequested_risk_codes(answer: Answer, accepted: Collection[str]) -> tuple[str, ...]:
    """The codes of the edit's risks that were not requested, without those that the user accepts."""
    from stet_ls.engine.judges.danger.risk_kinds import OTHER

    found = (item for item in answer.evidence if item.check == "danger" and item.trusted and item.verdict == "unknown")
    codes = (code for item in found for code in item.codes or (OTHER,))
    return tuple(dict.fromkeys(code for code in codes if code not in accepted))


def select_check(answer: Answer, check: str) -> tuple[Evidence, ...]:
    """The evidence of one check, or all if `check` is empty. UsageError lists the available checks."""
    lines = tuple(item for item in answer.evidence if check in ("", item.label))
    if not answer.evidence:
        raise UsageError("job: this job has no evidence.")
    if not lines:
        known = ", ".join(dict.fromkeys(item.label for item in answer.evidence))
        raise UsageError(f"check: this job has no evidence of {check!r}; it has {known}.")
    return lines


def all_attachments(lines: Sequence[Evidence]) -> Iterator[tuple[str, Attachment]]:
    """All attachments, each with its check."""
    return ((item.label, each) for item in lines for each in item.attachments)


def report(answer: Answer, lines: Sequence[Evidence], files: Files, diff: str = "") -> str:
    """A report in Markdown: each line of the evidence, its weight, the edit, and the attachments."""
    body = (*answer.summary.body(), *(answer.summary.tail(answer.metadata) if answer.success else ()))
    done = answer.summary.problem or SEPARATOR.join(body)
    parts = ["# Evidence", *_rows(lines, files), *_paragraph(done)]
    if diff:
        parts.append(f"## The edit\n\n{fenced(diff.rstrip(), 'diff')}")
    return "\n\n".join((*parts, *_quoted(lines, files), _footer(answer))).rstrip() + "\n"


def unit_report(title: str, lines: Sequence[Evidence], files: Files) -> str:
    """A report in Markdown about a unit that was verified: each check, and the attachments."""
    return "\n\n".join(("# Evidence", *_paragraph(title), *_rows(lines, files), *_quoted(lines, files))).rstrip() + "\n"


def _rows(lines: Sequence[Evidence], files: Files) -> Iterator[str]:
    """A row for each check, failures first; each links its files."""
    if lines:
        yield "\n".join(_row(item, files) for item in failed_first(lines))


def _row(item: Evidence, files: Files) -> str:
    title = f"**{item.title}**" if item.verdict == "fail" else item.title
    row = _wrapped(f"- {MARKS[item.verdict]} {title}: {_prose(item.detail)}")
    linked = ((each.name, files.get((item.label, each.name))) for each in item.attachments)
    return "\n".join((row, *(f"  [{name}]({file.as_uri()})" for name, file in linked if file)))


def _quoted(lines: Sequence[Evidence], files: Files) -> Iterator[str]:
    """The attachments: output in full, code only if no file has it."""
    for check, each in all_attachments(lines):
        if each.language in _OUTPUT or (check, each.name) not in files:
            yield f"## {check}: {code_span(each.name)}\n\n{fenced(first_lines(each.text), each.language)}"


def _footer(answer: Answer) -> str:
    """How sure the answer is, where code ran, and where the record is: a row each."""
    rows = []
    if row := answer.metadata.calibration:
        source = "an estimate: not measured for this model yet" if row == "default" else f"counted for {code_span(row)}"
        why = "; ".join(_other_reasons(answer))
        rows.append(f"Confidence {confidence(answer)} % ({source}){f': {_prose(why)}' if why else ''}")
    rows.append(_prose(sandbox_text(answer)) or "No code ran")
    if shows := answer.metadata.show_trace:
        rows.append(f"Prompts and replies: {code_span(shows)}")
    return "\n".join(_wrapped(f"- {row}") for row in rows)


def _paragraph(text: str) -> Iterator[str]:
    if text:
        yield _wrapped(_prose(text), "")


def _wrapped(text: str, indent: str = "  ") -> str:
    """Lines of at most `COLUMNS`, unless a word is longer. No line starts with what Markdown takes for a block."""
    lines = [""]
    for word in text.split():
        fits = len(lines[-1]) + 1 + len(word) <= COLUMNS
        if not lines[-1].strip() or fits or _BLOCK.fullmatch(word):
            lines[-1] += f"{' ' if lines[-1].strip() else ''}{word}"
        else:
            lines.append(f"{indent}{word}")
    return "\n".join(lines)


def _prose(text: str) -> str:
    """Foreign text on one line, without anything that an editor would link or fetch."""
    return harmless(" ".join(plain(text).split()))


def first_lines(text: str, most: int = SHOWN_LINES, characters: int | None = None) -> str:
    """The first lines of a text, within both limits; the last line says how many were omitted."""
    lines = text.splitlines()
    shown = text[:characters].splitlines()[:most]
    if shown == lines:
        return text
    return "\n".join([*shown, f"... {len(lines) - len(shown) or 'some'} more lines"])
