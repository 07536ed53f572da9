"""Do the `>>>` examples of the target come out as they are written, before and after?

The examples are the user's word on what the code does: one that comes out wrong refutes a candidate. One that the
candidate wrote itself says nothing, so the examples are those of the text before.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.harness.place import Place, place_of
from stet_ls.engine.judges.harness.run import run
from stet_ls.engine.judges.harness.trial import Call, Impossible, Outcome, Told, Trial
from stet_ls.engine.judges.inputs.examples import doctest_examples
from stet_ls.engine.judges.inputs.subject import read_module, subject_of
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Attachment, Check, Evidence, Ruling
from stet_ls.validators.rewritten import unparsed

_CHECKER = doctest.OutputChecker()
_LENIENT = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_KEEPS = ("refactor", "optimize")


@dataclass(frozen=True, slots=True)
class Example:
    """One line to type with what it should print; `call` types those before it first."""

    source: str
    want: str
    error: str
    call: Call


async def judge(case: Case) -> Evidence:
    """Fails if an example comes out wrong that came out right before, or that the candidate was to make right."""
    if case.language != "python":
        return _said(Ruling.SKIPPED, f"examples in documentation are run in Python, not in {case.language} yet")
    if case.runtime is None:
        return _said(Ruling.SKIPPED, "no code was run: the quick budget runs none")
    examples, place = await asyncio.to_thread(_prepare, case, case.runtime)
    if not examples:
        whose = f"`{case.unit}`" if case.unit else "what lies outside of functions and classes"
        return _said(Ruling.SKIPPED, f"{whose} has no examples")
    calls = tuple(example.call for example in examples)
    told = await _told(case.runtime, case.after.text, calls, place)
    if isinstance(told, Impossible):
        return _said(Ruling.UNKNOWN, f"the examples were not run: {told.reason}")
    after = told.outcomes
    if told.beside:  # what it changed may be what shows the results
        usual = await _told(case.runtime, case.before.text, calls, place)
        if isinstance(usual, Impossible) or usual.beside != told.beside:
            return _said(Ruling.UNKNOWN, f"the examples prove nothing, for beside them {told.beside}")
    wrong = [(example, after.get(n)) for n, example in enumerate(examples) if not comes_out(example, after.get(n))]
    count = f"{len(examples)} doctest{'s' if len(examples) > 1 else ''}"
    if not wrong:
        return replace(_said(Ruling.PASS, f"{count} pass", trusted=True), count=len(examples))
    before = await outcomes(case.runtime, case.before.text, calls, place)
    held = {} if isinstance(before, Impossible) else before
    broken = [(example, got) for example, got in wrong if comes_out(example, held.get(examples.index(example)))]
    if not broken and case.action in _KEEPS:
        return _said(Ruling.UNKNOWN, f"{len(wrong)} of {count} fail, as they did before")
    example, got = (broken or wrong)[0]
    failed = _said(Ruling.FAIL, f"{_wrong(example, got)} ({len(wrong)} of {count} fail)", trusted=True)
    return replace(failed, count=len(examples), attachments=(_output(wrong),))


def _output(wrong: Sequence[tuple[Example, Outcome | None]]) -> Attachment:
    """What came out wrong, as doctest itself tells it."""
    told = []
    for example, got in wrong:
        source = example.source.rstrip().replace("\n", "\n... ")
        wanted = (example.error or example.want).rstrip().replace("\n", "\n    ")
        gives = "nothing" if got is None else got.printed.rstrip() if got.kind == "ok" else str(got)
        told.append(">>> {}\nExpected:\n    {}\nGot:\n    {}\n".format(source, wanted, gives.replace("\n", "\n    ")))
    return Attachment.of("doctests.txt", "plaintext", "\n".join(told))


async def failing(case: Case) -> list[str]:
    """The examples that come out wrong in the text before, in words; none if nothing could be run."""
    if case.language != "python" or case.runtime is None:
        return []
    examples, place = await asyncio.to_thread(_prepare, case, case.runtime)
    told = await outcomes(case.runtime, case.before.text, tuple(each.call for each in examples), place)
    if isinstance(told, Impossible) or not examples:
        return []
    return [_wrong(each, told.get(n)) for n, each in enumerate(examples) if not comes_out(each, told.get(n))]


def _wrong(example: Example, got: Outcome | None) -> str:
    wanted = example.error or example.want.strip()
    shown = "nothing" if got is None else got.printed.strip() if got.kind == "ok" and got.printed.strip() else got
    return f"`{example.source}` should give {wanted}, gives {shown}"


def examples_of(text: str, unit: str) -> list[Example]:
    """The examples in the documentation of a unit, in its class' or in that of the class' methods."""
    module = read_module(text)
    subject = subject_of(module, unit) if module and unit else None
    if module is None or subject is None:
        return []
    nodes = [subject.node, *(each for each in ast.walk(subject.node) if isinstance(each, ast.FunctionDef))]
    return read_examples([ast.get_docstring(node) or "" for node in dict.fromkeys(nodes)])


def read_examples(texts: Sequence[str]) -> list[Example]:
    """The examples of some texts; the lines of one text are typed one after the other."""
    found: list[Example] = []
    for text in texts:
        lines: list[str] = []
        for each in doctest_examples(text):
            source = each.source.rstrip("\n")
            error = (each.exc_msg or "").partition(":")[0].strip().rpartition(".")[2]
            if each.want or error:
                found.append(Example(source, each.want, error, typed(source, lines)))
            lines.append(source)
    return found


def comes_out(example: Example, outcome: Outcome | None) -> bool:
    """True if an outcome is what the example says."""
    if outcome is None:
        return False
    if example.error:
        return outcome.kind == "raised" and outcome.error.rpartition(".")[2] == example.error
    return outcome.kind == "ok" and _CHECKER.check_output(example.want, outcome.printed, _LENIENT)


def typed(source: str, before: Sequence[str] = ()) -> Call:
    """A line typed at a prompt after others: what those print, or raise, is not its own."""
    quiet = ["__printed = __import__('sys').stdout", "__import__('sys').stdout = __import__('io').StringIO()"]
    lines = [f"try:\n    exec({each!r})\nexcept Exception:\n    pass" for each in before]
    setup = "\n".join([*quiet, *lines, "__import__('sys').stdout = __printed"]) if before else ""
    return Call(setup, _echoing(source))


def _echoing(source: str) -> str:
    """What a prompt does with a line: it prints the value of an expression unless that is None."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return f"import sys; sys.displayhook({unparsed(tree.body[0])})"
    return source


def _prepare(case: Case, runtime: Runtime) -> tuple[list[Example], Place]:
    # An instruction that is the docstring states its examples a second time.
    documented = examples_of(case.before.text, case.unit)
    known = {(each.source, each.want, each.error) for each in documented}
    stated = [each for each in read_examples([case.stated]) if (each.source, each.want, each.error) not in known]
    examples = [*stated, *documented]
    return examples, place_of(case.path, (case.before.text, case.after.text), runtime)


async def outcomes(
    runtime: Runtime, text: str, calls: tuple[Call, ...], place: Place
) -> dict[int, Outcome] | Impossible:
    """What each call comes to in a text, by its number; fewer than all where the time was used up."""
    told = await _told(runtime, text, calls, place)
    return told if isinstance(told, Impossible) else dict(told.outcomes)


async def _told(runtime: Runtime, text: str, calls: tuple[Call, ...], place: Place) -> Told | Impossible:
    trial = Trial((text,), calls, "", place.path, place.name, place.roots, place.warm, reads=place.overlay is not None)
    report = await run(runtime, replace(trial, cpu=1.0, plain=True), place.overlay)
    if isinstance(report, Impossible):
        return report
    if report.texts[0].problem:
        return Impossible(f"the file cannot be imported ({report.texts[0].problem})")
    return report.texts[0]


def _said(verdict: Ruling, detail: str, *, trusted: bool = False) -> Evidence:
    return Evidence(Check.DOCTEST, verdict, detail, trusted=trusted)
