"""The tasks on disk: one file of JSON lines each, written as the task goes, and a lock while it runs.

A line is written once a step has ended, so that a process that dies loses the running steps alone. Only the user can
read the files: they hold the instruction and the changed code.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import UsageError
from stet_ls.engine.storage.file_lock import FileLock
from stet_ls.engine.storage.modified import modified_at
from stet_ls.engine.storage.private_files import private_folder, read_private
from stet_ls.engine.storage.writable import WriteObstacle
from stet_ls.engine.task_history.step_record import DONE, FAILED, SKIPPED, StepRecord

log = logging.getLogger(__name__)

RUNNING, INTERRUPTED = "running", "interrupted"


class TaskEnd(StrEnum):
    """How a task ended. PARTIAL: some steps failed; PLANNED: nothing but its plan was wanted."""

    DONE = "done"
    PARTIAL = "partial"
    PLANNED = "planned"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


AT = "%Y-%m-%dT%H:%M:%SZ"
"""How a moment is written, in UTC."""
_KEPT = 100
"""Tasks that are kept; the oldest are deleted first."""
_MODE = 0o600


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a running task is: the steps that run ("2. debug prices.py"), finished and all steps, seconds, tokens."""

    running: tuple[str, ...]
    done: int
    total: int
    seconds: float
    tokens: int

    def __str__(self) -> str:
        steps = ", ".join(self.running) or ("planning" if not self.total else "between steps")
        return f"{steps} ({self.done}/{self.total} done), {self.seconds:.0f} s, {self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One task as its file shows it.

    request: What is needed to run it again: action, path, language, instruction, constraints, context, roots, budget.
    plan: The plan as JSON, with the routes; empty until there is one.
    plan_text: The plan as the document that a user edits.
    steps: The last result of each step, by its number.
    state: "running", "interrupted" (its process died), or how it ended: a `TaskEnd`.
    result: The answer's sentence, seconds, calls, tokens, cost, and by how many seconds it was late; empty while it
        runs.
    began: When its last run began; `at` is when the first did.
    current: The numbers of the steps that run.
    """

    id: str
    at: str
    request: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    plan_text: str = ""
    steps: Mapping[int, StepRecord] = field(default_factory=dict)
    state: str = INTERRUPTED
    result: Mapping[str, Any] = field(default_factory=dict)
    began: str = ""
    current: tuple[int, ...] = ()

    @property
    def instruction(self) -> str:
        """What was requested."""
        return str(self.request.get("instruction", ""))

    @property
    def files(self) -> frozenset[str]:
        """The files that its plan changes, absolute."""
        return frozenset(self.plan.get("paths", ()))

    def progress(self) -> TaskProgress | None:
        """How far it is, if it runs. The tokens are those of the steps that ended."""
        if self.state != RUNNING:
            return None
        steps = {each["number"]: each for each in self.plan.get("steps", ()) if each["enabled"]}
        running = tuple(
            f"{number}. {steps[number]['action']} {steps[number]['file']}" for number in self.current if number in steps
        )
        seconds = (datetime.now(UTC) - datetime.strptime(self.began, AT).replace(tzinfo=UTC)).total_seconds()
        tokens = sum(step.tokens for step in self.steps.values())
        return TaskProgress(running, len(steps) - len(self.unfinished), len(steps), max(seconds, 0.0), tokens)

    @property
    def unfinished(self) -> tuple[int, ...]:
        """The numbers of the steps that are not finished."""
        steps = [each["number"] for each in self.plan.get("steps", ()) if each["enabled"]]
        return tuple(each for each in steps if each not in self.steps or self.steps[each].state == FAILED)

    def to_json(self) -> dict[str, Any]:
        """The whole task as JSON."""
        return {**asdict(self), "steps": [asdict(each) for each in self.steps.values()], "unfinished": self.unfinished}

    def as_markdown(self) -> str:
        """A task as a report: its state, its plan, and what became of each step."""
        lines = [f"# Task {self.id}: {self.instruction}", "", f"{self.state}, started {self.at}"]
        if self.result:
            result = self.result
            lines.append(f"{result['seconds']:.1f} s, {result['calls']} calls, {result['tokens']} tokens")
            if result.get("late"):
                lines.append(f"the deadline of {self.request['deadline']:g} s was missed by {result['late']:.1f} s")
            lines += ["", str(result["message"])]
        if self.steps:
            lines += ["", "## Steps", ""]
        for step in sorted(self.steps.values(), key=lambda each: each.number):
            spent = f"{step.seconds:.1f} s, {step.calls} calls, {step.tokens} tokens, {step.arm}"
            lines.append(f"- {step.number}. {step.state} ({spent}): {step.message}")
            lines += [
                f"  - {item['verdict']} {item['check']}: {item['detail']}" for item in step.answer.get("evidence", ())
            ]
        if self.plan_text:
            lines += ["", self.plan_text.replace("# Plan", "## Plan", 1)]
        if self.unfinished:
            lines += ["", f"`stet tasks resume {self.id}` does what is not finished."]
        return "\n".join(lines) + "\n"

    def as_context(self) -> str:
        """The context that this task is for a later one."""
        done = [f"- {each.message}" for each in self.steps.values() if each.state == DONE]
        files = [row["path"] for each in self.steps.values() for row in each.answer.get("new_files", ())]
        return "\n".join([f"{self.instruction} ({self.state})", *done, *(f"- new file {Path(f).name}" for f in files)])


class TaskHistory:
    """The tasks in a folder. Several servers and commands may write to it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self, task: str, at: str, request: Request) -> OpenTask:
        """Starts the file of a task, or continues that of an interrupted one. UsageError if it runs already."""
        opened = OpenTask(self._folder, task)
        opened.open()
        opened.add("started", {"at": at, "request": request_row(request)})
        self._prune()
        return opened

    def list(self) -> list[TaskRecord]:
        """The tasks, the newest first."""
        found = (self._read(path) for path in self._folder.glob("*.jsonl"))
        return sorted((each for each in found if each is not None), key=lambda each: each.at, reverse=True)

    def running(self) -> tuple[TaskRecord, ...]:
        """The tasks that run now, in any process."""
        found = (self._read(path) for path in self._folder.glob("*.jsonl") if _held(path))
        return tuple(each for each in found if each is not None and each.state == RUNNING)

    def get(self, task: str) -> TaskRecord:
        """The task with an id, or with an id that begins so. UsageError if there is none, or more than one."""
        paths = sorted(self._folder.glob(f"{task}*.jsonl")) if re.fullmatch(r"[0-9a-f]{1,32}", task) else []
        exact = [path for path in paths if path.stem == task] or paths
        if len(exact) > 1:
            raise UsageError(f"task {task!r} is ambiguous: {', '.join(path.stem for path in exact)}.")
        record = self._read(exact[0]) if exact else None
        if record is None:
            raise UsageError(f"there is no task {task!r}. Run `stet tasks list` to see them.")
        return record

    def conflicting(self, record: TaskRecord) -> TaskRecord | None:
        """A running task that began earlier and changes one of the same files."""
        return next(
            (
                other
                for other in self.list()
                if other.id != record.id
                and other.state == RUNNING
                and (other.at, other.id) < (record.at, record.id)
                and other.files & record.files
            ),
            None,
        )

    def _read(self, path: Path) -> TaskRecord | None:
        """The task of a file; a line that a killed process cut is ignored."""
        record = TaskRecord(path.stem, "")
        for line in (read_private(path) or "").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                record = _with(record, json.loads(line))
        if not record.at:
            return None
        return replace(record, state=RUNNING) if _held(path) else record

    def _prune(self) -> None:
        paths = sorted(self._folder.glob("*.jsonl"), key=modified_at, reverse=True)
        for path in paths[_KEPT:]:
            if not _held(path):
                with suppress(FileNotFoundError):  # another process deleted it
                    path.unlink()
                    path.with_suffix(".lock").unlink()


class OpenTask:
    """The file of a running task. A full disk or a missing permission is logged: no task fails because of it."""

    def __init__(self, folder: Path, task: str) -> None:
        self.id = task
        self._path = folder / f"{task}.jsonl"
        self._lock = FileLock(folder / f"{task}.lock")
        self._writable = True

    def open(self) -> None:
        """Holds the task's lock. UsageError if another process holds it."""
        try:
            private_folder(self._path.parent)
            if not self._lock.acquire():
                raise UsageError(f"the task {self.id} is running in another process; wait for it, or cancel it there.")
        except OSError as error:
            self._stop(error)

    def plan(self, plan: Mapping[str, Any], text: str) -> None:
        """Records the plan: a later one replaces it."""
        self.add("plan", {"plan": plan, "text": text})

    def began(self, step: int) -> None:
        """Records that a step began."""
        self.add("began", {"number": step})

    def step(self, record: StepRecord) -> None:
        """Records a step that ended."""
        self.add("step", asdict(record))

    def end(self, state: TaskEnd, result: Mapping[str, Any]) -> None:
        """Records the end of the task."""
        self.add("end", {"state": state, "result": result})

    def close(self) -> None:
        """Releases the lock."""
        self._lock.release()

    def add(self, event: str, data: Mapping[str, Any]) -> None:
        """Appends a line."""
        if not self._writable:
            return
        try:
            new = not self._path.exists()
            with self._path.open("a", encoding="utf-8", errors="surrogatepass") as file:
                if new:
                    self._path.chmod(_MODE)
                file.write(json.dumps({"event": event, **data}, default=str) + "\n")
        except OSError as error:
            self._stop(error)

    def _stop(self, error: OSError) -> None:
        self._writable = False
        log.warning("task %s is not recorded: %s", self.id, WriteObstacle.of(self._path.parent, error))


def request_row(request: Request) -> dict[str, Any]:
    """What is needed to run a request again."""
    options = request.task
    return {
        "action": request.action,
        "path": str(request.path or ""),
        "language": request.language,
        "instruction": request.instruction,
        "constraints": list(request.constraints),
        "context": dict(request.context),
        "roots": [str(root) for root in request.workspace.roots],
        "budget": request.budget.value,
        "files": [str(path) for path in options.files] if options else [],
        "libraries": list(options.libraries) if options else [],
        "after": list(options.after) if options else [],
        "priority": options.priority if options else None,
        "deadline": options.deadline if options else None,
    }


def _with(record: TaskRecord, line: Mapping[str, Any]) -> TaskRecord:
    """The record after one more line."""
    match line["event"]:
        case "started":
            first = record.at or line["at"]
            request = line["request"]
            return replace(record, at=first, began=line["at"], current=(), request=request, state=INTERRUPTED)
        case "plan":
            return replace(record, plan=line["plan"], plan_text=line["text"])
        case "began":
            return replace(record, current=(*record.current, line["number"]))
        case "step":
            step = StepRecord(**{name: value for name, value in line.items() if name != "event"})
            current = tuple(number for number in record.current if number != step.number)
            return replace(record, current=current, steps={**record.steps, step.number: step})
        case "end":
            return replace(record, state=line["state"], result=line["result"], current=())
    return record


def _held(path: Path) -> bool:
    """Whether a process runs the task of a file."""
    lock = FileLock(path.with_suffix(".lock"))
    try:
        if not lock.path.exists():
            return False
        free = lock.acquire()
    except OSError:
        return False
    lock.release()
    return not free


FINISHED = (DONE, SKIPPED)
"""The states of a step that a resumed task does not repeat."""
