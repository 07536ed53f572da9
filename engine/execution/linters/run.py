"""Runs a language's linter in the sandbox on a file with its current text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.linters.language_table import ROWS, LintLine, SandboxLinter
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import box_steps, report_channel
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.spec import COMPILE, Overlay
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.source import Source, Span

_MIB = 1 << 20
_LIMITS = replace(COMPILE, data=2048 * _MIB, processes=256, scratch=512 * _MIB, scratch_files=20_000)
_LEAST_SECONDS, _SECONDS = 2.0, 40.0


async def lint_in_sandbox(
    runtime: Runtime, language: str, path: Path, source: Source
) -> tuple[str, tuple[Finding, ...] | str] | None:
    """The linter's name, and its findings or why there are none; None if the language has no such linter.

    The workspace is an overlay: the file has its text in the buffer, and nothing is written into the project.
    """
    linter, root = ROWS.get(language), runtime.root_of(path)
    if linter is None or root is None:
        return None
    if runtime.left() < _LEAST_SECONDS:
        return linter.name, "no time is left"
    name = path.relative_to(root).as_posix()
    try:
        command = linter.command(root, name)
    except MissingToolError as missing:
        return linter.name, f"{missing} is not on this machine ({missing.install})"
    if command is None:
        return None
    nonce = report_channel.new_nonce()
    spec = box_steps.spec(
        nonce, [BoxStep("lint", command.argv, _SECONDS)], files={}, binds=command.binds, env=command.env,
        limits=_LIMITS.within(runtime.left()),
    )  # fmt: skip
    overlay = Overlay(root, {**runtime.unsaved(root, path), name: source.data})
    try:
        run = await runtime.sandbox.run(replace(spec, overlay=overlay, report=True))
    except StetError as refused:
        return linter.name, str(refused)
    step = box_steps.outputs(list(report_channel.events(run.report, nonce))).get("lint")
    if step is None or step.code is None or step.why:
        return linter.name, step.why if step is not None and step.why else "it did not finish"
    return linter.name, _findings(linter, step.text, name, source)


def _findings(linter: SandboxLinter, text: str, name: str, source: Source) -> tuple[Finding, ...]:
    return tuple(
        dict.fromkeys(
            _finding(linter, one, source)
            for one in linter.read(text)
            if 0 < one.line <= source.line_count and _is_it(one, name)
        )
    )


def _is_it(one: LintLine, name: str) -> bool:
    path = one.path.removeprefix("./")
    return path == name or path.endswith(f"/{name}") or name.endswith(f"/{path}")


def _finding(linter: SandboxLinter, one: LintLine, source: Source) -> Finding:
    line = source.line_span(one.line - 1)
    start = min(line.start + one.column - 1, line.end)
    text = source.line_text(one.line - 1)
    if one.column == 1:
        start = line.start + len(text) - len(text.lstrip())
    return Finding(
        Span(start, max(start, line.end)), one.message, kind="lint", severity=Severity.WARNING,
        source=linter.name.partition(",")[0].removeprefix("the "), code=one.code, line=one.line - 1,
    )  # fmt: skip
