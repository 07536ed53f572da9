"""The engine's stages as a person reads them, in an editor's progress and on a terminal's progress line."""

from __future__ import annotations

from stet_ls.engine.events import Stage

_WORDS = {
    "trust": "waiting for your word about the project's actions",
    "target": "reading the code",
    "context": "reading the code",
    "queued": "waiting",
    "reproduce": "looking for the failure",
    "model": "asking the model",
    "repair": "asking the model once more",
    "judge": "checking",
    "planned": "the plan",
    "tests": "trying the new tests",
    "plan": "planning the tests",
    "specification": "writing tests that do not know the code",
    "environment": "unpacking packages",
    "run": "running the tests",
    "diagnosis": "finding out why",
    "finish": "finishing",
    "probe": "testing",
}


def words(stage: Stage) -> str:
    """What a job is at; a stage that has no words goes by its own name."""
    name = _WORDS.get(stage.name, stage.name)
    joint = ", " if stage.name == "queued" else ": "
    return f"{name}{joint}{stage.detail}" if stage.detail else name
