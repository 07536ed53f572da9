"""The judges' results for the files and units of a change."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from types import MappingProxyType

from stet_ls.engine.api.actions import CHANGED_CODE
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case, syntax_result, timed, undefined_names
from stet_ls.engine.judges.differential.judge import judge_unit
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.intent import ChangeIntent, IntentKind
from stet_ls.engine.verify.changes.units import Pairing, UnitChange, UnitChangeKind, is_code
from stet_ls.engine.verify.lost_names import lost_unit
from stet_ls.engine.verify.report import CheckResult
from stet_ls.validators import syntax
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.findings import new_findings
from stet_ls.validators.languages import family
from stet_ls.validators.source import Source

"""The action of the cases: the strictest, whose edits may add no effects."""


def former_files(change: Change, language: str) -> Mapping[Path, str]:
    """The changed files of a language family as they were, by their paths."""
    alike = family(language)
    files = (each for each in change.files if each.before is not None and each.language in alike)
    return {change.root / each.was: each.text(each.before) or "" for each in files}


def case_of(
    change: Change,
    file: ChangedFile,
    tools: Toolbox,
    runtime: Runtime | None,
    former: Mapping[Path, str] = MappingProxyType({}),
) -> Case:
    """The case of a file: both texts, in the place of the new one; `former` files are there for the old text."""
    own = {change.root / file.was, change.root / file.path}
    former = {path: text for path, text in former.items() if path not in own}
    before, after = file.text(file.before) or "", file.text(file.after) or ""
    return Case(
        CHANGED_CODE, file.language, change.root / file.path, Source(before), Source(after), tools=tools,
        runtime=runtime, secrets=frozenset(), former=former,
    )  # fmt: skip


async def static_checks(case: Case, file: ChangedFile, intent: ChangeIntent) -> tuple[CheckResult, ...]:
    """Syntax, names, dangerous calls, and whether the code is the same but for comments. Nothing is run."""
    if line := _line_of_conflict(file):
        return (CheckResult(Check.SYNTAX.value, Ruling.FAIL, "marks of a merge conflict", refutes=True, line=line),)
    parsed = await timed(judge_of(Check.SYNTAX), case)
    line = await asyncio.to_thread(_line_of_syntax, case) if parsed.verdict is Ruling.FAIL else 0
    if parsed.verdict is Ruling.FAIL and is_of_tests(file.path) and not is_code(file):
        # Data of tests is broken on purpose, or of a newer version of its format than the grammar.
        found = [replace(CheckResult.of(replace(parsed, trusted=False), noted=True, line=line), opens=True)]
    else:
        found = [CheckResult.of(parsed, line=line)]
    if file.after is None or parsed.verdict is Ruling.FAIL:
        return tuple(found)
    named = await timed(judge_of(Check.NAMES), case)
    line = await asyncio.to_thread(_line_of_names, case) if named.verdict is Ruling.FAIL else 0
    found.append(CheckResult.of(named, line=line))
    danger = await timed(judge_of(Check.DANGER), case)
    found.append(CheckResult.of(danger, noted=danger.verdict is Ruling.UNKNOWN))
    if file.before is not None:
        found.append(_same_code(await timed(judge_of(Check.COMMENTS), case), file, intent))
    elif intent.kind is IntentKind.TEST and is_code(file) and not is_of_tests(file.path):
        found.append(
            CheckResult(
                Check.COMMENTS.value, Ruling.FAIL, "a change of tests adds product code", intent.is_stated, True
            )
        )
    return tuple(found)


async def lint_results(case: Case) -> CheckResult:
    """New findings of the linter: style is the project's choice, so they are notes."""
    found = await timed(judge_of(Check.LINT), case)
    return CheckResult.of(replace(found, trusted=False), noted=found.verdict is Ruling.UNKNOWN)


async def type_results(case: Case) -> CheckResult:
    """New errors of the project's type checker. They refute nothing, since what runs may be right all the same; a
    change with an error in its own lines is not ok.
    """
    found = await timed(judge_of(Check.TYPES), case)
    is_at_fault = found.verdict is Ruling.FAIL
    result = CheckResult.of(replace(found, trusted=False), noted=is_at_fault or found.trusted)
    return replace(result, opens=is_at_fault)


def _same_code(evidence: Evidence, file: ChangedFile, intent: ChangeIntent) -> CheckResult:
    """Equal code is proven by its tree; changed code contradicts a change of docs, and product code one of tests."""
    same = evidence.verdict is Ruling.PASS and file.was == file.path
    keeps = intent.kind is IntentKind.DOCS or (intent.kind is IntentKind.TEST and not is_of_tests(file.path))
    contradicts = keeps and is_code(file) and evidence.verdict is Ruling.FAIL
    if contradicts and intent.kind is IntentKind.TEST:
        evidence = replace(evidence, detail="a change of tests edits product code")
    plain = replace(evidence, trusted=contradicts and intent.is_stated)
    if evidence.verdict is Ruling.FAIL and not contradicts:
        plain = replace(plain, verdict=Ruling.SKIPPED, detail="")
    return CheckResult.of(plain, proves=same, noted=contradicts)


def is_same_code(checks: Sequence[CheckResult]) -> bool:
    """Whether only comments and docstrings changed."""
    return any(each.check == Check.COMMENTS and each.proves for each in checks)


def is_broken(checks: Sequence[CheckResult]) -> bool:
    """Whether nothing else can be judged: the new text does not parse."""
    return any(each.check == Check.SYNTAX and each.status is Ruling.FAIL for each in checks)


async def compare_unit(
    case: Case, unit: UnitChange, intent: ChangeIntent, others: Sequence[ChangedFile]
) -> CheckResult:
    """The behavior of a unit, old against new. Only a claim that it is the same is refuted by a difference.

    `others` are other files of the change.
    """
    check = Check.DIFFERENTIAL.value
    if (lost := lost_unit(unit, intent, others)) is not None:
        return lost
    if unit.pairing is Pairing.SIMILAR:
        return CheckResult(
            check, Ruling.UNKNOWN, f"{unit.change} from `{unit.was}` and edited: its behavior is not compared",
            opens=True,
        )  # fmt: skip
    if unit.change is not UnitChangeKind.CHANGED or not unit.name:
        why = (
            "there is no old form to compare with"
            if unit.change is UnitChangeKind.ADDED
            else f"{unit.change} code is not compared"
        )
        return CheckResult(check, Ruling.SKIPPED, why if unit.name else "code outside of functions is not compared")
    if case.runtime is None or case.runtime.left() <= 0:
        return CheckResult.late(Check.DIFFERENTIAL)
    evidence = await judge_unit(replace(case, unit=unit.name, parts=unit.parts), unit.name)
    if evidence.verdict is Ruling.PASS:
        return CheckResult.of(evidence, proves=evidence.trusted)
    if evidence.verdict is not Ruling.FAIL:
        return CheckResult.of(evidence, noted=evidence.trusted)
    if not for_language(case.language).loads_former and (module := _imported(case, others)):
        detail = f"{evidence.detail} (with the new `{module}`)"
        return replace(CheckResult.of(replace(evidence, detail=detail, trusted=False), noted=True), opens=True)
    blames = intent.is_stated and intent.keeps_behavior
    is_narrow = intent.kind is IntentKind.FIX and evidence.for_tests_alone
    if is_narrow:
        near = f"none of {evidence.count - evidence.differing} other inputs differs"
        evidence = replace(evidence, detail=f"{evidence.detail}; {near}")
    result = CheckResult.of(replace(evidence, trusted=blames), noted=True)
    return replace(result, opens=intent.kind is not IntentKind.FIX or is_narrow)


def _imported(case: Case, others: Sequence[ChangedFile]) -> str:
    """A changed file that the case's file probably uses: the old text ran with the new one."""
    for each in others:
        stem = PurePath(each.path).stem
        name = PurePath(each.path).parent.name if stem in ("__init__", "index") else stem
        if name and re.search(rf"^\s*(?:from|import|export)\b.*\b{re.escape(name)}\b|require\(.*{re.escape(name)}",
                              case.before.text, re.MULTILINE):  # fmt: skip
            return each.path
    return ""


def _line_of_conflict(file: ChangedFile) -> int:
    """The line of a new mark of a conflict, from 1; 0 if there is none. Prose and settings have them, too."""
    known = {*(file.text(file.before) or "").splitlines()}
    start, is_open = 0, False
    for number, line in enumerate((file.text(file.after) or "").splitlines(), 1):
        if line.startswith("<<<<<<< ") and line not in known:
            start, is_open = number, False
        elif start and line == "=======":
            is_open = True
        elif is_open and line.startswith(">>>>>>> "):
            return start
    return 0


def _line_of_syntax(case: Case) -> int:
    before, after = (syntax_result(each, case.language, case.path, case.tools) for each in (case.before, case.after))
    new = syntax.broken_by(before, after)
    return new[0].line + 1 if new else 0


def _line_of_names(case: Case) -> int:
    before, after = (undefined_names(case, each) or () for each in (case.before, case.after))
    new = new_findings(before, after)
    return new[0].line + 1 if new else 0
