"""Errors of compilers and exits of programs: common to all compiled languages."""

from __future__ import annotations

import posixpath
import re
import signal
from collections.abc import Iterator

from stet_ls.engine.runners.box_steps import BoxStepOutput
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseFailure, CollectionError, Phase
from stet_ls.engine.runners.reporter_events import inside

_GNU = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<what>.*)$", re.M)
"""`file:line:column: error: what`, the format of C, C++ and Java compilers."""

_MOST = 20


def build_errors(
    test: str, build: BoxStepOutput, plan: TestPlan, pattern: re.Pattern[str] = _GNU, root: str = ""
) -> list[CollectionError]:
    """Each error of a build with its place; at least one, with the whole text. `pattern` names its groups.

    Paths are relative to the folder `root` (the working folder by default).
    """
    found = list(_errors(build.text, plan, pattern, root or plan.root))[:_MOST]
    if found:
        return found
    text = build.text.strip() or f"the compiler ended with {build.code}"
    message = f"the compiler was stopped: {build.why}" if build.why else text[-2000:]
    return [CollectionError(test, CaseFailure("CompileError", message, Phase.BUILD))]


def _errors(text: str, plan: TestPlan, pattern: re.Pattern[str], root: str) -> Iterator[CollectionError]:
    for match in pattern.finditer(text):
        named = match["path"]  # names in angle brackets are not files
        path = named if named.startswith("<") else inside(posixpath.normpath(posixpath.join(root, named)), plan)
        place = (path, int(match["line"]), int(match["column"] or 0))
        yield CollectionError(path, CaseFailure("CompileError", match["what"], Phase.BUILD, place=place))


def died(ran: BoxStepOutput) -> CaseFailure:
    """How a program ended that reported nothing better."""
    last = "\n".join(ran.err or ran.out)[-2000:].strip()
    if ran.why:
        return CaseFailure("Timeout" if ran.why == "timeout" else "OutputLimit", last, Phase.CALL)
    code = ran.code or 0
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return CaseFailure(name, last, Phase.CALL)
    return CaseFailure("ExitStatus", f"it ended with {code}\n{last}".strip(), Phase.CALL)
