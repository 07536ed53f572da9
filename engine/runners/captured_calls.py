"""Calls that tests made of a file's functions, with copies of their arguments.

The values may be secrets, and pickled data may run code when it is loaded: both are for runs in the sandbox only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stet_ls.engine.runners.report_channel import Event


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """One call of the function or method `unit`.

    `texts` are the arguments that can be written as source text, by parameter; `held` names the types of the others,
    which `data` holds (a pickled dictionary, in base64). `classes` are the file's own classes whose objects it holds,
    `words` all texts in it, in order. `life` is how the object of a method came to be, where it is known: what was
    called on it, each with its arguments as source text; `new` comes first, and `name=` is an assignment.
    """

    unit: str
    texts: Mapping[str, str] = field(repr=False)
    held: Mapping[str, str] = field(default_factory=dict)
    data: str = field(default="", repr=False)
    classes: frozenset[str] = frozenset()
    words: tuple[str, ...] = field(default=(), repr=False)
    life: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class CapturedCalls:
    """The captured `calls` of a file. `uncaptured` counts, by function, calls that could not be copied, by the reason.

    `module` is the name under which the tests imported the file; `files` are the project's modules that loading the
    data needs, with their paths from the working folder.
    """

    calls: tuple[CapturedCall, ...] = ()
    uncaptured: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    module: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


def captured_calls(events: Iterable[Event]) -> dict[str, CapturedCalls]:
    """The calls in the events of a report, by the file that was called."""
    of_files: dict[str, list[Event]] = {}
    for event in events:
        if event["event"] in ("called", "uncaptured"):
            of_files.setdefault(str(event.get("path", "")), []).append(event)
    return {path: _of_file(own) for path, own in of_files.items()}


def _of_file(events: Iterable[Event]) -> CapturedCalls:
    calls: list[CapturedCall] = []
    uncaptured: dict[str, Counter[str]] = {}
    module, files = "", dict[str, str]()
    for event in events:
        unit = str(event.get("unit", ""))
        if event["event"] == "called":
            calls.append(_call(unit, event))
            module = str(event.get("module", "")) or module
            files |= _texts(event.get("files"))
        else:
            uncaptured.setdefault(unit, Counter())[str(event.get("why"))] += 1
    return CapturedCalls(tuple(calls), uncaptured, module, files)


def _call(unit: str, event: Event) -> CapturedCall:
    classes, words = (tuple(map(str, event.get(name) or ())) for name in ("classes", "words"))
    return CapturedCall(
        unit, _texts(event.get("texts")), _texts(event.get("held")), str(event.get("data", "")),
        frozenset(classes), words, tuple(_rows(event.get("life"))),
    )  # fmt: skip


def _rows(life: Any) -> Iterator[tuple[str, ...]]:
    yield from (tuple(map(str, row)) for row in life or () if isinstance(row, list) and row)


def _texts(table: Any) -> dict[str, str]:
    return {str(name): str(text) for name, text in table.items()} if isinstance(table, dict) else {}
