"""The actions, one row each; the module of the same name in `engine/actions/` does the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Literal

from stet_ls.engine.api.arms import Capability
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import JudgedEdits


class OfferedWhen(Enum):
    """The condition under which an action is offered. Clients show the value where it is not."""

    PROBLEM = "no diagnostic here, and no `stet:` comment that describes the problem"
    UNIT = "no function, class or selection here"
    INVOKED = ""


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action. A field that a row leaves out has its default; a custom action has the defaults from `inserts` on."""

    name: str
    """Its name in commands and requests."""
    title: str
    """The imperative for messages and lists ("Refactor")."""
    description: str
    """One sentence, for lists."""
    menu: str
    """Its title among the code actions; `{unit}` is replaced with the name of the unit."""
    menu_plain: str
    """Its title among the code actions where no unit is known."""
    kind: str
    """Its kind among the code actions, which ends in `stet.NAME`."""
    offered: OfferedWhen
    """The condition under which it is offered as a code action."""
    llm_generated: bool = True
    """Its result is text from a model: clients mark it if they can (LSP's tag `LlmGenerated`)."""
    languages: tuple[str, ...] = ()
    """The language ids that it supports; empty for all."""
    needs_instruction: bool = False
    """It is refused without an instruction."""
    judged_as: tuple[JudgedEdits, ...] = ()
    """The kinds of checks that judge its edits."""
    inserts: bool = False
    """It may write where there is no code: without a unit its target is a position."""
    adds_code: bool = False
    """It writes new code: existing code stays, a stub has to be filled, and a plan may name a unit that does not exist.
    """
    needs_code: bool = False
    """It is refused for an empty document, because a model asked to explain nothing invents something."""
    comment_instructs: bool = False
    """A selected comment or docstring is the instruction; the other actions treat it as code."""
    all_diagnostics: bool = False
    """Its prompt shows all diagnostics of the request, not only those in the target."""
    preserves_behavior: bool = False
    """The code behaves as before: examples that failed before may still fail."""
    must_change_code: bool = False
    """A change of documentation or layout alone is not a result, even if the user gave an instruction."""
    fixes: bool = False
    """Tests that failed before and name the target have to pass with its edit."""
    may_add_effects: bool = False
    """Its instruction may require files, processes or the network: such calls are reported without a question."""
    lists_findings: bool = False
    """Its result is findings, also if there are none: clients list them."""
    writes_tests: bool = False
    """Its edit is tests: they may use test libraries, and an editor asks first if they were not run."""
    standard_budget: Budget = Budget.STANDARD
    """What the budget `standard` means for it: several edits need more than one does."""
    role: Literal["generator", "reviewer"] = "generator"
    """Which of the user's models is asked."""
    is_step: bool = False
    """A plan of the action `task` may contain it: it ends in an edit."""
    capability: Capability = Capability.CODE
    """What an arm needs to do it as a step of a task."""
    begins: str = ""
    """What a request in words begins with that is plainly this action, as a pattern; "" if nothing is."""
    takes_project: bool = False
    """Its targets, folders included, are one job and not a batch."""
    learns: bool = False
    """Its code is remembered if the user keeps it."""
    recalled: bool = False
    """Its prompt shows remembered solutions."""
    answers_from_memory: bool = False
    """A remembered solution that matches exactly and passes its tests again is the answer, without a model."""


_REWRITING = (JudgedEdits.EVERY_EDIT, JudgedEdits.CODE, JudgedEdits.INTERFACE, JudgedEdits.RUNS)

_edit = partial(ActionSpec, comment_instructs=True, is_step=True, learns=True, recalled=True)
"""An action that edits code."""

_ROWS = (
    _edit(
        "generate",
        "Generate",
        "Write code from a comment, a docstring or an instruction.",
        menu="Generate code with Stet",
        menu_plain="Generate code with Stet",
        kind="refactor.rewrite.stet.generate",
        offered=OfferedWhen.INVOKED,
        needs_instruction=True,
        judged_as=(JudgedEdits.EVERY_EDIT, JudgedEdits.CODE, JudgedEdits.RUNS),
        inserts=True,
        adds_code=True,
        fixes=True,
        may_add_effects=True,
        answers_from_memory=True,
    ),
    _edit(
        "debug",
        "Fix",
        "Fix the bug that a diagnostic or an instruction describes.",
        menu="Fix `{unit}` with Stet",
        menu_plain="Fix with Stet",
        kind="quickfix.stet.debug",
        offered=OfferedWhen.PROBLEM,
        judged_as=_REWRITING,
        needs_code=True,
        all_diagnostics=True,
        fixes=True,
        begins=r"(?:fix|debug|repair|correct|mend)\b",
    ),
    _edit(
        "refactor",
        "Refactor",
        "Make the code clearer without changing what it does.",
        menu="Refactor `{unit}`",
        menu_plain="Refactor with Stet",
        kind="refactor.rewrite.stet.refactor",
        offered=OfferedWhen.UNIT,
        judged_as=(*_REWRITING, JudgedEdits.SAME_BEHAVIOR),
        needs_code=True,
        preserves_behavior=True,
        begins=r"(?:refactor|simplify|restructure|tidy|clean up)\b",
    ),
    _edit(
        "optimize",
        "Optimize",
        "Make the code faster without changing what it does.",
        menu="Optimize `{unit}`",
        menu_plain="Optimize with Stet",
        kind="refactor.rewrite.stet.optimize",
        offered=OfferedWhen.UNIT,
        judged_as=(*_REWRITING, JudgedEdits.SAME_BEHAVIOR, JudgedEdits.FASTER),
        needs_code=True,
        preserves_behavior=True,
        must_change_code=True,
        begins=r"(?:optimi[sz]e|speed up)\b|make\b.*\bfaster\b",
    ),
    ActionSpec(
        "test",
        "Write tests",
        "Write tests into the project's test file.",
        menu="Write tests for `{unit}`",
        menu_plain="Write tests with Stet",
        kind="stet.test",
        offered=OfferedWhen.UNIT,
        judged_as=(JudgedEdits.EVERY_EDIT, JudgedEdits.CODE),
        needs_code=True,
        writes_tests=True,
        is_step=True,
        capability=Capability.TESTS,
        recalled=True,
        begins=r"(?:write|add|create)\s+(?:\w+\s+){0,3}tests?\b|test\b",
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
        lists_findings=True,
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
        fixes=True,
        standard_budget=Budget.TASK,
        takes_project=True,
    ),
)

ACTIONS: Mapping[str, ActionSpec] = MappingProxyType({row.name: row for row in _ROWS})
"""The built-in actions by name, in the order in which they are listed."""
STEPS = tuple(row.name for row in _ROWS if row.is_step)
"""The actions that a plan may contain."""
PROJECT_ACTION = next(row.name for row in _ROWS if row.takes_project)
"""The action that plans."""
CHANGED_CODE = "refactor"
"""The action whose judges look at a change that no action of Stet made: one that keeps behavior."""
_CUSTOM = ActionSpec("", "", "", menu="", menu_plain="", kind="", offered=OfferedWhen.INVOKED)


def spec_of(name: str) -> ActionSpec:
    """The row of an action; for a custom action the defaults, since its name gives nothing else."""
    return ACTIONS.get(name, _CUSTOM)
