"""Moves code to another margin and another unit of indentation, without changing strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.languages import for_language
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.literals import fixed_lines

_LINES_READ = 2000
_CLOSERS = "})]"
_LEADERS = ("@", "#[", "/**", "///", "[")


def unit_of(source: Source, target: Span, language: str) -> str | None:
    """One step of indentation in the target, else in the document; None if nothing is indented."""
    if for_language(language).aligned:
        return None
    first, last = source.line_of(target.start), source.line_of(target.end)
    small = source.line_count <= _LINES_READ
    fixed = fixed_lines(source, language) if small else frozenset()
    for numbers in (range(first, last + 1), range(min(source.line_count, _LINES_READ))):
        lines = [source.line_text(number) for number in numbers]
        if not small:  # the strings of a document of megabytes take seconds to find
            fixed = frozenset(numbers[at] for at in fixed_lines(Source("\n".join(lines)), language))
        unit = _step(line for number, line in zip(numbers, lines, strict=True) if number not in fixed)
        if unit is not None:
            return unit
    return for_language(language).indent


def reindent(code: str, language: str, *, base: str, unit: str | None) -> str:
    """The code at the margin `base`, its indentation in steps of `unit` (None: its own step)."""
    fixed = fixed_lines(Source(code), language)
    lines = _with_first_line_back(code.split("\n"), fixed, base, unit)
    own = [line for number, line in enumerate(lines) if number not in fixed and line.strip()]
    margin = common_margin(own)
    step = _step(line.removeprefix(margin) for line in own) if unit is not None else None
    moved = []
    for number, line in enumerate(lines):
        if number in fixed:
            moved.append(line)
        elif not line.strip():
            moved.append("")
        else:
            moved.append(base + _converted(line.removeprefix(margin), step, unit))
    return "\n".join(moved)


def common_margin(lines: Sequence[str]) -> str:
    """The white space at the start of all lines that are not blank."""
    margins = [margin_of(line) for line in lines if line.strip()] or [""]
    low, high = min(margins), max(margins)
    return low[: common_ends(low, high)[0]]


def _with_first_line_back(lines: list[str], fixed: frozenset[int], base: str, unit: str | None) -> list[str]:
    """The lines, with the first one indented like the others if it alone lost the document's margin."""
    rest = [line for number, line in enumerate(lines[1:], 1) if number not in fixed and line.strip()]
    if not base or not rest or not lines[0] or lines[0][0].isspace():
        return lines
    margin = common_margin(rest)
    # A flat body gives the same result either way; a deeper one shows if its first step is one step or two.
    inside = unit is not None and margin == base + unit and _step(line.removeprefix(margin) for line in rest) == unit
    closes = margin == base and (rest[-1].lstrip()[:1] in tuple(_CLOSERS) and margin_of(rest[-1]) == base)
    led = margin == base and lines[0].startswith(_LEADERS)
    return [base + lines[0], *lines[1:]] if inside or closes or led else lines


def _converted(line: str, step: str | None, unit: str | None) -> str:
    if step is None or unit is None or step == unit:
        return line
    margin = margin_of(line)
    if step == "\t":
        levels = len(margin) - len(margin.lstrip("\t"))
        rest = len(margin) - levels
    else:
        levels, rest = divmod(len(margin.expandtabs(len(step))), len(step))
    if unit != "\t":
        rest = min(rest, len(unit) - 1)  # an odd line stays between its neighbors
    return unit * levels + " " * rest + line[len(margin) :]


def _step(lines: Iterable[str]) -> str | None:
    """The most common increase of indentation between lines, a tab or spaces; None if there is none."""
    steps: Counter[str] = Counter()
    before = 0
    for line in lines:
        if not line.strip():
            continue
        margin = margin_of(line)
        if margin.startswith("\t"):
            steps["\t"] += 1
        elif 1 < len(margin) - before <= 8 and not line.lstrip().startswith("*"):
            steps[" " * (len(margin) - before)] += 1
        before = len(margin)
    return min(steps, key=lambda step: (-steps[step], len(step))) if steps else None


def margin_of(line: str) -> str:
    """The white space at the start of a text."""
    return line[: len(line) - len(line.lstrip(" \t"))]
