"""Whether a request asks for work that computes, by rule: it names data and says what to find out or to make of it."""

from __future__ import annotations

import re
from pathlib import Path

from stet_ls.engine.actions.computing.criteria import Criteria, asks_for_picture
from stet_ls.engine.actions.computing.file_facts import DATA_SUFFIXES
from stet_ls.engine.actions.computing.inputs import data_names, existing_file, names_in, root_of
from stet_ls.engine.actions.computing.turns import ComputingTask
from stet_ls.engine.api.plan import TaskOptions, plan_path
from stet_ls.engine.api.request import Request
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators.languages import NODE_KINDS, language_of

LIBRARIES, INPUTS = "required_libraries", "inputs"
"""Keys of a request's context: packages to install, and files to read, separated by commas."""

_COMPUTES = re.compile(
    r"\b(?:analy[sz]|plot|chart|graph|histogram|visuali[sz]|draw|comput|calculat|count|averag|mean\b|median|aggregat"
    r"|summari[sz]|summary|correlat|convert|statistic|total|merge|filter|sort|clean|report|compare|find out|how many"
    r"|which\b|what\b|trend|outlier|forecast|sums?\b|add up|group\b|pivot|join\b|rank\b|top \d|largest|smallest"
    r"|highest|lowest|maxim|minim|distribution|percentage|duplicate|rows?\b|columns?\b|describe)",
    re.I,
)
_EDITS_CODE = re.compile(
    r"\b(?:function|method|class|module|refactor|rename|unit tests?|docstring|implement|endpoint|api|fix|bug)\b", re.I
)


def requested_task(request: Request) -> ComputingTask | None:
    """The task, if the request asks for one that computes; else None. Looks at the disk: not for an event loop."""
    if request.path is None:
        return None
    found = find_instruction(request, resolve_target(request))
    goal = found.text if found is not None else ""
    options = request.task or TaskOptions()
    inputs, outputs = named_data(request, goal)
    says_code = _EDITS_CODE.search(goal) or any(language_of(name) in NODE_KINDS for name in _code_names(goal))
    if not goal or says_code or not _COMPUTES.search(goal) or not (inputs or outputs):
        return None
    return ComputingTask(
        goal,
        inputs,
        tuple(dict.fromkeys((*_listed(request, LIBRARIES), *options.libraries))),
        request.constraints,
        Criteria(outputs, asks_for_picture(goal)),
        {name: value for name, value in request.context.items() if name not in (LIBRARIES, INPUTS)},
    )


def named_data(request: Request, goal: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The data files that a request is about, and those that its words name and that do not exist yet."""
    assert request.path is not None, "a task needs a place"
    root, own = root_of(request), request.path.absolute()
    named = {name: existing_file(root, own.parent, name) for name in data_names(goal)}
    options = request.task or TaskOptions()
    inputs = [own.relative_to(root).as_posix()] if own.suffix.lower() in DATA_SUFFIXES and own.is_file() else []
    inputs += [name for name in named.values() if name] + _listed(request, INPUTS)
    inputs += [plan_path(each, root) for each in options.files if each.suffix.lower() in DATA_SUFFIXES]
    return tuple(dict.fromkeys(inputs)), tuple(name for name, existing in named.items() if existing is None)


def _code_names(goal: str) -> list[str]:
    return [name for name in names_in(goal) if Path(name).suffix.lower() not in DATA_SUFFIXES]


def _listed(request: Request, key: str) -> list[str]:
    return [each.strip() for each in request.context.get(key, "").split(",") if each.strip()]
