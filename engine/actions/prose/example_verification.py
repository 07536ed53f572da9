"""Runs the `>>>` examples in a model's text and replaces the stated results by the real ones.

>>> slug("")                             >>> slug("")  # run; the model said ''
''                            =>         Traceback (most recent call last):
                                         ValueError: empty title
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.harness_run import CallOutcome, NotRunnable
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python.module_location import locate_module
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges import doctest
from stet_ls.engine.plurals import plural, verb
from stet_ls.engine.privacy.placeholders import hide_secrets, without_values
from stet_ls.validators.ast_text import try_parse

MOST = 20
"""The most examples of one text that are run; the prompt asks for three."""
_PROMPT = re.compile(r"(?P<indent>[ \t]*)>>> ?(?P<source>.*)")
_MORE = re.compile(r"[ \t]*\.\.\.(?: (?P<source>.*))?$")
_ENDS = re.compile(r"\s*(?:$|>>>|`{3,}|~{3,})")
_NOT_RUN = {
    "late": "it does not finish in time",
    "limit": "it needs too much memory or depth",
    "died": "it ends the process",
}


@dataclass
class _Example:
    """Input lines, with the result that the model wrote below them."""

    indent: str
    source: list[str]
    want: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.source).rstrip()

    @property
    def broken(self) -> bool:
        return try_parse(self.text) is None

    def as_written(self) -> Iterator[str]:
        """Its lines without the result."""
        first, *rest = self.source
        yield f"{self.indent}>>> {first}"
        yield from (f"{self.indent}... {each}".rstrip() for each in rest)


@dataclass(frozen=True, slots=True)
class ShownExamples:
    """A text with its examples run; `evidence` counts runs and wrong results, None without any. `raised`: one did."""

    text: str
    evidence: Evidence | None = None
    raised: bool = False


async def run_examples(job: Job, text: str, secrets: Mapping[str, str]) -> ShownExamples:
    """Runs a text's examples in the sandbox and shows their output without secrets. Cancelling ends the run."""
    module = job.request.path.stem if job.request.path else ""
    parts = list(_parts(text))
    examples = [part for part in parts if isinstance(part, _Example) and not _imports(part.text, module)]
    if not for_language(job.request.language).runs_examples or not examples:
        return ShownExamples(text)
    outcomes = await _outcomes(job, examples[:MOST])
    lines: list[str] = []
    run = otherwise = number = 0
    raised = False
    reason = outcomes.reason if isinstance(outcomes, NotRunnable) else ""
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            continue
        if part not in examples:
            lines += part.as_written()
            continue
        outcome = None if isinstance(outcomes, NotRunnable) else outcomes.get(number)
        why = "it does not parse" if part.broken else reason or _why_not(outcome, number)
        number += 1
        if why or outcome is None:
            lines += _written(part, f"not run: {why}", part.want)
            continue
        given = [without_values(hide_secrets(line, secrets)) for line in _given(outcome)]
        agrees = _alike(part.want, given)
        raised = raised or outcome.kind == "raised"
        run, otherwise = run + 1, otherwise + (not agrees)
        claim = "" if agrees else f"; the model said {' '.join(part.want)[:80]}" if part.want else ""
        lines += _written(part, f"run{claim}", given)
    return ShownExamples("\n".join(lines), _evidence(len(examples), run, otherwise, reason), raised)


def _evidence(count: int, run: int, otherwise: int, reason: str) -> Evidence:
    """The evidence, which is never a failure: wrong results were replaced."""
    if not run:
        why = f": {reason}" if reason else ""
        return Evidence(Check.DOCTEST, Ruling.SKIPPED, f"examples not run{why}")
    detail = f"{run} of {plural(count, 'example')} {verb('run', run)}"
    if otherwise:
        return Evidence(Check.DOCTEST, Ruling.UNKNOWN, f"{detail}, {otherwise} differ from the model's claim")
    return Evidence(Check.DOCTEST, Ruling.PASS if run == count else Ruling.UNKNOWN, detail, count=run)


def _parts(text: str) -> Iterator[str | _Example]:
    """The lines of a text, with those of each example combined."""
    example: _Example | None = None
    for line in text.split("\n"):
        start, more = _PROMPT.fullmatch(line), _MORE.fullmatch(line)
        if start:
            if example is not None:
                yield example
            example = _Example(start["indent"], [start["source"]])
        elif example is not None and more and not example.want:
            example.source.append(more["source"] or "")
        elif example is not None and not _ENDS.match(line):
            example.want.append(line.strip())
        else:
            if example is not None:
                yield example
            example = None
            yield line
    if example is not None:
        yield example


async def _outcomes(job: Job, examples: Sequence[_Example]) -> dict[int, CallOutcome] | NotRunnable:
    source, path = job.request.source, job.request.path
    runtime = await job.runtime(source.text)
    if runtime is None:
        return NotRunnable("the budget `quick` runs none" if job.request.budget is Budget.QUICK else "code may not run")
    place = await asyncio.to_thread(locate_module, path, (source.text,), runtime)
    texts = ["pass" if each.broken else each.text for each in examples]
    calls = tuple(doctest.as_typed(text, texts[:at]) for at, text in enumerate(texts))  # after those before them
    return await doctest.outcomes(runtime, source.text, calls, place)


def _imports(text: str, module: str) -> bool:
    """True for an import from the document itself, whose names are all defined."""
    tree = try_parse(text)
    body = tree.body if tree else []
    own = (node for node in body if isinstance(node, ast.ImportFrom) and node.module)
    return bool(body) and [(node.module or "").rpartition(".")[2] for node in own] == [module] * len(body)


def _why_not(outcome: CallOutcome | None, number: int) -> str:
    if outcome is None:
        return f"the limit is {MOST}" if number >= MOST else "out of time"
    if outcome.kind == "reached":
        return outcome.message
    return _NOT_RUN.get(outcome.kind, "")


def _given(outcome: CallOutcome) -> list[str]:
    if outcome.kind == "raised":
        error = f"{outcome.error}: {outcome.message}" if outcome.message else outcome.error
        return ["Traceback (most recent call last):", *error.split("\n")]
    return outcome.printed.rstrip("\n").split("\n") if outcome.printed.strip() else []


def _alike(want: Sequence[str], given: Sequence[str]) -> bool:
    """True if the model's result matches; of an exception only its name and message are compared."""
    if not given or not want or not given[0].startswith("Traceback"):
        return [each.strip() for each in want] == [each.strip() for each in given]
    return want[-1].strip() in (given[-1].strip(), given[1].partition(":")[0])


def _written(example: _Example, mark: str, result: Sequence[str]) -> Iterator[str]:
    *lines, last = example.as_written()
    yield from lines
    yield f"{last.rstrip()}  # {mark}"
    yield from (f"{example.indent}{each}" for each in result)
