"""The stage of a job in words: for an editor's progress and a terminal's progress line."""

from __future__ import annotations

import time

from stet_ls.engine.api.events import Event, JudgeFinished, JudgeStarted, Notice, Progress, Stage
from stet_ls.engine.api.evidence import CHECKS, Ruling
from stet_ls.engine.plurals import plural

SHOWN_FROM = 2.0
"""Seconds after which the duration of a stage is shown."""

_MODEL = "the model"
"""Placeholder for the model's name until that is known."""

_WORDS = {
    "trust": "waiting for your trust in the project's actions",
    "target": "reading the code",
    "context": "reading the code",
    "queued": "waiting",
    "reproduce": "reproducing the failure",
    "search": "searching a small fix",
    "model": f"asking {_MODEL}",
    "repair": f"asking {_MODEL} again",
    "judge": "checking",
    "examples": f"asking {_MODEL} for example calls",
    "planned": "the plan",
    "rename": "renaming",
    "measure": "measuring the code",
    "profile": "finding the slow lines",
    "review": "reviewing",
    "tests": "running the new tests",
    "code plan": "planning the code",
    "route": "choosing who does each step",
    "plan": "planning the tests",
    "specification": "writing tests from the specification",
    "environment": "unpacking packages",
    "run": "running the tests",
    "diagnosis": "diagnosing the failure",
    "finish": "finishing",
    "landing": "waiting for your answer in the editor",
    "probe": "testing",
}

_YOURS = ("trust", "landing")
"""Stages that wait for the user, shown without a clock."""


def stage_text(stage: Stage, model: str = _MODEL) -> str:
    """The stage in words; one without words is shown by its name."""
    name = _WORDS.get(stage.name, stage.name).replace(_MODEL, model)
    joint = ", " if stage.name == "queued" else ": "
    return f"{name}{joint}{stage.detail}" if stage.detail else name


class ProgressText:
    """The current state of a job in words.

    `on_event` processes events; `text` is the current line, `clocked` the same with its seconds.
    """

    def __init__(self) -> None:
        self._model = _MODEL
        self._line = ""
        self._more = ""
        self._before_notice = ""
        self._since: float | None = None

    def on_event(self, event: Event) -> bool:
        """Processes an event. True if it is worth showing; False for further counts."""
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
            case Progress(tokens, thinking, text):
                if self._before_notice:  # the notice no longer applies: tokens arrive
                    self._begin(self._before_notice)
                doing, before = "thinking" if thinking else "writing", self._more
                self._more = f" · {doing}, {plural(tokens, 'token')}{_last_words(text)}"
                return doing not in before
            case _:
                return False
        return True

    def say(self, line: str) -> None:
        """Shows a line of another source, without a clock."""
        self._begin(line)
        self._since = None

    @property
    def text(self) -> str:
        """The current line."""
        return self._line + self._more

    @property
    def clocked(self) -> str:
        """The current line, with the seconds if it has lasted long enough: "asking qwen2.5-coder, 23 s"."""
        return f"{self.text}, {self._seconds():.0f} s" if self.lasts else self.text

    @property
    def lasts(self) -> bool:
        """Whether the stage has run long enough to show its seconds."""
        return self._seconds() >= SHOWN_FROM

    def _begin(self, line: str) -> None:
        self._line, self._more, self._before_notice, self._since = line, "", "", time.monotonic()

    def _seconds(self) -> float:
        return 0.0 if self._since is None else time.monotonic() - self._since


_LAST = 60


def _last_words(text: str) -> str:
    """The end of a reply that is being written: ": …and returns the mean"."""
    words = " ".join(text.split())
    if len(words) <= _LAST:
        return f": {words}" if words else ""
    return f": …{words[-_LAST:].partition(' ')[2]}"
