"""The task of an action, before it becomes a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReplyKind = Literal["unit", "tests", "prose", "findings", "plan"]
"""What the reply should contain: the target's new text, a block of tests, markdown prose, findings, or steps."""

ModelTier = Literal["tiny", "mid", "strong"]
"""The size class of a model: a tiny one is shown less context, since it follows instructions worse with more."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task: `goal` in the imperative, `rules` for its result. `spec_first`: documented functions lose their body.

    `keeps_header`: the result begins with the lines that the target begins with, unless an instruction says otherwise.
    """

    goal: str
    reply_kind: ReplyKind
    rules: tuple[str, ...] = ()
    spec_first: bool = False
    keeps_header: bool = False
