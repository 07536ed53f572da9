"""The actions as rows: what each is called, where it is offered, and what the rest of the engine does for it.

A row has a module of its name in `engine/actions/` that does the work; everything else reads the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Literal

from stet_ls.engine.api.evidence import Scope


class OfferedWhen(Enum):
    """Where an action is offered. The value is what a client shows where it is not."""

    PROBLEM = "no diagnostic here, and no `stet:` comment that describes the problem"
    UNIT = "no function, class or selection here"
    INVOKED = ""


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action. Of a field that a row leaves out the default holds, and of a custom action all from `inserts` on."""

    name: str
    """What commands and requests call it."""
    title: str
    """The imperative for messages and lists ("Refactor")."""
    description: str
    """Description in one sentence, for lists."""
    menu: str
    """Its title among the code actions; `{unit}` stands for the name of the unit there."""
    menu_plain: str
    """Its title among the code actions where no unit is known."""
    kind: str
    """Its kind among the code actions, which ends in `stet.NAME`."""
    offered: OfferedWhen
    """Where it is among the code actions."""
    llm_generated: bool = True
    """Its result is a model's own text: clients mark it where they can (LSP's tag `LlmGenerated`)."""
    languages: tuple[str, ...] = ()
    """The language ids that it is for; none: all."""
    needs_instruction: bool = False
    """It is refused where nothing says what is wanted."""
    scopes: tuple[Scope, ...] = ()
    """Which checks its edits go through."""
    inserts: bool = False
    """It may write where no code stands: without a unit its target is a position."""
    adds_code: bool = False
    """It writes new code: what is there stays, a stub has to be filled, and a plan may name a unit that is missing."""
    needs_code: bool = False
    """It is refused for an empty document: a model that is asked to explain nothing explains something."""
    comment_instructs: bool = False
    """A comment or docstring that is selected says what to do; the other actions look at it as at any code."""
    all_diagnostics: bool = False
    """Its prompt shows all diagnostics of the request, not only those in the target."""
    preserves_behavior: bool = False
    """The code does afterwards what it did before: examples that failed then may fail still."""
    must_change_code: bool = False
    """A change of documentation or layout is no result, even if the user said what to change."""
    mends: bool = False
    """Tests that failed before and name the target have to pass afterwards."""
    may_add_effects: bool = False
    """Its instruction may well want files, processes or the network: such calls are told, and nobody is asked."""
    writes_tests: bool = False
    """Its edit is tests: they may use what belongs to tests, and an editor asks first where nobody ran them."""
    role: Literal["generator", "reviewer"] = "generator"
    """Which of the user's models it asks."""
    is_step: bool = False
    """A plan of the action `task` may name it: it ends in an edit."""
    learns: bool = False
    """Code of it that stood is remembered."""
    recalled: bool = False
    """Its prompt shows what is remembered."""
    answers_from_memory: bool = False
    """What fits exactly and passes its tests again is the answer, without a model."""


_REWRITING = (Scope.EVERY_EDIT, Scope.CODE, Scope.INTERFACE, Scope.RUNS)

_ROWS = (
    ActionSpec(
        "generate",
        "Generate",
        "Write code from a comment, a docstring or an instruction.",
        menu="Generate code with Stet",
        menu_plain="Generate code with Stet",
        kind="refactor.rewrite.stet.generate",
        offered=OfferedWhen.INVOKED,
        needs_instruction=True,
        scopes=(Scope.EVERY_EDIT, Scope.CODE, Scope.RUNS),
        inserts=True,
        adds_code=True,
        comment_instructs=True,
        mends=True,
        may_add_effects=True,
        is_step=True,
        learns=True,
        recalled=True,
        answers_from_memory=True,
    ),
    ActionSpec(
        "debug",
        "Fix",
        "Fix the bug that a diagnostic or an instruction describes.",
        menu="Fix `{unit}` with Stet",
        menu_plain="Fix with Stet",
        kind="quickfix.stet.debug",
        offered=OfferedWhen.PROBLEM,
        scopes=_REWRITING,
        needs_code=True,
        comment_instructs=True,
        all_diagnostics=True,
        mends=True,
        is_step=True,
        learns=True,
        recalled=True,
    ),
    ActionSpec(
        "refactor",
        "Refactor",
        "Make the code clearer without changing what it does.",
        menu="Refactor `{unit}`",
        menu_plain="Refactor with Stet",
        kind="refactor.rewrite.stet.refactor",
        offered=OfferedWhen.UNIT,
        scopes=(*_REWRITING, Scope.SAME_BEHAVIOR),
        needs_code=True,
        comment_instructs=True,
        preserves_behavior=True,
        is_step=True,
        learns=True,
        recalled=True,
    ),
    ActionSpec(
        "optimize",
        "Optimize",
        "Make the code faster without changing what it does.",
        menu="Optimize `{unit}`",
        menu_plain="Optimize with Stet",
        kind="refactor.rewrite.stet.optimize",
        offered=OfferedWhen.UNIT,
        scopes=(*_REWRITING, Scope.SAME_BEHAVIOR, Scope.FASTER),
        needs_code=True,
        comment_instructs=True,
        preserves_behavior=True,
        must_change_code=True,
        is_step=True,
        learns=True,
        recalled=True,
    ),
    ActionSpec(
        "test",
        "Write tests",
        "Write tests into the project's test file.",
        menu="Write tests for `{unit}`",
        menu_plain="Write tests with Stet",
        kind="stet.test",
        offered=OfferedWhen.UNIT,
        scopes=(Scope.EVERY_EDIT, Scope.CODE),
        needs_code=True,
        writes_tests=True,
        is_step=True,
        recalled=True,
    ),
    ActionSpec(
        "explain",
        "Explain",
        "Explain what the code does.",
        menu="Explain `{unit}`",
        menu_plain="Explain with Stet",
        kind="stet.explain",
        offered=OfferedWhen.UNIT,
        needs_code=True,
        role="reviewer",
    ),
    ActionSpec(
        "analyze",
        "Analyze",
        "Report what tools and the model find.",
        menu="Analyze `{unit}`",
        menu_plain="Analyze with Stet",
        kind="stet.analyze",
        offered=OfferedWhen.INVOKED,
        llm_generated=False,
        role="reviewer",
    ),
    ActionSpec(
        "task",
        "Do a task",
        "Plan a change and work through it in several steps, over several files.",
        menu="Do a task with Stet",
        menu_plain="Do a task with Stet",
        kind="stet.task",
        offered=OfferedWhen.INVOKED,
        needs_instruction=True,
        inserts=True,
        comment_instructs=True,
        mends=True,
    ),
)

ACTIONS: Mapping[str, ActionSpec] = MappingProxyType({row.name: row for row in _ROWS})
"""The built-in actions by name, in the order in which they are listed."""
STEPS = tuple(row.name for row in _ROWS if row.is_step)
"""The actions that a plan may name."""
_CUSTOM = ActionSpec("", "", "", menu="", menu_plain="", kind="", offered=OfferedWhen.INVOKED)


def spec_of(name: str) -> ActionSpec:
    """The row of an action; of a custom one the defaults, which is all that may be asked of it by its name alone."""
    return ACTIONS.get(name, _CUSTOM)
