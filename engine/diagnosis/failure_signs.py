"""Reads facts from a failure in any language."""

from __future__ import annotations

import itertools
import math
import re

from stet_ls.engine.diagnosis.diagnosis import CodeFacts
from stet_ls.engine.runners.report import AssertComparison, CaseFailure, Frame, FrameOrigin

_ASSERTION = frozenset({
    "AssertionError", "AssertionFailedError", "ERR_ASSERTION", "ComparisonFailure", "Failed", "TestFailure",
})  # fmt: skip
_DENIED = frozenset({
    "PermissionError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "gaierror", "herror",
    "MemoryError", "OutOfMemoryError", "ConnectException", "UnknownHostException", "AccessDeniedException",
    "NoRouteToHostException", "BlockingIOError", "HeadlessException", "ConnectError", "NewConnectionError",
})  # fmt: skip
_DENIED_WORDS = re.compile(
    r"[Rr]ead-only file system|ReadOnlyFilesystem|EROFS|EACCES|EPERM|ECONNREFUSED|ENOTFOUND|ENETUNREACH|EAI_AGAIN"
    r"|[Nn]etwork is unreachable|[Cc]onnection refused|[Pp]ermission denied|[Oo]peration not permitted|no such host"
    r"|executable file not found|no suitable address found|fetch failed|no required module provides package"
    r"|[Tt]emporary failure in name resolution|[Nn]ame or service not known|Cannot allocate memory|ENOMEM"
    r"|unable to open database file|attempt to write a readonly database|No space left on device|ENOSPC"
    r"|[Nn]o route to host|EHOSTUNREACH|[Nn]etwork is down|ENETDOWN|Cannot connect to the Docker daemon"
    r"|no \$?DISPLAY\b|no display name|(?:connect to|open) display|DISPLAY environment variable"
)
_LOST = (
    re.compile(r"No such file or directory: '([^']+)'"),
    re.compile(r"ENOENT: no such file or directory, \w+ '([^']+)'"),
    re.compile(
        r"\b(?:open|stat|lstat|mkdir|chdir|read|remove) ([^\s:]+): (?:no such file or directory|not a directory)"
    ),
)
_ABSENT = (
    re.compile(r"(?:no required module provides|cannot find module providing) package ([^\s;:]+)"),
    re.compile(r"package ([^\s;:]+) (?:is not in (?:GOROOT|std)|does not exist)"),
    re.compile(r"(?:unresolved import|can't find crate for|unlinked crate|undeclared crate or module) `(\w+)`"),
    re.compile(r"^'?([^\s':]+)'?(?:: No such file or directory| file not found)", re.MULTILINE),
)
_LOST_TYPES = frozenset({"NoSuchFileException", "FileNotFoundException"})
_EXACT = frozenset({"==", "===", "", "equal", "strictEqual", "deepEqual", "deepStrictEqual"})
_SAME = 1e-6
"""Relative difference up to which two floats that should be equal only need a tolerant comparison."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*\w)")
_WANTED = re.compile(r"\b(?:want(?:ed)?|expect(?:ed)?|should be|not equal|!=)", re.IGNORECASE)


def is_assertion(failure: CaseFailure) -> bool:
    """True if an assertion of a test failed."""
    if failure.comparison is not None or failure.type in _ASSERTION or "AssertionError" in failure.mro:
        return True
    # Rust's `assert!` panics like all other errors.
    at = failure.deepest
    return failure.message.startswith("assertion failed") and at is not None and at.origin is FrameOrigin.TEST


def is_sandbox_denial(failure: CaseFailure) -> bool:
    """True for an action that the sandbox does not allow."""
    named = failure.type in _DENIED or _DENIED.intersection(failure.mro)
    # Go's tests report failures, including errors of the system, in their own words.
    speaks = not is_assertion(failure) or failure.type == "TestFailure"
    return speaks and (bool(named) or _DENIED_WORDS.search(failure.message) is not None)


def missing_file(failure: CaseFailure) -> str | None:
    """The path of a missing file or folder, if that is the reason for the failure."""
    if is_assertion(failure) and failure.type != "TestFailure":
        return None
    if failure.type in _LOST_TYPES:
        return failure.message.strip().partition("\n")[0].partition(" (")[0] or None
    matches = (pattern.search(failure.message) for pattern in _LOST)
    return next((match[1] for match in matches if match is not None), None)


def absent_package(failure: CaseFailure) -> str | None:
    """The package, crate or header that a compiler did not find."""
    if failure.type != "CompileError":
        return None
    return next((match[1] for pattern in _ABSENT if (match := pattern.search(failure.message)) is not None), None)


def missing_name(failure: CaseFailure) -> str | None:
    """The name that was requested from a module of the project and is missing there."""
    patterns = (
        r"cannot import name '(\w+)'",
        r"module '[\w.]+' has no attribute '(\w+)'",
        r"does not provide an export named '(\w+)'",
        r"(?:\(\d+ , )?\w+\.(\w+)\)? is not a (?:function|constructor)",
        r"undefined: (?:\w+\.)?(\w+)",
        r"cannot find (?:function|value|struct)[^`]*`(\w+)`",
        r"unresolved import `(?:\w+::)*(\w+)`",
        r"undefined reference to [`'](?:\w+::)*(\w+)",
        r"cannot find symbol.*?symbol:\s+(?:method|class|variable) (\w+)",
    )
    matches = (re.search(pattern, failure.message, re.DOTALL) for pattern in patterns)
    return next((match[1] for match in matches if match is not None), None)


def nearly_equal(failure: CaseFailure) -> tuple[str, str] | None:
    """Two floats compared exactly that differ only by rounding; read from the message if there is no comparison."""
    compared = failure.comparison
    if compared is not None:
        return _close(compared.left, compared.right) if compared.operator in _EXACT else None
    if not is_assertion(failure) or not _WANTED.search(failure.message):
        return None
    numbers = _NUMBER.findall(failure.message)[:8]
    return next((found for pair in itertools.pairwise(numbers) if (found := _close(*pair)) is not None), None)


def sides(compared: AssertComparison) -> str:
    """A comparison in words."""
    return f"{compared.left} {compared.operator} {compared.right} is false"


def is_raised_on_purpose(frame: Frame, about: CodeFacts) -> bool:
    """True if the line is a `raise`, a `throw` or a `panic`: the code's author intended it, perhaps not the test's."""
    lines = about.texts.get(frame.path, "").splitlines()
    line = lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""
    return (
        re.search(r"^(?:raise|throw)\b|^(?:panic|assert|unreachable)!?\(|^return .*\berrors?\.|\bthrow new\b", line)
        is not None
    )


def _close(left: str, right: str) -> tuple[str, str] | None:
    one, other = _float(left), _float(right)
    if one is None or other is None or left.strip() == right.strip() or not math.isclose(one, other, rel_tol=_SAME):
        return None
    whole = not any(mark in left + right for mark in ".eE")  # differing long integers are not a rounding error
    return None if whole else (left, right)


def _float(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text.strip()) else None
