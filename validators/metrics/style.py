"""The share of lines that follow the style, by a linter or a formatter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.checker_request import CheckerRequest, Unavailable, within_seconds
from stet_ls.validators.checkers.formatters import formatters
from stet_ls.validators.checkers.table import COMPLEXITY, checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source, Span


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A broken rule: its count, its first line (from 0), and the tool's message there."""

    code: str
    count: int
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Style:
    """`clean` of `lines` lines have no finding of `tool`. `rules` has the most frequent ones first."""

    tool: str
    lines: int
    clean: int
    rules: tuple[BrokenRule, ...] = ()

    @property
    def share(self) -> float:
        """From 0 to 1; an empty text follows every style."""
        return self.clean / self.lines if self.lines else 1.0


def lines_of(source: Source, span: Span) -> range:
    """The lines, from 0, that a span touches; a span that ends with a line's end does not touch the next."""
    first, last = source.line_of(span.start), source.line_of(span.end)
    return range(first, last + (last == first or span.end > source.starts[last]))


def style_of(found: Iterable[tuple[str, int, str]], lines: Sequence[int], tool: str) -> Style:
    """The share of lines without findings; each is a rule, a line from 0 and a message. A line counts once."""
    ordered = sorted(found, key=lambda item: item[1])
    dirty = {line for _, line, _ in ordered}
    counts = Counter(code for code, _, _ in ordered)
    first = {code: (line, message) for code, line, message in reversed(ordered)}
    rules = tuple(BrokenRule(code, count, *first[code]) for code, count in counts.most_common())
    return Style(tool, len(lines), len(lines) - len(dirty), rules)


def tool_style(
    source: Source,
    language: str,
    span: Span,
    *,
    path: Path | None = None,
    deadline: float = 8.0,
    tools: Toolbox = BUILT_IN,
) -> Style | None:
    """The share for any language: by its style linters, else by its formatter; None without both."""
    request = CheckerRequest(source, languages.id_of(language), path, deadline, tools)
    lines = lines_of(source, span)
    return _linted(request, lines) or _formatted(request, lines)


def _linted(request: CheckerRequest, lines: range) -> Style | None:
    """The lines without a linter finding. Linter results are cached, so a second call costs nothing."""
    found: list[Finding] = []
    answered: list[str] = []
    for checker in checkers(request.language, Role.LINT, request.tools):
        if checker.covers == (COMPLEXITY,):
            continue
        answer = checker.check(within_seconds(request, checker.seconds))
        if not isinstance(answer, Unavailable):
            answered.append(checker.name)
            found += answer
    if not answered:
        return None
    inside = [(item.code or item.source, item.line, item.message) for item in found if item.line in lines]
    return style_of(inside, lines, " and ".join(answered))


def _formatted(request: CheckerRequest, lines: range) -> Style | None:
    """The lines that a formatter would not change, wherever they move."""
    for formatter in formatters(request.language, request.tools):
        answer = formatter.format(within_seconds(request, formatter.seconds))
        if isinstance(answer, Unavailable):
            continue
        kept = Counter(answer.splitlines())
        # Not a comparison of the two texts in order: that takes quadratic time if much is different.
        changed = []
        for number in range(request.source.line_count):
            text = request.source.line_text(number)
            if kept[text]:
                kept[text] -= 1
            elif number in lines:
                changed.append(("format", number, f"{formatter.name} writes it otherwise"))
        return style_of(changed, lines, f"lines as {formatter.name} writes them")
    return None
