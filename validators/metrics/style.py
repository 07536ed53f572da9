"""Which share of the lines keeps the style, by a linter's word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


def linted(source: Source, span: Span, findings: Iterable[Finding]) -> Style:
    """The share of the lines of `span` that a linter left alone, for languages whose linter knows style."""
    lines = lines_of(source, span)
    inside = [finding for finding in findings if finding.line in lines]
    tools = " and ".join(dict.fromkeys(finding.source for finding in inside)) or "the linter"
    return style_of(((item.code or item.source, item.line, item.message) for item in inside), lines, tools)
