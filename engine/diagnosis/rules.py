"""The table of causes: the first rule that fits a symptom tells it. The order is part of the rules."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable

from stet_ls.engine.diagnosis.diagnosis import About, Cause, Diagnosis, Oracle, Symptom
from stet_ls.engine.diagnosis.fixes import Fix
from stet_ls.engine.sandbox.runners.report import Failure, Frame, Origin, Phase

Rule = Callable[[Symptom, About], Diagnosis | None]

_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError", "CompileError"})
_IMPORT = frozenset({"ModuleNotFoundError", "ImportError", "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"})
_ASSERTION = frozenset({
    "AssertionError", "AssertionFailedError", "ERR_ASSERTION", "ComparisonFailure", "Failed", "TestFailure",
})  # fmt: skip
_ENDLESS = frozenset({"RecursionError", "StackOverflowError"})
_DENIED = frozenset({
    "PermissionError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "gaierror", "herror",
    "MemoryError", "OutOfMemoryError", "ConnectException", "UnknownHostException", "AccessDeniedException",
    "NoRouteToHostException", "BlockingIOError",
})  # fmt: skip
_DENIED_WORDS = re.compile(
    r"Read-only file system|EROFS|EACCES|EPERM|ECONNREFUSED|ENOTFOUND|ENETUNREACH|EAI_AGAIN|[Nn]etwork is unreachable"
    r"|[Cc]onnection refused|[Pp]ermission denied|[Oo]peration not permitted|no such host"
    r"|executable file not found|no suitable address found|fetch failed|no required module provides package"
    r"|[Tt]emporary failure in name resolution|[Nn]ame or service not known|Cannot allocate memory|ENOMEM"
)
_OF_TYPES = frozenset({"TypeError", "AttributeError"})
_STACK_WORDS = re.compile(r"Maximum call stack size exceeded|stack overflow|goroutine stack exceeds")
_PROGRAMS = ("subprocess.py", "node:child_process", "os/exec")
_ARITY = re.compile(
    r"takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given|missing \d+ required"
    r"|unexpected keyword argument|takes no arguments"
)
_SETUP_WORDS = re.compile(r"fixture '[^']+' not found|duplicate|parametrize|in \"parametrize\"|ScopeMismatch")
_SAME = 1e-6
"""Relative difference up to which two floats that should be equal only need a tolerant comparison."""


def syntax(symptom: Symptom, about: About) -> Diagnosis | None:
    """A file that does not parse or compile: the candidate's, or the tests'."""
    failure = symptom.failure
    if failure.type not in _SYNTAX or _denied(failure):
        return None
    file = failure.place[0] if failure.place else symptom.file
    where = f"{file}:{failure.place[1]}" if failure.place else file
    if file in about.solution:
        return _told(symptom, Cause.LOGIC, "logic.syntax", f"{where}: {_first(failure)}", Fix("parses"))
    if file in about.trusted:
        # A trusted test that no longer compiles met another interface than the one it was written for.
        fix = Fix("changes", about.unit)
        return _told(symptom, Cause.LOGIC, "logic.interface", f"{where} no longer compiles: {_first(failure)}", fix)
    return _told(symptom, Cause.TEST, "test.syntax", f"the tests do not parse: {where}: {_first(failure)}")


def missing_module(symptom: Symptom, about: About) -> Diagnosis | None:
    """An import of something that is neither installed nor in the workspace."""
    failure = symptom.failure
    if failure.type not in _IMPORT or not failure.module:
        return None
    top = failure.module.split("/")[0].split(".")[0] if not failure.module.startswith("@") else failure.module
    ours = top in about.modules or any(file.rpartition(".")[0].replace("/", ".") == top for file in about.solution)
    if failure.module.startswith(".") or ours or top in about.installed:
        return None
    said = f"the package {top!r} is not installed"
    return _told(symptom, Cause.ENVIRONMENT, "environment.package", said, Fix("does not import", top))


def interface(symptom: Symptom, about: About) -> Diagnosis | None:
    """A name of the candidate that the tests ask for and that is not there."""
    failure = symptom.failure
    name = _missing_name(failure)
    if name is None:
        return None
    if name == about.unit or name in about.asked:
        said = f"`{name}` was asked for and is not defined"
        return _told(symptom, Cause.LOGIC, "logic.interface", said, Fix("defines", name))
    if symptom.file in about.trusted:
        said = f"{symptom.file} needs `{name}`, which is not defined"
        return _told(symptom, Cause.LOGIC, "logic.interface", said, Fix("defines", name))
    return _told(symptom, Cause.TEST, "test.interface", f"the tests use `{name}`, which nobody asked for")


def broken_setup(symptom: Symptom, about: About) -> Diagnosis | None:
    """A test that the runner could not even begin."""
    failure = symptom.failure
    if failure.phase not in (Phase.SETUP, Phase.COLLECT) or symptom.file in about.trusted:
        return None
    frame = failure.deepest
    if not _SETUP_WORDS.search(failure.message) and frame is not None and frame.origin is Origin.PROJECT:
        return None
    if _denied(failure):
        return None
    return _told(symptom, Cause.TEST, "test.setup", f"the test cannot be set up: {_first(failure)}")


def environment(symptom: Symptom, about: About) -> Diagnosis | None:
    """What the box does not give: network, files outside, other programs, more memory."""
    failure = symptom.failure
    if symptom.stopped in ("memory", "disk", "procs", "output"):
        said = f"the sandbox's limit on {symptom.stopped} was met"
        return _told(symptom, Cause.ENVIRONMENT, "environment.limit", said)
    if _denied(failure):
        said = f"the sandbox does not allow it: {failure.type}: {_first(failure)}"
        return _told(symptom, Cause.ENVIRONMENT, "environment.sandbox", said)
    started = any(frame.path.endswith(_PROGRAMS) for frame in failure.frames)
    if started and (failure.type == "FileNotFoundError" or "ENOENT" in failure.message):
        return _told(symptom, Cause.ENVIRONMENT, "environment.program", f"a program is missing: {_first(failure)}")
    return None


def endless(symptom: Symptom, about: About) -> Diagnosis | None:
    """Code that does not come to an end."""
    failure = symptom.failure
    overflow = failure.type in _ENDLESS or _STACK_WORDS.search(failure.message)
    if symptom.stopped != "timeout" and not overflow:
        return None
    frame = failure.deepest
    if frame is not None and frame.origin is Origin.TEST and symptom.file not in about.trusted:
        return _told(symptom, Cause.TEST, "test.nontermination", "the test itself does not end")
    said = "it calls itself without an end" if overflow else "it does not end in time"
    return _told(symptom, Cause.LOGIC, "logic.nontermination", said, _change(frame, about))


def died(symptom: Symptom, about: About) -> Diagnosis | None:
    """The process ended in the middle of a test."""
    if symptom.failure.type != "ProcessDied":
        return None
    said = "the process ended while this test ran: the code leaves the program"
    return _told(symptom, Cause.LOGIC, "logic.exit", said, Fix("changes", about.unit))


def crash(symptom: Symptom, about: About) -> Diagnosis | None:
    """An exception out of the candidate, or out of the test."""
    failure, frame = symptom.failure, symptom.failure.deepest
    if _is_assertion(failure) or frame is None:
        return None
    said = f"{failure.type}: {_first(failure)} (in {frame.function}, {frame.path}:{frame.line})"
    if frame.origin is Origin.PROJECT:
        misfit = None if symptom.file in about.trusted else _misfit(failure, frame, about)
        if misfit is not None:
            return _told(symptom, Cause.TEST, "test.argument", f"the test passes {misfit}")
        if symptom.file not in about.trusted and _on_purpose(frame, about):
            return _told(symptom, Cause.UNDETERMINED, "undetermined", f"the code refuses on purpose: {said}")
        return _told(symptom, Cause.LOGIC, "logic.crash", said, _change(frame, about))
    if symptom.file in about.trusted:
        return _told(symptom, Cause.LOGIC, "logic.crash", said, Fix("changes", about.unit))
    if _ARITY.search(failure.message) and about.unit and f"{about.unit.rpartition('.')[2]}()" in failure.message:
        return _arity(symptom, about)
    return _told(symptom, Cause.TEST, "test.crash", f"the test itself fails: {said}")


def tolerance(symptom: Symptom, about: About) -> Diagnosis | None:
    """Two floats compared as if they were exact."""
    compared = symptom.failure.comparison
    if compared is None or compared.operator not in ("==", "===", "") or symptom.file in about.trusted:
        return None
    left, right = _float(compared.left), _float(compared.right)
    if left is None or right is None or not math.isclose(left, right, rel_tol=_SAME):
        return None
    return _told(symptom, Cause.TEST, "test.tolerance", f"{compared.left} and {compared.right} need a tolerance")


def mismatch(symptom: Symptom, about: About) -> Diagnosis | None:
    """A value that is not the expected one: whom to believe depends on who vouches for the test."""
    failure = symptom.failure
    if not _is_assertion(failure):
        return None
    compared = failure.comparison
    said = f"{compared.left} {compared.operator} {compared.right} is false" if compared else _first(failure)
    fix = Fix("changes", about.unit)
    if symptom.file in about.trusted:
        return _told(symptom, Cause.LOGIC, "logic.mismatch", f"a trusted test fails: {said}", fix)
    match about.oracle:
        case Oracle.AGREES:
            return _told(symptom, Cause.TEST, "test.expectation", f"doctests and other samples say otherwise: {said}")
        case Oracle.DISAGREES:
            return _told(symptom, Cause.LOGIC, "logic.minority", f"most samples behave otherwise: {said}", fix)
        case Oracle.SILENT:
            return _told(symptom, Cause.UNDETERMINED, "undetermined", f"the code or the test is wrong: {said}")


RULES: tuple[Rule, ...] = (
    syntax,
    missing_module,
    interface,
    environment,
    broken_setup,
    endless,
    died,
    crash,
    tolerance,
    mismatch,
)
"""In the order in which they are asked."""


def unknown(symptom: Symptom, about: About) -> Diagnosis:
    """What no rule knows. A trusted test is believed all the same."""
    said = f"{symptom.failure.type}: {_first(symptom.failure)}"
    if symptom.file in about.trusted:
        return _told(symptom, Cause.LOGIC, "logic.unknown", said, Fix("changes", about.unit))
    return _told(symptom, Cause.UNDETERMINED, "undetermined", said)


def _told(symptom: Symptom, cause: Cause, kind: str, sentence: str, fix: Fix | None = None) -> Diagnosis:
    return Diagnosis(symptom, cause, kind, sentence, fix)


def _first(failure: Failure) -> str:
    return failure.message.strip().partition("\n")[0]


def _denied(failure: Failure) -> bool:
    named = failure.type in _DENIED or _DENIED.intersection(failure.mro)
    # Go's tests report what went wrong in words of their own, errors of the system among them.
    speaks = not _is_assertion(failure) or failure.type == "TestFailure"
    return speaks and (bool(named) or _DENIED_WORDS.search(failure.message) is not None)


def _is_assertion(failure: Failure) -> bool:
    return failure.comparison is not None or failure.type in _ASSERTION or "AssertionError" in failure.mro


def _missing_name(failure: Failure) -> str | None:
    """The name that a module of the project was asked for and did not have."""
    patterns = (
        r"cannot import name '(\w+)'",
        r"module '[\w.]+' has no attribute '(\w+)'",
        r"does not provide an export named '(\w+)'",
        r"(?:\(\d+ , )?\w+\.(\w+)\)? is not a (?:function|constructor)",
        r"undefined: (?:\w+\.)?(\w+)",
        r"cannot find (?:function|value|struct)[^`]*`(\w+)`",
        r"unresolved import `(?:\w+::)*(\w+)`",
        r"cannot find symbol.*?symbol:\s+(?:method|class|variable) (\w+)",
    )
    matches = (re.search(pattern, failure.message, re.DOTALL) for pattern in patterns)
    return next((match[1] for match in matches if match is not None), None)


def _change(frame: Frame | None, about: About) -> Fix:
    inside = frame is not None and frame.origin is Origin.PROJECT and not frame.function.startswith("<")
    return Fix("changes", frame.function if frame is not None and inside else about.unit)


def _arity(symptom: Symptom, about: About) -> Diagnosis:
    """A call that does not fit: whether test or code is wrong is read off the signature that was asked for."""
    said = _first(symptom.failure)
    given = re.search(r"but (\d+) (?:was|were) given", said)
    least, most = about.parameters or (0, 0)
    fits = given is not None and least <= int(given[1]) and (most is None or int(given[1]) <= most)
    if about.parameters is not None and fits:
        fix = Fix("changes", about.unit)
        said = f"`{about.unit}` has other parameters than asked: {said}"
        return _told(symptom, Cause.LOGIC, "logic.interface", said, fix)
    return _told(symptom, Cause.TEST, "test.call", f"the test calls it in a way that nobody asked for: {said}")


def _on_purpose(frame: Frame, about: About) -> bool:
    """True if the line is a `raise`, a `throw` or a `panic`: the author of the code meant it, the test's may not."""
    lines = about.texts.get(frame.path, "").splitlines()
    line = lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""
    return re.match(r"(raise|throw)\b|panic!?\(|return .*\berrors?\.", line) is not None


def _misfit(failure: Failure, frame: Frame, about: About) -> str | None:
    """An argument outside of the types that the frame's function states, as far as both are plain."""
    if failure.type not in _OF_TYPES or about.language != "python" or frame.function != about.unit.rpartition(".")[2]:
        return None
    for name, value in frame.locals:
        if (kind := about.types.get(name)) is None:
            continue
        try:
            given = type(ast.literal_eval(value)).__name__
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if given != kind and (given, kind) != ("int", "float"):
            return f"{name}={value}, which is no {kind}"
    return None


def _float(text: str) -> float | None:
    if not re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text.strip()):
        return None
    return float(text)
