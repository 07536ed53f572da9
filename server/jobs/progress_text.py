"""What a job is at, as a person reads it: in an editor's progress and on a terminal's progress line."""

from __future__ import annotations

import time

from stet_ls.engine.api.events import Event, JudgeFinished, JudgeStarted, Notice, Progress, Stage
from stet_ls.engine.api.evidence import CHECKS, Ruling
from stet_ls.engine.plurals import plural

SHOWN_FROM = 2.0
"""Seconds that something takes before it is said for how long it does."""

_MODEL = "the model"
"""What its name takes the place of, once that is known."""

_WORDS = {
    "trust": "waiting for your trust in the project's actions",
    "target": "reading the code",
    "context": "reading the code",
    "queued": "waiting",
    "reproduce": "reproducing the failure",
    "model": f"asking {_MODEL}",
    "repair": f"asking {_MODEL} again",
    "judge": "checking",
    "planned": "the plan",
    "tests": "running the new tests",
    "plan": "planning the tests",
    "specification": "writing tests from the specification",
    "environment": "unpacking packages",
    "run": "running the tests",
    "diagnosis": "diagnosing the failure",
    "finish": "finishing",
    "landing": "waiting for the editor, which may ask you",
    "probe": "testing",
}

_YOURS = ("trust", "landing")
"""Stages in which the job waits for a person, whom no clock hurries."""


def stage_text(stage: Stage, model: str = _MODEL) -> str:
    """What a job is at; a stage that has no words goes by its own name."""
    name = _WORDS.get(stage.name, stage.name).replace(_MODEL, model)
    joint = ", " if stage.name == "queued" else ": "
    return f"{name}{joint}{stage.detail}" if stage.detail else name


class ProgressText:
    """Where a job is.

    `on_event` takes its events in; `text` is the line for now, `clocked` the same with its seconds.
    """

    def __init__(self) -> None:
        self._model = _MODEL
        self._line = ""
        self._more = ""
        self._before_notice = ""
        self._since: float | None = None

    def on_event(self, event: Event) -> bool:
        """Takes an event in. True if it is worth showing; False for further counts."""
        match event:
            case Stage("model", model):
                self._model = model.rpartition("/")[2] or self._model
                self._begin(stage_text(Stage("model"), self._model))
            case Stage(name):
                self._begin(stage_text(event, self._model))
                if name in _YOURS:
                    self._since = None
            case JudgeStarted(check):
                looks_at = CHECKS[check].looks_at
                self._begin(f"{_WORDS['judge']}: {looks_at}" if looks_at else _WORDS["judge"])
            case Notice(message):
                before = self._before_notice or self._line or stage_text(Stage("model"), self._model)
                self._begin(message.rstrip("."))
                self._before_notice = before
            case JudgeFinished(evidence) if evidence.verdict in (Ruling.FAIL, Ruling.UNKNOWN):
                self._more = f" · {evidence.title}: {evidence.verdict}"
            case Progress(tokens, thinking):
                if self._before_notice:  # what it told of is over: tokens come
                    self._begin(self._before_notice)
                doing, before = "thinking" if thinking else "writing", self._more
                self._more = f" · {doing}, {plural(tokens, 'token')}"
                return doing not in before
            case _:
                return False
        return True

    def say(self, line: str) -> None:
        """Words of another kind, which tell by themselves how things go."""
        self._begin(line)
        self._since = None

    @property
    def text(self) -> str:
        """What it is at."""
        return self._line + self._more

    @property
    def clocked(self) -> str:
        """What it is at, and for how many seconds by now if that is worth a word: "asking qwen2.5-coder, 23 s"."""
        return f"{self.text}, {self._seconds():.0f} s" if self.lasts else self.text

    @property
    def lasts(self) -> bool:
        """True if the stage has run long enough to show its seconds."""
        return self._seconds() >= SHOWN_FROM

    def _begin(self, line: str) -> None:
        self._line, self._more, self._before_notice, self._since = line, "", "", time.monotonic()

    def _seconds(self) -> float:
        return 0.0 if self._since is None else time.monotonic() - self._since
