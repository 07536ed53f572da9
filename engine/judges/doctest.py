"""Runs the `>>>` examples of added or changed code, before and after the edit.

The user's examples state what the code does: a failing one refutes a candidate, and together they prove it if they
execute all of the change. An example that the candidate wrote itself proves little, but refutes it by failing: the code
contradicts its own documentation.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.api.evidence import Attachment, Check, Evidence, Ruling
from stet_ls.engine.execution.harness_run import Call, CallOutcome, HarnessRun, NotRunnable, VersionOutcomes
from stet_ls.engine.execution.javascript import documented_runs
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python.changed_lines import parts
from stet_ls.engine.execution.python.changed_part import ChangedPart, with_error
from stet_ls.engine.execution.python.harness import not_loaded, run
from stet_ls.engine.execution.python.inputs.examples import doctest_examples
from stet_ls.engine.execution.python.inputs.subject import read_module, subject_of
from stet_ls.engine.execution.python.module_location import ModuleLocation, locate_module
from stet_ls.engine.execution.python.statements import named_in
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import TOO_LARGE, Case
from stet_ls.engine.plurals import plural, verb
from stet_ls.validators import structure
from stet_ls.validators.ast_text import literal_eval, parse_module, unparse

_CHECKER = doctest.OutputChecker()
_LENIENT = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_MOST_PARTS = 6
"""Changed parts that are checked: each is a text that runs in addition to the candidate's. Others count as not run."""


@dataclass(frozen=True, slots=True)
class Example:
    """A line with its expected output; `call` runs the lines before it first."""

    source: str
    want: str
    error: str
    call: Call

    def holds(self, outcome: CallOutcome | None) -> bool:
        """True if an outcome of its call is the expected one."""
        return matches_example(self, outcome)

    def failure(self, got: CallOutcome | None) -> str:
        """What is wrong, as a sentence."""
        wanted = self.error or self.want.strip()
        if got is not None and got.kind != "ok":
            return f"`{self.source}` should return {wanted}, {got}"
        return f"`{self.source}` should return {wanted}, returns {(got and got.printed.strip()) or got or 'nothing'}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """The examples: the first `user` are the user's, the rest the candidate's; `parts` are what it changed."""

    examples: tuple[Example, ...]
    user: int
    parts: tuple[ChangedPart, ...]
    place: ModuleLocation

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of all examples."""
        return tuple(example.call for example in self.examples)


async def judge(case: Case) -> Evidence:
    """Fails if an example fails that passed before, or that the candidate was to fix."""
    language = for_language(case.language)
    if not language.runs_examples and not language.documents_calls:
        return _evidence(Ruling.SKIPPED, f"examples in {case.language} documentation are not supported yet")
    if case.runtime is None:
        return _evidence(Ruling.SKIPPED, "no code ran")
    if case.is_too_large_to_run:
        return _evidence(Ruling.SKIPPED, f"examples not run: {TOO_LARGE}")
    if language.documents_calls:
        return await _documented(case, case.runtime)
    asked = await asyncio.to_thread(_prepare, case, case.runtime)
    if not asked.examples:
        whose = f"`{case.unit}`" if case.unit else "what the edit adds or changes"
        return _evidence(Ruling.SKIPPED, f"{whose} has no examples")
    word = f"stet{secrets.token_hex(8)}"
    with_errors = await asyncio.to_thread(_texts_with_errors, case.after.text, asked.parts, word)
    outcome, *stopped = await _all_outcomes(
        case.runtime, (case.after.text, *with_errors.values()), asked.calls, asked.place
    )
    if isinstance(outcome, NotRunnable):
        return _evidence(Ruling.UNKNOWN, f"examples not run: {outcome.reason}")
    if outcome.side_effects:  # its changes may affect how results are printed
        usual, *_ = await _all_outcomes(case.runtime, (case.before.text,), asked.calls, asked.place)
        if isinstance(usual, NotRunnable) or usual.side_effects != outcome.side_effects:
            return _evidence(Ruling.UNKNOWN, f"the examples prove nothing: besides its result, {outcome.side_effects}")
    wrong = [n for n, each in enumerate(asked.examples) if not matches_example(each, outcome.outcomes.get(n))]
    excuses = {n: case.runtime.excuse(got.lacks) if (got := outcome.outcomes.get(n)) is not None else "" for n in wrong}
    if wrong and all(excuses.values()):
        return _evidence(Ruling.UNKNOWN, f"examples not run: {excuses[wrong[0]]}")
    if wrong:
        return await _refuted(case, case.runtime, asked, [n for n in wrong if not excuses[n]], outcome)
    met = {part: _met(each, word) for part, each in zip(with_errors, stopped, strict=True)}
    return _passed(asked, [part for part in asked.parts if not _is_run(part, met.get(part, set()), asked)])


async def _documented(case: Case, runtime: Runtime) -> Evidence:
    """The same for calls in the doc comment of the case's unit, and for stated ones."""
    before, after = case.before.text, case.after.text
    examples = await asyncio.to_thread(
        documented_runs.examples_for, before, case.language, case.unit, case.user_examples
    )
    if not examples:
        return _evidence(Ruling.SKIPPED, f"`{case.unit}` has no examples" if case.unit else "no examples")
    found = await documented_runs.outcomes(runtime, after, case.language, case.path, examples)
    if isinstance(found, NotRunnable):
        return _evidence(Ruling.UNKNOWN, f"examples not run: {found.reason}")
    if stopped := next((each for each in found.values() if each.kind == "reached"), None):
        return _evidence(Ruling.UNKNOWN, f"examples not run: {stopped.message}")
    wrong = [n for n, each in enumerate(examples) if not each.holds(found.get(n))]
    if not wrong:
        count = f"{plural(len(examples), 'example')} {verb('pass', len(examples))}"
        left = await documented_runs.unreached(runtime, before, after, case.language, case.path, examples)
        if left:
            return _evidence(
                Ruling.UNKNOWN, f"{count}, but {plural(left, 'changed place')} {verb('run', left)} in none"
            )
        return replace(_evidence(Ruling.PASS, count, trusted=left == 0), count=len(examples))
    old = await documented_runs.outcomes(runtime, before, case.language, case.path, examples)
    held = {} if isinstance(old, NotRunnable) else old
    broken = [n for n in wrong if examples[n].holds(held.get(n))]
    count = f"{len(wrong)} of {plural(len(examples), 'example')} {verb('fail', len(wrong))}"
    if not broken and case.spec.preserves_behavior:
        return _evidence(Ruling.UNKNOWN, f"{count}, as before")
    first = (broken or wrong)[0]
    failed = _evidence(Ruling.FAIL, f"{examples[first].failure(found.get(first))} ({count})", trusted=True)
    return replace(failed, count=len(examples))


def _passed(asked: _Asked, missed: Sequence[ChangedPart]) -> Evidence:
    """All examples pass. They count if they execute all of the change."""
    own = len(asked.examples) - asked.user
    count = plural(asked.user or own, "doctest")
    passes = verb("pass", asked.user or own)
    counted = f"{count} {passes}" if asked.user else f"{count} in the code {passes}"
    more = f"; {own} in the code {verb('pass', own)} too" if own and asked.user else ""
    if missed or not asked.parts:
        first = next((f"`{part.name}`" for part in missed if part.name), "what was changed")
        none = "it does not execute" if (asked.user or own) == 1 else "none of them executes"
        return _evidence(Ruling.UNKNOWN, f"{counted}{more}, but {none} {first}")
    return replace(_evidence(Ruling.PASS, counted + more, trusted=bool(asked.user)), count=asked.user or own)


async def _refuted(
    case: Case, runtime: Runtime, asked: _Asked, wrong: Sequence[int], outcome: VersionOutcomes
) -> Evidence:
    """Some examples fail. An earlier failure does not count against an action that keeps the behavior."""
    before = await outcomes(runtime, case.before.text, asked.calls, asked.place)
    held = {} if isinstance(before, NotRunnable) else before
    broken = [n for n in wrong if n >= asked.user or matches_example(asked.examples[n], held.get(n))]
    count = f"{len(wrong)} of {plural(len(asked.examples), 'doctest')} {verb('fail', len(wrong))}"
    if not broken and case.spec.preserves_behavior:
        return _evidence(Ruling.UNKNOWN, f"{count}, as before")
    first = (broken or wrong)[0]
    failed = _evidence(
        Ruling.FAIL, f"{asked.examples[first].failure(outcome.outcomes.get(first))} ({count})", trusted=True
    )
    output = _output([(asked.examples[n], outcome.outcomes.get(n)) for n in wrong])
    return replace(failed, count=len(asked.examples), attachments=(output,))


def _texts_with_errors(text: str, parts: Sequence[ChangedPart], word: str) -> dict[ChangedPart, str]:
    """The text with an error in each part that can hold one."""
    made = ((part, with_error(text, part, word)) for part in parts[:_MOST_PARTS])
    return {part: changed for part, changed in made if changed is not None}


def _met(outcome: VersionOutcomes | NotRunnable, word: str) -> set[int]:
    """The calls that reached the errors in a text."""
    found = {} if isinstance(outcome, NotRunnable) else outcome.outcomes
    return {n for n, each in found.items() if word in f"{each.message}{each.printed}{''.join(each.results)}"}


def _is_run(part: ChangedPart, met: set[int], asked: _Asked) -> bool:
    """Whether an example of the user's (or of the candidate's, if there are no others) runs a part or names it."""
    counted = asked.examples[: asked.user] or asked.examples
    named = any(part.names & named_in(each.source) for each in counted)
    return named or any(n < len(counted) for n in met)


def _output(wrong: Sequence[tuple[Example, CallOutcome | None]]) -> Attachment:
    """The failures, in doctest's own format."""
    parts = []
    for example, got in wrong:
        source = example.source.rstrip().replace("\n", "\n... ")
        wanted = (example.error or example.want).rstrip().replace("\n", "\n    ")
        gives = "nothing" if got is None else got.printed.rstrip() if got.kind == "ok" else str(got)
        parts.append(">>> {}\nExpected:\n    {}\nGot:\n    {}\n".format(source, wanted, gives.replace("\n", "\n    ")))
    return Attachment.of("doctests.txt", "plaintext", "\n".join(parts))


def examples_for(case: Case, *, everywhere: bool = False) -> tuple[Example, ...]:
    """The user's examples of the case's unit, or of all units if `everywhere`. Parses: not for an event loop."""
    if case.runtime is None:
        return ()
    return _prepare(case, case.runtime, _all_units(case) if everywhere else ()).examples


def _all_units(case: Case) -> list[str]:
    return [unit.qualified for unit in structure.units(case.before, case.language)]


async def failing(case: Case, *, everywhere: bool = False) -> list[str]:
    """The examples that fail in the text before, as text; empty if nothing could be run.

    Covers the case's unit, or all units if `everywhere`.
    """
    language = for_language(case.language)
    if case.runtime is not None and language.documents_calls:
        return await _documented_failing(case, case.runtime)
    if not language.runs_examples or case.runtime is None:
        return []
    asked = await asyncio.to_thread(_prepare, case, case.runtime, _all_units(case) if everywhere else ())
    if not asked.examples:
        return []
    outcome = await outcomes(case.runtime, case.before.text, asked.calls, asked.place)
    if isinstance(outcome, NotRunnable):
        return []
    wrong = (
        (each, outcome.get(n)) for n, each in enumerate(asked.examples) if not matches_example(each, outcome.get(n))
    )
    return [each.failure(got) for each, got in wrong if got is None or not case.runtime.excuse(got.lacks)]


async def _documented_failing(case: Case, runtime: Runtime) -> list[str]:
    text = case.before.text
    examples = await asyncio.to_thread(documented_runs.examples_for, text, case.language, case.unit, case.user_examples)
    found = await documented_runs.outcomes(runtime, text, case.language, case.path, examples) if examples else {}
    if isinstance(found, NotRunnable) or any(each.kind == "reached" for each in found.values()):
        return []
    return [each.failure(found.get(n)) for n, each in enumerate(examples) if not each.holds(found.get(n))]


def examples_of(text: str, unit: str) -> list[Example]:
    """The examples in the documentation of a unit, in its class' or in that of the class' methods."""
    module = read_module(text)
    subject = subject_of(module, unit) if module and unit else None
    if module is None or subject is None:
        return []
    nodes = [subject.node, *(each for each in ast.walk(subject.node) if isinstance(each, ast.FunctionDef))]
    return read_examples([ast.get_docstring(node) or "" for node in dict.fromkeys(nodes)])


def read_examples(texts: Sequence[str]) -> list[Example]:
    """The examples of some texts; the lines of one text run one after the other."""
    found: list[Example] = []
    for text in texts:
        lines: list[str] = []
        for each in doctest_examples(text):
            source = each.source.rstrip("\n")
            error = (each.exc_msg or "").partition(":")[0].strip().rpartition(".")[2]
            if each.want or error:
                found.append(Example(source, each.want, error, as_typed(source, lines)))
            lines.append(source)
    return found


def matches_example(example: Example, outcome: CallOutcome | None) -> bool:
    """True if an outcome matches the example."""
    if outcome is None:
        return False
    if example.error:
        return outcome.kind == "raised" and outcome.error.rpartition(".")[2] == example.error
    printed = outcome.printed
    return outcome.kind == "ok" and any(
        _CHECKER.check_output(want, printed, _LENIENT) for want in expected_outputs(example.want)
    )


def expected_outputs(text: str) -> tuple[str, ...]:
    """An expected output, and, for a literal, the form in which Python prints it: "a" for 'a'."""
    try:
        return text, f"{literal_eval(text.strip())!r}\n"
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return (text,)


def as_typed(source: str, before: Sequence[str] = ()) -> Call:
    """A line run at a prompt after others, without what those print or raise."""
    quiet = ["__printed = __import__('sys').stdout", "__import__('sys').stdout = __import__('io').StringIO()"]
    lines = [f"try:\n    exec({each!r})\nexcept Exception:\n    pass" for each in before]
    setup = "\n".join([*quiet, *lines, "__import__('sys').stdout = __printed"]) if before else ""
    return Call(setup, _echoing(source))


def _echoing(source: str) -> str:
    """A line as a prompt runs it: the value of an expression is printed unless it is None."""
    try:
        tree = parse_module(source)
    except SyntaxError:
        return source
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return f"import sys; sys.displayhook({unparse(tree.body[0])})"
    return source


def _prepare(case: Case, runtime: Runtime, whose: Sequence[str] = ()) -> _Asked:
    before, after = case.before.text, case.after.text
    found = (parts(before, after, case.unit) or ()) if before != after else ()
    names = dict.fromkeys((case.unit, *whose, *(part.name for part in found)))
    known: dict[tuple[str, str, str], Example] = {}
    # An instruction that is the docstring repeats its examples.
    _add(known, read_examples([case.user_examples]))
    for name in filter(None, names):
        _add(known, examples_of(before, name))
    user = len(known)
    for name in filter(None, names):
        _add(known, examples_of(after, name))
    return _Asked(tuple(known.values()), user, found, locate_module(case.path, (before, after), runtime))


def _add(known: dict[tuple[str, str, str], Example], examples: Sequence[Example]) -> None:
    for each in examples:
        known.setdefault((each.source, each.want, each.error), each)


async def outcomes(
    runtime: Runtime, text: str, calls: tuple[Call, ...], place: ModuleLocation
) -> dict[int, CallOutcome] | NotRunnable:
    """The outcome of each call in a text, by its number; fewer than all if the time was used up."""
    (outcome,) = await _all_outcomes(runtime, (text,), calls, place)
    return outcome if isinstance(outcome, NotRunnable) else dict(outcome.outcomes)


async def _all_outcomes(
    runtime: Runtime, texts: tuple[str, ...], calls: tuple[Call, ...], place: ModuleLocation
) -> tuple[VersionOutcomes | NotRunnable, ...]:
    """What each text did, in one run."""
    trial = HarnessRun(
        texts, calls, "", place.path, place.name, place.roots, place.warm, reads=place.overlay is not None
    )
    report = await run(runtime, replace(trial, cpu=1.0, plain=True), place.overlay)
    if isinstance(report, NotRunnable):
        return (report,) * len(texts)
    return tuple(not_loaded(runtime, each) if each.problem else each for each in report.texts)


def _evidence(verdict: Ruling, detail: str, *, trusted: bool = False) -> Evidence:
    return Evidence(Check.DOCTEST, verdict, detail, trusted=trusted)
