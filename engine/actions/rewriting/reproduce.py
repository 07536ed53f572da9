"""Reproduces a bug before it is fixed: each failure becomes a diagnostic in the prompt.

total([1, 2])            the project's tests that touch the target, the examples in its docstring, and what the
fails in test_total      user said goes wrong are run on the text as it is; each failure becomes a diagnostic
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.actions.rewriting.prose_examples import documented_examples
from stet_ls.engine.actions.rewriting.stated_examples import stated_examples
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Diagnostic, Request, Target, TargetKind
from stet_ls.engine.execution.javascript.inputs.known_calls.documented_calls import documented_calls, stated_calls
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges import doctest
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests import judge as project_tests
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.workspace.visible_files import shown_text
from stet_ls.validators.ast_text import try_parse

_MOST = 3
"""The most failures of each kind in a prompt: they often have the same cause."""
_LARGEST_TEST = 400_000
_LONGEST_TEST = 40


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The request with the failures added, and as `evidence`: what ran and fails, or that nothing does.

    `found`: something shows the bug, if only a diagnostic; `ran`: something that ran does. `holds`: the stated examples
    pass. `user_examples` are all examples that count, those in prose included; `case` is the text as it is, with what
    code runs with.
    """

    request: Request
    evidence: Evidence
    found: bool
    holds: bool
    ran: bool
    user_examples: str
    case: Case


async def reproduce(job: Job, target: Target, words: str) -> Reproduction:
    """Runs the tests and examples that can show the bug of `target`; `words` are the user's. Calls no model."""
    request = job.request
    own, user_examples, hints = await asyncio.to_thread(_examples, request, target, words)
    case = Case(
        request.action, request.language, request.path, request.source, request.source, target.name, job.tools,
        runtime=await job.runtime(request.source.text), user_examples=user_examples,
    )  # fmt: skip
    wrong = await doctest.failing(case, everywhere=target.kind is TargetKind.DOCUMENT)
    examples = [Diagnostic(target.span, message, source="doctest") for message in wrong[:_MOST]]
    holds = case.runtime is not None and bool(own) and not examples
    uncertain = await doctest.failing(replace(case, unit="", user_examples=hints)) if hints else []
    examples += [Diagnostic(target.span, f"{message} (if its description is read rightly)", source="documentation")
                 for message in uncertain[:_MOST]]  # fmt: skip
    failed = (await project_tests.failing(case))[:_MOST]
    tests = [Diagnostic(target.span, f"{it.id} fails: {it.problem}{it.place}", source="tests") for it in failed]
    shown = {f"the failing test {each.id}": text for each in failed[:1] if (text := _text_of(job, each.id))}
    found = (*request.diagnostics, *tests, *examples)
    request = replace(request, diagnostics=found, context={**request.context, **shown})
    seen = [*(f"{each.name} fails: {each.problem}" for each in failed), *wrong[:_MOST]]
    return Reproduction(
        request, _evidence(case, seen, job.request.diagnostics), bool(found), holds, bool(seen), user_examples, case
    )


def _examples(request: Request, target: Target, words: str) -> tuple[str, str, str]:
    """The examples that the user's words state, with those in prose that are certain, and those that are not."""
    language = for_language(request.language)
    if language.documents_calls:
        return _documented(request, target, words)
    if not language.runs_examples:
        return "", "", ""
    own = stated_examples("\n".join((words, *request.constraints)), target.name)
    prose = documented_examples(request.source.text, target.name, "" if own else words)
    user_examples = own + "".join(each.text for each in prose if each.certain and each.text not in own)
    return own, user_examples, "".join(each.text for each in prose if not each.certain)


def _documented(request: Request, target: Target, words: str) -> tuple[str, str, str]:
    """The same for a language whose doc comments hold calls with their results."""
    requested = (
        stated_calls("\n".join((words, *request.constraints)), target.name, from_user=True) if target.name else ()
    )
    own = "".join(each.text for each in requested if each.certain)
    calls = documented_calls(request.source.text, request.language, target.name)
    user_examples = own + "".join(each.text for each in calls if each.certain)
    return own, user_examples, "".join(each.text for each in (*requested, *calls) if not each.certain)


def _evidence(case: Case, seen: Sequence[str], known: Sequence[Diagnostic]) -> Evidence:
    """What ran and fails, without positions; else a tool's diagnostic; else why nothing shows the bug."""
    if seen:
        first = seen[0].partition("\n")[0]
        more = f", and {len(seen) - 1} more" if len(seen) > 1 else ""
        return Evidence(Check.REPRODUCED, Ruling.PASS, first + more, count=len(seen))
    if known:
        detail = f"{known[0].source or 'a diagnostic'} says: {known[0].message.partition(chr(10))[0]}"
        return Evidence(Check.REPRODUCED, Ruling.PASS, detail, count=len(known))
    why = "the budget `quick` runs no code" if case.runtime is None else "no executed test or example fails"
    return Evidence(Check.REPRODUCED, Ruling.UNKNOWN, why)


def _text_of(job: Job, name: str) -> str:
    """The text of a Python test by its id; "" if it is not available."""
    file, _, rest = name.partition("::")
    function = rest.rpartition("::")[2].partition("[")[0]
    ignored = IgnoredFiles(job.request.workspace, job.settings.privacy.ignore)
    for root in job.request.workspace.roots:
        text = shown_text(job.request, root / file, ignored, most=_LARGEST_TEST) or ""
        tree = try_parse(text)
        if tree is None:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
                lines = (ast.get_source_segment(text, node) or "").splitlines()
                return "\n".join(lines) if len(lines) <= _LONGEST_TEST else ""
    return ""
