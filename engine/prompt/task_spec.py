"""What an action asks of a model, before it is put into words for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Wants = Literal["unit", "tests", "prose", "findings", "plan"]
"""What the reply is to hold: the target's new text, a block of tests, words in markdown, findings, or steps."""

ModelTier = Literal["tiny", "mid", "strong"]
"""How much a model can bear: a tiny one is shown less around the target, since it obeys less the more it reads."""


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One action's wish: `goal` is a sentence in the imperative, `rules` are what its result has to keep.

    `spec_first`: of a documented function a model that can do with it is shown the header and the docstring alone.
    """

    goal: str
    wants: Wants
    rules: tuple[str, ...] = ()
    spec_first: bool = False
