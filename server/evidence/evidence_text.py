"""An answer's evidence as a person reads it: in a sentence, as a report, as files to open. Knows no protocol."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.errors import UsageError
from stet_ls.engine.markdown import code_span, fenced, harmless, plain

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.api.evidence import Attachment, Evidence

SHOWN_LINES = 60
"""Lines of an attachment that a report quotes; its file has all."""

Files = Mapping[tuple[str, str], Path]
"""Where attachments were written, by check and name."""


def summarize(answer: Answer, apart: Collection[str] = ()) -> str:
    """How sure it is and why, then what was done: an editor's line may be too short for all of it.

    Of a refusal: why, and what passed nevertheless. `apart` are phrases that the caller says itself.
    """
    if answer.success:
        why = answer.metadata.reasons
        elsewhere = [phrase for each in apart for phrase in _phrases(each)]
        sure = f"{100 * answer.confidence:.0f} % sure" if why else ""
        reason = "; ".join(phrase for phrase in why if phrase not in elsewhere)
        rest = [part for part in answer.message.split(" · ") if not {*why, *elsewhere}.issuperset(_phrases(part))]
        made = rest[: bool(answer.new_files)]  # a new file is told first of all
        return " · ".join(part for part in (*made, ": ".join(filter(None, (sure, reason))), *rest[len(made) :]) if part)
    from stet_ls.engine.judges.confidence import summary  # the handshake does without the judges

    passed = summary([item for item in answer.evidence if item.verdict == "pass"])
    return f"{answer.message} Passed: {passed}." if passed else answer.message


def boxed(answer: Answer) -> str:
    """Where its code ran, and why not better: "Code ran in landlock (strong), because ..."; "" if none ran."""
    box = answer.isolation
    if not box:
        return ""
    why = "" if is_full(answer) else box.get("why_not_stronger", "")
    return f"Code ran in {box['backend']} ({box['level']}){f', because {why}' if why else ''}"


def is_full(answer: Answer) -> bool:
    """True unless code ran in a box in which some wall has gaps."""
    return not answer.isolation or answer.isolation["level"] == "full"


def dangers(answer: Answer) -> tuple[str, ...]:
    """What the edit does that nobody asked for, in words."""
    return tuple(
        item.detail for item in answer.evidence if item.check == "danger" and item.trusted and item.verdict == "unknown"
    )


def unaccepted(answer: Answer, accepted: Collection[str]) -> tuple[str, ...]:
    """The codes of the dangers that nobody asked for, without those that the user names."""
    from stet_ls.engine.judges.danger.risk_kinds import OTHER

    found = (item for item in answer.evidence if item.check == "danger" and item.trusted and item.verdict == "unknown")
    codes = (code for item in found for code in item.codes or (OTHER,))
    return tuple(dict.fromkeys(code for code in codes if code not in accepted))


def _phrases(reason: str) -> list[str]:
    return [phrase for phrase in reason.split("; ") if phrase]


def select_check(answer: Answer, check: str) -> tuple[Evidence, ...]:
    """The lines of one check, or of all without one. UsageError names those that there are."""
    lines = tuple(item for item in answer.evidence if check in ("", item.label))
    if not answer.evidence:
        raise UsageError("job: it came to no evidence; nothing was judged.")
    if not lines:
        known = ", ".join(dict.fromkeys(item.label for item in answer.evidence))
        raise UsageError(f"check: this job has no evidence of {check!r}; it has {known}.")
    return lines


def all_attachments(lines: Sequence[Evidence]) -> Iterator[tuple[str, Attachment]]:
    """Everything that can be opened, with its check."""
    return ((item.label, each) for item in lines for each in item.attachments)


def report(answer: Answer, lines: Sequence[Evidence], files: Files, diff: str = "") -> str:
    """All about some lines as markdown: what each says, what its word weighs, the edit, and what can be opened."""
    parts = [f"# Evidence\n\n{_prose(answer.message)}"]
    if reasons := answer.metadata.reasons:
        row = answer.metadata.calibration
        source = "an estimate: not measured for this model yet" if row == "default" else f"counted for {code_span(row)}"
        parts.append(f"Confidence {100 * answer.confidence:.0f} % ({source}): {_prose('; '.join(reasons))}")
    if shows := answer.metadata.show_trace:
        parts.append(f"What was asked, what came and when, if records are kept: {code_span(shows)}")
    parts.append("\n".join(_line(item) for item in lines))
    parts.append(f"{_prose(boxed(answer)) or 'No code ran'}.")
    if diff:
        parts.append(f"## The edit\n\n{fenced(diff.rstrip(), 'diff')}")
    for check, each in all_attachments(lines):
        place = f"\n\n[{each.name}]({file.as_uri()})" if (file := files.get((check, each.name))) else ""
        parts.append(f"## {check}: {code_span(each.name)}{place}\n\n{fenced(first_lines(each.text), each.language)}")
    return "\n\n".join(parts).rstrip() + "\n"


_VERDICTS = {"pass": "passed", "fail": "**failed**", "skipped": "not checked", "unknown": "**could not tell**"}


def _line(item: Evidence) -> str:
    weight = " (its word alone refutes)" if item.verdict == "fail" and item.trusted else ""
    seconds = f", {item.seconds:.1f} s" if item.seconds >= 0.1 else ""
    return f"- {item.label}: {_VERDICTS[item.verdict.value]}{weight}{seconds}: {_prose(item.detail)}"


def _prose(text: str) -> str:
    """A sentence of others, on one line and without anything that an editor would follow or fetch."""
    return harmless(" ".join(plain(text).split()))


def first_lines(text: str, most: int = SHOWN_LINES, characters: int | None = None) -> str:
    """The first lines of a text, as many as its reader may want to see; the last one says how many follow."""
    lines = text.splitlines()
    shown = text[:characters].splitlines()[:most]
    if shown == lines:
        return text
    return "\n".join([*shown, f"... {len(lines) - len(shown) or 'some'} more lines"])
