"""The report of analyze, in markdown: what is broken first, then opinions, then the measurements and their tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from stet_ls.engine.actions.analysis.model_findings import ModelFindings
from stet_ls.engine.actions.analysis.target_measures import COMPLEX, LIMITS, TargetMeasures
from stet_ls.engine.api.request import Target
from stet_ls.engine.job.job import Job
from stet_ls.engine.markdown import code_span, harmless
from stet_ls.engine.plurals import plural
from stet_ls.engine.privacy.placeholders import without_values
from stet_ls.engine.reply.findings_reply import LocatedFinding
from stet_ls.validators.findings import Finding, Severity, Status
from stet_ls.validators.metrics import style
from stet_ls.validators.metrics.coverage import Coverage

_MOST_FINDINGS, _MOST_FUNCTIONS, _MOST_RULES, _MOST_COPIES = 40, 10, 8, 10
_ORDER = list(Severity)


def report(
    job: Job, target: Target, heading: str, where: str, measures: TargetMeasures, opinions: ModelFindings
) -> str:
    """The whole report. Text from outside is escaped: none of it becomes markup."""
    lines = style.lines_of(job.request.source, target.span)
    rules = (measures.style.rules if measures.style else ())[:_MOST_RULES]
    parts = [
        f"# Analysis of {heading}\n\n{where}",
        *_section("Confirmed by a run", (_opinion(job, one, one.opinion.kind) for one in opinions.confirmed)),
        *_section("Findings", _findings(measures.findings)),
        *_section("The model's opinion", _opinions(job, opinions)),
        *_section("Functions", _functions(measures)),
        *_section(
            "Style",
            (
                f"- {rule.code}, {plural(rule.count, 'time')}, first in line {rule.line + 1}: {rule.message}"
                for rule in rules
            ),
        ),
        *_section("Not covered by tests", _missed(measures, lines)),
        *_section("Duplicated code", _copies(job, measures)),
        "## Measured\n\n" + "\n".join(_table(("measure", "value", "by"), _overview(measures, lines))),
    ]
    return harmless("\n\n".join(parts)) + "\n"


def finding_count(findings: Sequence[Finding]) -> str:
    """The number of findings: "3 findings (1 error, 2 hints)"."""
    if not findings:
        return "no findings"
    by_severity = Counter(finding.severity for finding in findings)
    parts = [plural(by_severity[severity], _WORDS[severity]) for severity in _ORDER if by_severity[severity]]
    return f"{plural(len(findings), 'finding')} ({', '.join(parts)})"


_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "remark", Severity.HINT: "hint"}


def _section(title: str, rows: Iterator[str]) -> Iterator[str]:
    body = "\n".join(rows)
    if body:
        yield f"## {title}\n\n{body}"


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', ' ') for cell in row)} |"


_NOT_MEASURED = "not measured"


def _overview(measures: TargetMeasures, lines: range) -> Iterator[Sequence[str]]:
    result = measures.syntax
    state = {Status.OK: "no error", Status.ERROR: "does not parse", Status.UNKNOWN: _NOT_MEASURED}[result.status]
    yield "Syntax", state, result.source if result.status is not Status.UNKNOWN else result.reason
    sources = ", ".join(dict.fromkeys(finding.source for finding in measures.findings))
    if measures.lint is None:
        sources = f"{sources}; no linter for it here" if sources else "no linter for it here"
    yield "Findings", finding_count(measures.findings), sources or "the linter"
    if measures.sandbox_lint is not None:
        name, found = measures.sandbox_lint
        yield (
            "Linter in the sandbox",
            _NOT_MEASURED if isinstance(found, str) else finding_count(found),
            (f"{name}: {found}" if isinstance(found, str) else name),
        )
    title = "Style (PEP 8)" if measures.pep8 else "Style"
    if measures.style is None:
        yield title, _NOT_MEASURED, ""
    else:
        clean = f"{100 * measures.style.share:.1f} % of {plural(measures.style.lines, 'line')} without a finding"
        yield title, clean, measures.style.tool
    if measures.pep8 is not None:
        without = plural(len(measures.pep8.undocumented), "public definition")
        yield "Docstrings", f"{without} without one", "ruff D1"
    yield from _complexity(measures)
    if isinstance(measures.coverage, Coverage):
        yield "Test coverage", _covered(measures.coverage, lines), measures.coverage.source
    else:
        yield "Test coverage", _NOT_MEASURED, measures.coverage.removeprefix("Coverage: ")
    yield "Duplicated code", plural(len(measures.copies), "place"), "words compared, layout and comments aside"
    unused = _NOT_MEASURED if measures.dead is None else plural(len(measures.dead), "hint")
    yield "Dead code", unused, "besides the linter's findings" if measures.dead is not None else ""
    if measures.security is None:
        yield "Security", _NOT_MEASURED, ""
    else:
        tool = "ruff S" if measures.pep8 else "a table of calls"
        yield "Security", plural(len(measures.security), "place") + " to check", tool


def _complexity(measures: TargetMeasures) -> Iterator[Sequence[str]]:
    if measures.functions is None:
        yield "Complexity", _NOT_MEASURED, "no grammar and no counter for it here"
    elif not measures.functions:
        yield "Complexity", "no function", measures.counted_by
    else:
        paths = [function.cyclomatic for function in measures.functions]
        worst = max(measures.functions, key=lambda function: function.cyclomatic)
        recognized = ", as far as the text can be read" if measures.syntax.status is Status.ERROR else ""
        above = sum(number > COMPLEX for number in paths)
        yield (
            "Complexity",
            f"{plural(len(paths), 'function')}, median {median(paths):g}, highest {worst.cyclomatic} "
            f"({code_span(worst.unit.qualified)}), {above} above {COMPLEX}{recognized}",
            measures.counted_by,
        )


def _covered(coverage: Coverage, lines: range) -> str:
    hit, total = coverage.count(lines)
    stale = f"; {'' if coverage.has_run else 'stale: '}{coverage.stale}" if coverage.stale else ""
    if not total:
        return f"{'the run' if coverage.has_run else 'the report'} knows no statement here{stale}"
    branches = [each for each in coverage.branches if each.line in lines]
    taken = f", {sum(each.hit for each in branches)} of {len(branches)} branches" if branches else ""
    return f"{100 * hit / total:.1f} % ({hit} of {plural(total, 'statement')}{taken}){stale}"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    worst = sorted(findings, key=lambda finding: (_ORDER.index(finding.severity), finding.span))[:_MOST_FINDINGS]
    for finding in sorted(worst, key=lambda finding: finding.span):
        rule = f"{finding.source} {finding.code}".strip()
        yield f"- line {finding.line + 1}: {finding.without_line or finding.message} ({finding.severity}, {rule})"
    if len(findings) > len(worst):
        yield f"- and {len(findings) - len(worst):,} more"


def _functions(measures: TargetMeasures) -> Iterator[str]:
    functions = sorted(measures.functions or (), key=lambda one: (-one.cyclomatic, -one.cognitive, one.line))
    if not functions:
        return
    limits = {name: limit for name, limit, _ in LIMITS} | {"cyclomatic": COMPLEX}
    names: tuple[str, ...] = ("cyclomatic", "cognitive", "nesting", "parameters", "length")
    if measures.counted_by == "lizard":
        names = ("cyclomatic", "parameters", "length")
    rows = (
        (
            code_span(one.unit.qualified),
            str(one.line + 1),
            *(f"**{value}**" if (value := getattr(one, name)) > limits[name] else str(value) for name in names),
        )
        for one in functions[:_MOST_FUNCTIONS]
    )
    yield from _table(("function", "line", *names), rows)
    if len(functions) > _MOST_FUNCTIONS:
        yield f"\nThe {_MOST_FUNCTIONS} most complex of {len(functions)}; bold is above its limit."


def _missed(measures: TargetMeasures, lines: range) -> Iterator[str]:
    found = measures.coverage
    if not isinstance(found, Coverage):
        return
    missed = found.missed(lines)
    if missed:
        yield f"{_lines(missed)}."
    changed = list(_runs(sorted({line for run in missed for line in run} & measures.changed)))
    if changed:
        yield f"\nOf the lines that differ from the last commit: {_lines(changed).lower()}."
    elif found.has_run and measures.changed & set(lines):
        yield "\nTests reach every line that differs from the last commit."
    for branch in found.untaken(lines)[:_MOST_FINDINGS]:
        way = f", to line {branch.to + 1}" if branch.to is not None else ""
        yield f"- line {branch.line + 1}: one branch is never taken{way}"


def _runs(lines: Sequence[int]) -> Iterator[range]:
    first = 0
    for at, line in enumerate(lines):
        if at + 1 == len(lines) or lines[at + 1] != line + 1:
            yield range(lines[first], line + 1)
            first = at + 1


def _lines(runs: Sequence[range]) -> str:
    """Lines in words, from 1: "Lines 3-4, 9"."""
    shown = [f"{run.start + 1}" + (f"-{run.stop}" if len(run) > 1 else "") for run in runs[:_MOST_FINDINGS]]
    return f"Lines {', '.join(shown)}{' and more' if len(runs) > len(shown) else ''}"


def _copies(job: Job, measures: TargetMeasures) -> Iterator[str]:
    source = job.request.source
    for copy in measures.copies[:_MOST_COPIES]:
        first, last = source.line_of(copy.span.start) + 1, source.line_of(copy.span.end) + 1
        where = "" if copy.path is None else f" of {code_span(copy.path.name)}"
        yield f"- lines {first}-{last} repeat line {copy.line + 1}{where} and those after it ({copy.words} words)"
    if len(measures.copies) > _MOST_COPIES:
        yield f"- and {len(measures.copies) - _MOST_COPIES} more"


def _opinions(job: Job, opinions: ModelFindings) -> Iterator[str]:
    if opinions.about:
        yield f"The whole is too large for the model: it was shown {', '.join(map(code_span, opinions.about))}.\n"
    refuted = [_opinion(job, one, "said") for one in opinions.placed if one.refuted]
    untried = [one for one in opinions.placed if not one.refuted and not one.confirmed]
    yield from (_opinion(job, one, one.opinion.kind) for one in untried)
    if not untried and not opinions.confirmed:
        nothing = "No confirmed finding." if refuted else "No finding that quotes a line of this code."
        yield opinions.note or nothing
    if refuted:
        yield "\n### Tried, and not so\n"
        yield from refuted
    if opinions.asked and (untried or refuted or not opinions.confirmed or opinions.dropped or opinions.truncated):
        dropped = f" {plural(opinions.dropped, 'finding')} dropped: the quoted line is not in the code."
        cut = " The reply is incomplete." if opinions.truncated else ""
        whose = f"By {job.usage.model}; opinions, counted in no number, not verified."
        yield f"\n_{whose}{dropped if opinions.dropped else ''}{cut}_"


def _opinion(job: Job, one: LocatedFinding, what: str) -> str:
    quote = code_span(without_values(job.request.source.line_text(one.line).strip()))
    return f"- line {one.line + 1}: {quote} · {what}: {one.opinion.witness}"
