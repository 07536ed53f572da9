"""The table of causes: the first rule that fits a symptom decides. The order is part of the rules."""

from __future__ import annotations

import re
from collections.abc import Callable

from stet_ls.engine.diagnosis.arguments import argument_of_wrong_type, is_requested_signature, is_wrong_call
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, Diagnosis, Symptom
from stet_ls.engine.diagnosis.failure_signs import (
    absent_package,
    is_assertion,
    is_raised_on_purpose,
    is_sandbox_denial,
    missing_file,
    missing_name,
    nearly_equal,
    sides,
)
from stet_ls.engine.diagnosis.fixes import Fix
from stet_ls.engine.runners.report import Frame, FrameOrigin, Phase

Rule = Callable[[Symptom, CodeFacts], Diagnosis | None]

_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError", "CompileError"})
_IMPORT = frozenset({"ModuleNotFoundError", "ImportError", "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"})
_ENDLESS = frozenset({"RecursionError", "StackOverflowError"})
_STACK_WORDS = re.compile(r"Maximum call stack size exceeded|stack overflow|goroutine stack exceeds")
_PROGRAMS = ("subprocess.py", "node:child_process", "os/exec")
_SETUP_WORDS = re.compile(r"fixture '[^']+' not found|duplicate|parametrize|in \"parametrize\"|ScopeMismatch")


def syntax(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """A file that does not parse or compile: the candidate's, or the tests'."""
    failure = symptom.failure
    if failure.type not in _SYNTAX or is_sandbox_denial(failure) or absent_package(failure) is not None:
        return None
    file = failure.place[0] if failure.place else symptom.file
    if file not in about.solution and missing_name(failure) is not None:
        return None  # the syntax is valid: a missing name is an interface problem
    if failure.type == "CompileError" and failure.place is None:
        # An error without a place is a build problem: a stopped compiler, a linker, the project's settings.
        return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.build", f"it cannot be built: {failure.summary}")
    where = f"{file}:{failure.place[1]}" if failure.place else file
    if file in about.solution:
        return Diagnosis(symptom, Cause.LOGIC, "logic.syntax", f"{where}: {failure.summary}", Fix("parses"))
    return Diagnosis(symptom, Cause.TEST, "test.syntax", f"the tests do not parse: {where}: {failure.summary}")


def missing_module(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """An import of something that is neither installed nor in the workspace."""
    failure = symptom.failure
    module = failure.module if failure.type in _IMPORT else absent_package(failure)
    if not module:
        return None
    whole = module.startswith("@") or failure.type not in _IMPORT
    top = module if whole else module.split("/")[0].split(".")[0]
    ours = top in about.modules or any(file.rpartition(".")[0].replace("/", ".") == top for file in about.solution)
    if module.startswith(".") or ours or top in about.installed:
        return None
    detail = f"the package {top!r} is not installed"
    return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.package", detail, Fix("does not import", top))


def interface(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """A name of the candidate that the tests use and that is missing."""
    failure = symptom.failure
    name = missing_name(failure)
    if name is None:
        return None
    if name == about.unit or name in about.asked:
        detail = f"`{name}` was asked for and is not defined"
        return Diagnosis(symptom, Cause.LOGIC, "logic.interface", detail, Fix("defines", name))
    return Diagnosis(symptom, Cause.TEST, "test.interface", f"the tests use `{name}`, which was not requested")


def broken_setup(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """A test that the runner could not even start."""
    failure = symptom.failure
    if failure.phase not in (Phase.SETUP, Phase.COLLECT):
        return None
    frame = failure.deepest
    if not _SETUP_WORDS.search(failure.message) and frame is not None and frame.origin is FrameOrigin.PROJECT:
        return None
    if is_sandbox_denial(failure):
        return None
    return Diagnosis(symptom, Cause.TEST, "test.setup", f"the test cannot be set up: {failure.summary}")


def environment(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """Something that the sandbox does not provide: network, files outside, other programs, more memory."""
    failure = symptom.failure
    if symptom.stopped == "starved":
        detail = "the machine was too busy to finish it"
        return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.busy", detail)
    if symptom.stopped in ("memory", "disk", "procs", "output"):
        detail = f"the sandbox's limit on {symptom.stopped} was met"
        return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.limit", detail)
    if is_sandbox_denial(failure):
        detail = f"the sandbox does not allow it: {failure.type}: {failure.summary}"
        return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.sandbox", detail)
    started = any(frame.path.endswith(_PROGRAMS) for frame in failure.frames)
    if started and (failure.type == "FileNotFoundError" or "ENOENT" in failure.message):
        return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.program", f"a program is missing: {failure.summary}")
    return None


def lost(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """A missing file: one of the machine's that the code names, or one that a test should have provided."""
    path = missing_file(symptom.failure)
    if path is None:
        return None
    top = f"/{path.split('/')[1]}/" if path.startswith("/") and path.count("/") > 1 else ""
    if top and any(top in text for text in about.texts.values()):
        detail = f"the code needs a place outside of its folder, which the sandbox does not have: {path}"
        return Diagnosis(symptom, Cause.ENVIRONMENT, "environment.file", detail)
    frame = symptom.failure.deepest
    ours = frame is not None and frame.origin is FrameOrigin.PROJECT
    if ours or any(path in text for text in about.texts.values()):
        return None
    return Diagnosis(symptom, Cause.TEST, "test.file", f"the test needs a file that it does not make: {path}")


def endless(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """Code that does not finish."""
    failure = symptom.failure
    overflow = failure.type in _ENDLESS or _STACK_WORDS.search(failure.message)
    if symptom.stopped != "timeout" and not overflow:
        return None
    frame = failure.deepest
    if frame is not None and frame.origin is FrameOrigin.TEST:
        return Diagnosis(symptom, Cause.TEST, "test.nontermination", "the test itself does not end")
    detail = "it calls itself without an end" if overflow else "it does not finish in time"
    return Diagnosis(symptom, Cause.LOGIC, "logic.nontermination", detail, _change(frame, about))


def died(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """The process ended in the middle of a test."""
    if symptom.failure.type != "ProcessDied":
        return None
    detail = "the process exited while this test ran: the code leaves the program"
    return Diagnosis(symptom, Cause.LOGIC, "logic.exit", detail, Fix("changes", about.unit))


def crash(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """An exception that leaves the candidate, or the test."""
    failure, frame = symptom.failure, symptom.failure.deepest
    if is_assertion(failure) or frame is None:
        return None
    detail = f"{failure.type}: {failure.summary} (in {frame.function}, {frame.path}:{frame.line})"
    if frame.origin is FrameOrigin.PROJECT:
        if (wrong := argument_of_wrong_type(failure, frame, about)) is not None:
            return Diagnosis(symptom, Cause.TEST, "test.argument", f"the test passes {wrong}")
        if is_raised_on_purpose(frame, about):
            return Diagnosis(symptom, Cause.UNDETERMINED, "undetermined", f"the code refuses on purpose: {detail}")
        return Diagnosis(symptom, Cause.LOGIC, "logic.crash", detail, _change(frame, about))
    if is_wrong_call(failure, about):
        return _call(symptom, about)
    return Diagnosis(symptom, Cause.TEST, "test.crash", f"the test itself fails: {detail}")


def tolerance(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """Two floats that were compared exactly."""
    if (pair := nearly_equal(symptom.failure)) is None:
        return None
    return Diagnosis(symptom, Cause.TEST, "test.tolerance", f"{pair[0]} and {pair[1]} need a tolerance")


def mismatch(symptom: Symptom, about: CodeFacts) -> Diagnosis | None:
    """A value other than the expected one: the code or the test may be wrong."""
    failure = symptom.failure
    if not is_assertion(failure):
        return None
    detail = sides(failure.comparison) if failure.comparison else failure.summary
    return Diagnosis(symptom, Cause.UNDETERMINED, "undetermined", f"the code or the test is wrong: {detail}")


RULES: tuple[Rule, ...] = (
    *(syntax, missing_module, interface, environment, broken_setup, lost),
    *(endless, died, crash, tolerance, mismatch),
)
"""In order of priority."""


def unknown(symptom: Symptom, about: CodeFacts) -> Diagnosis:
    """A failure that no rule matches."""
    detail = f"{symptom.failure.type}: {symptom.failure.summary}".removesuffix(": ")
    return Diagnosis(symptom, Cause.UNDETERMINED, "undetermined", detail)


def _change(frame: Frame | None, about: CodeFacts) -> Fix:
    inside = frame is not None and frame.origin is FrameOrigin.PROJECT and not frame.function.startswith("<")
    name = frame.function.rpartition(".")[2] if frame is not None and inside else ""  # Go prefixes the package
    return Fix("changes", name or about.unit)


def _call(symptom: Symptom, about: CodeFacts) -> Diagnosis:
    """A call that does not fit: the requested signature decides whether test or code is wrong."""
    detail = symptom.failure.summary
    if is_requested_signature(detail, about):
        fix = Fix("changes", about.unit)
        detail = f"`{about.unit}` has other parameters than asked: {detail}"
        return Diagnosis(symptom, Cause.LOGIC, "logic.interface", detail, fix)
    return Diagnosis(
        symptom, Cause.TEST, "test.call", f"the test calls it with other arguments than requested: {detail}"
    )
