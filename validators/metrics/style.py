"""Which share of the lines keeps the style, by a linter's word or a formatter's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.check_request import CheckRequest, Unavailable, within
from stet_ls.validators.checkers.formatters import formatters
from stet_ls.validators.checkers.table import COMPLEXITY, checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source, Span


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that was broken: how often, first on which line (from 0), and what the tool said there."""

    code: str
    count: int
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Style:
    """Of `lines` lines `clean` have no finding of `tool`. `rules` has the commonest ones first."""

    tool: str
    lines: int
    clean: int
    rules: tuple[Rule, ...] = ()

    @property
    def share(self) -> float:
        """From 0 to 1; an empty text keeps every style."""
        return self.clean / self.lines if self.lines else 1.0


def lines_of(source: Source, span: Span) -> range:
    """The lines, from 0, that a span touches; one that ends with a line's end does not touch the next."""
    first, last = source.line_of(span.start), source.line_of(span.end)
    return range(first, last + (last == first or span.end > source.starts[last]))


def style_of(found: Iterable[tuple[str, int, str]], lines: Sequence[int], tool: str) -> Style:
    """The share that findings leave; each is a rule, a line from 0 and a message. A line counts once."""
    ordered = sorted(found, key=lambda item: item[1])
    dirty = {line for _, line, _ in ordered}
    counts = Counter(code for code, _, _ in ordered)
    first = {code: (line, message) for code, line, message in reversed(ordered)}
    rules = tuple(Rule(code, count, *first[code]) for code, count in counts.most_common())
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
    """The share for any language: by its linters that know of style, else by its formatter; None without both."""
    row = languages.language(language)
    asked = CheckRequest(source, row.id if row else language, path, deadline, tools)
    lines = lines_of(source, span)
    return _linted(asked, lines) or _formatted(asked, lines)


def _linted(asked: CheckRequest, lines: range) -> Style | None:
    """The lines that no linter names. What a linter said before is remembered, so asking again costs nothing."""
    found: list[Finding] = []
    heard: list[str] = []
    for checker in checkers(asked.language, Role.LINT, asked.tools):
        if checker.covers == (COMPLEXITY,):
            continue
        answer = checker.check(within(asked, checker.seconds))
        if not isinstance(answer, Unavailable):
            heard.append(checker.name)
            found += answer
    if not heard:
        return None
    inside = [(item.code or item.source, item.line, item.message) for item in found if item.line in lines]
    return style_of(inside, lines, " and ".join(heard))


def _formatted(asked: CheckRequest, lines: range) -> Style | None:
    """The lines that a formatter would leave as they are, wherever they come to stand."""
    for formatter in formatters(asked.language, asked.tools):
        answer = formatter.format(within(asked, formatter.seconds))
        if isinstance(answer, Unavailable):
            continue
        kept = Counter(answer.splitlines())
        # Not a comparison of the two texts in order: that takes the square of their lengths where much is different.
        changed = []
        for number in range(asked.source.line_count):
            text = asked.source.line_text(number)
            if kept[text]:
                kept[text] -= 1
            elif number in lines:
                changed.append(("format", number, f"{formatter.name} writes it otherwise"))
        return style_of(changed, lines, f"lines as {formatter.name} writes them")
    return None
