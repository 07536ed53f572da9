"""The stack of a C or C++ program that was ended by a signal, resolved by the compiler's own tools.

A sanitizer is not used: it reserves more memory than a sandbox allows (RLIMIT_DATA).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.box_steps import BoxStep, BoxStepOutput
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseFailure, Frame, FrameOrigin
from stet_ls.engine.runners.reporter_events import frame_at
from stet_ls.engine.runners.toolchain import MissingToolError

_SECONDS = 5.0
_MANY = 50
"""The number of the user's frames above which the stack overflowed; `returned.c` writes 62 at most."""
_WORDS = {
    "SIGSEGV": "invalid memory access",
    "SIGBUS": "invalid memory access",
    "SIGFPE": "an arithmetic error, such as a division by zero",
    "SIGILL": "an illegal instruction",
    "SIGABRT": "aborted",
}
_PLACE = re.compile(r"^(?P<path>/.+):(?P<line>[1-9]\d*)(?: \(discriminator \d+\))?$")
_ARGUMENTS = re.compile(r"<[^<>]*>")


def address_step(name: str, built: str, frames: str) -> BoxStep | None:
    """The step that resolves a program's frames from a file of addresses; None without a tool for that."""
    try:
        program = toolchain.find("addr2line", "llvm-addr2line", install="binutils")
    except MissingToolError:
        return None
    if program.binds:  # it is outside the folders that the sandbox shows
        return None
    return BoxStep(name, (str(program.path), "-f", "-C", "-e", built, f"@{frames}"), _SECONDS)


def with_frames(failure: CaseFailure, ran: BoxStepOutput, where: BoxStepOutput | None, plan: TestPlan) -> CaseFailure:
    """The failure with its frames, outermost first, and with words for its signal."""
    if ran.code is None or ran.code >= 0:
        return failure
    frames = tuple(_frames(where.out if where is not None and where.well else (), plan))[::-1]
    own = [frame for frame in frames if frame.origin is not FrameOrigin.LIBRARY]
    if len(own) >= _MANY and failure.type == "SIGSEGV":
        return replace(failure, type="StackOverflow", message="stack overflow", frames=frames[-_MANY:])
    return replace(failure, message=failure.message or _WORDS.get(failure.type, ""), frames=failure.frames or frames)


def _frames(lines: Sequence[str], plan: TestPlan) -> Iterator[Frame]:
    """Reads pairs of lines: a function with its parameters, a file with a line."""
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        if match := _PLACE.match(place):
            yield frame_at(match["path"], int(match["line"]), _name(function), plan)


def _name(function: str) -> str:
    """`Stats.median` of `int Stats::median<int>(std::vector<int>) const`."""
    function = function.replace("(anonymous namespace)::", "")
    while (plain := _ARGUMENTS.sub("", function)) != function:
        function = plain
    return function.partition("(")[0].strip().rpartition(" ")[2].replace("::", ".")
