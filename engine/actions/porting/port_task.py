"""A port as a task: a new module of one language from one of another (`language_table.py`), and its tests.

stet run task src/prices.js --instruction "port prices.js to Python with its tests"

  the model writes the module     both run on the same inputs; a difference goes back to the model
  the model ports the tests       they run on the port
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.porting.comparison import ModuleCalls, PortComparison, comparison_text
from stet_ls.engine.actions.porting.conversation import FailedReply, module_prompt, tests_prompt
from stet_ls.engine.actions.porting.requested import PortRequest
from stet_ls.engine.api.answer import Answer, NewFile
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check, Evidence, JudgedEdits, Ruling
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import UsageError
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.table import judges_for
from stet_ls.engine.loop import Draft, UnusableReply, judge_draft
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.privacy.redact import restore
from stet_ls.engine.prompt.build import Prompt
from stet_ls.engine.reply.parsing.parse_reply import parse_reply
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.validators.containment import is_inside
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source

_LARGEST = 100_000
_TOKENS = 3_000
_TRIES = 3


@dataclass(frozen=True, slots=True)
class _Port:
    """A candidate with its evidence. `problem` is why it is not right, "" if nothing says so."""

    text: str
    evidence: tuple[Evidence, ...]
    problem: str = ""


async def port_module(job: Job, asked: PortRequest) -> Answer:
    """The new files, judged; a refusal if the model wrote no module that can be offered. UsageError as it says."""
    request = job.request
    assert request.path is not None
    root = request.workspace.root_of(asked.source) or asked.source.parent
    if not is_inside(asked.target, root):
        return refusal(job, f"Port: {asked.target} is outside of {root.name}.")
    if asked.target.exists():
        return refusal(job, f"Port: {asked.target.name} exists already.")
    own = replace(
        job,
        request=replace(request, language=asked.target_language, path=asked.target, source=Source(""), selection=None),
        _runtime=None,
    )
    own.deadline = job.deadline
    return await _Porting(own, asked, root).run()


class _Porting:
    """One port. Paths are relative to `root`."""

    def __init__(self, job: Job, asked: PortRequest, root: Path) -> None:
        self._job, self._asked, self._root = job, asked, root
        self._hidden = IgnoredFiles(job.request.workspace, tuple(job.settings.privacy.ignore))
        self._source, self._target = self._name(asked.source), self._name(asked.target)

    async def run(self) -> Answer:
        """The answer."""
        job, asked = self._job, self._asked
        with job.stage("context"):
            text = await asyncio.to_thread(self._read, self._asked.source)
            tests = "" if self._asked.tests is None else await asyncio.to_thread(self._read, self._asked.tests)
        known: ModuleCalls | str = "no code ran"
        if (runtime := await job.runtime()) is not None:
            with job.stage("run", self._source):
                known = await asked.source_row.calls(runtime, self._root, self._source, text, tests)
        port = await self._module(text, known)
        if isinstance(port, str):
            return refusal(job, f"Port: no module. {port}")
        files, evidence, notes = [NewFile(self._asked.target, port.text)], list(port.evidence), list[str]()
        if tests and not port.problem:
            ported = await self._tests(tests, port.text)
            if isinstance(ported, str):
                notes.append(f"its tests are not ported: {ported.rstrip('.')}")
            else:
                code, item = ported
                files.append(NewFile(self._asked.target_tests, code))
                evidence.append(item)
                left = len(asked.source_row.test.findall(tests)) - len(asked.target_row.test.findall(code))
                notes += [f"{left} of its tests are left out"] if left > 0 else []
        elif not tests:
            notes.append(f"no tests of {self._source} were found")
        return self._answer(port, files, evidence, notes)

    async def _module(self, text: str, known: ModuleCalls | str) -> _Port | str:
        """The module without a known difference, else the last one; or why there is none."""
        failed, best = None, None
        for attempt in range(_TRIES):
            if attempt and (why := self._job.call_limit_reason()):
                return best or f"{failed.problem if failed else ''} ({why})"
            prompt = await asyncio.to_thread(
                module_prompt, self._job.request, self._asked, self._source, text, self._target, failed
            )
            code = await self._code(prompt, failed)
            if isinstance(code, FailedReply):
                failed = code
                continue
            port = await self._judged(code, known)
            if isinstance(port, str):
                failed = FailedReply(code, port)
                continue
            if not port.problem:
                return port
            best, failed = port, FailedReply(code, port.problem)
        return best or (failed.problem if failed else "")

    async def _judged(self, code: str, known: ModuleCalls | str) -> _Port | str:
        """The port with its evidence, or why it cannot be offered."""
        job = self._job
        before, after = Source(""), Source(code)
        case = Case(job.request.action, job.request.language, self._asked.target, before, after, tools=job.tools)
        found = await judge_draft(job, Draft(None, case), judges_for(JudgedEdits.EVERY_EDIT, JudgedEdits.CODE), {})
        if isinstance(found, UnusableReply):
            return found.problem
        if not found.offerable:
            return found.refuted_by.detail if found.refuted_by else "the module is empty"
        refuted = found.refuted_by.detail if found.refuted_by else ""
        runtime = await job.runtime(code)
        item = await self._compared(runtime, code, known)
        problem = refuted or (item.detail if item.verdict is Ruling.FAIL else "")
        return _Port(code, (*found.evidence, item), problem)

    async def _compared(self, runtime: Runtime | None, code: str, known: ModuleCalls | str) -> Evidence:
        why = known if isinstance(known, str) else ""
        needs = for_language(self._asked.target_language).needs_interpreter
        if runtime is None or (needs and runtime.python is None):
            why = why or (runtime.why_no_python if runtime else "") or "no code ran"
        if why or runtime is None or isinstance(known, str):
            return Evidence(Check.DIFFERENTIAL, Ruling.SKIPPED, f"not compared with {self._source}: {why}")
        with self._job.stage("run", self._target):
            found = await self._asked.target_row.compare(runtime, self._root, self._target, code, known)
        detail = comparison_text(found, self._source)
        return Evidence(Check.DIFFERENTIAL, _ruling(found), detail, trusted=True, count=found.calls)

    async def _tests(self, tests: str, port: str) -> tuple[str, Evidence] | str:
        """The ported tests that pass on the port, with their evidence; or why there are none."""
        assert self._asked.tests is not None
        failed: FailedReply | None = None
        name = self._name(self._asked.target_tests)
        if self._asked.target_tests.exists():
            return f"{name} exists already"
        for _ in range(_TRIES - 1):
            if why := self._job.call_limit_reason():
                return failed.problem if failed else why
            prompt = await asyncio.to_thread(
                tests_prompt, self._job.request, self._asked, (self._name(self._asked.tests), tests),
                (self._target, port), name, failed,
            )  # fmt: skip
            code = await self._code(prompt, failed, "tests")
            if isinstance(code, FailedReply):
                failed = code
                continue
            item = await self._tried(name, code, port)
            if item.verdict is not Ruling.FAIL:
                return code, item
            failed = FailedReply(code, item.detail)
        return failed.problem if failed else ""

    async def _tried(self, name: str, code: str, port: str) -> Evidence:
        runtime = await self._job.runtime(code, port)
        if runtime is None:
            return Evidence(Check.TESTS, Ruling.SKIPPED, "the ported tests were not run: no code ran")
        contents = {name: code.encode(), self._target: port.encode()}
        plan = TestPlan(
            self._asked.target_language, (name,), overlay=Overlay(self._root, contents), suite=SuiteOwner.PROJECT,
            environment=runtime.environment(self._asked.target_language), until=runtime.until,
        )  # fmt: skip
        with self._job.stage("run", name):
            try:
                report = await run_tests(runtime.sandbox, plan)
            except UsageError as error:
                return Evidence(Check.TESTS, Ruling.SKIPPED, f"the ported tests were not run: {error}")
        if report.outcome is SuiteOutcome.GREEN:
            count = sum(case.outcome is CaseOutcome.PASSED for case in report.cases)
            return Evidence(Check.TESTS, Ruling.PASS, f"{count} ported tests pass", trusted=True, count=count)
        wrong = next((f"{each.id}: {each.failure.message}" for each in report.failed() if each.failure), report.detail)
        return Evidence(Check.TESTS, Ruling.FAIL, wrong.partition("\n")[0])

    async def _code(
        self, prompt: Prompt, failed: FailedReply | None, reply_kind: Literal["unit", "tests"] = "unit"
    ) -> str | FailedReply:
        """The code of a reply, or why it has none."""
        stage = Stage("model") if failed is None else Stage("repair")
        reply = await self._job.ask(prompt, temperature=0.1, max_tokens=_TOKENS, stage=stage)
        text = restore(reply.text, prompt.secrets)
        parsed = parse_reply(
            text, language=self._asked.target_language, reply_kind=reply_kind, truncated=reply.finish != "stop"
        )
        code = parsed.code if reply_kind == "unit" else parsed.tests
        if code is None or reply.finish != "stop":
            return FailedReply(code or "", parsed.problem or "The reply is incomplete.")
        return code.rstrip() + "\n"

    def _answer(
        self, port: _Port, files: Sequence[NewFile], evidence: Sequence[Evidence], notes: Sequence[str]
    ) -> Answer:
        did = f"{'Tried to port' if port.problem else 'Ported'} {self._source} to {self._asked.target_row.title}"
        names = tuple(file.path.name for file in files)
        request = self._job.request
        answer = Answer(
            True, request.action, self._asked.target_language, Summary(did, new_files=names, notes=tuple(notes)),
            new_files=tuple(files), code=port.text, tests=files[1].text if len(files) > 1 else None,
            evidence=tuple(evidence),
        )  # fmt: skip
        return finish_answer(self._job, answer)

    def _read(self, path: Path) -> str:
        """The text of a file, unsaved if it is open. UsageError for one that no model may be shown."""
        if (reason := self._hidden.reason(path)) is not None:
            raise UsageError(f"{self._name(path)} cannot be sent to a model: {reason}")
        unsaved = next((each.text for each in self._job.request.workspace.buffers if each.path == path), None)
        if unsaved is not None:
            return unsaved
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{self._name(path)} is larger than {_LARGEST // 1000} KB: port it in parts")
        return read_regular(path, most=_LARGEST).decode("utf-8", "replace")

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.name


def _ruling(found: PortComparison) -> Ruling:
    if found.difference:
        return Ruling.FAIL
    return Ruling.PASS if found.calls else Ruling.UNKNOWN
