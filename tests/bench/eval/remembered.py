"""Memories that hold something before a variant runs, and requests for what they hold, in other words.

The reference solutions of MBPP lie in a folder as one documented function a file, and are learned from there by what
`stet memory learn --untested` runs: the data set's own tests are the hidden ones, so nothing runs here. Filling again
adds only what is missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.eval.arms import Held
from bench.eval.cases import AGAIN, Case, Solved, solved

from stet_ls.engine.memory.import_solutions import learn
from stet_ls.engine.memory.memory_client import MemoryClient
from stet_ls.engine.memory.solution import code_without_space, plain_words
from stet_ls.engine.settings.schema import MemorySettings
from stet_ls.engine.storage.paths import Paths

_OPENING = re.compile(r"^write an? (?:python )?function to ", re.IGNORECASE)
_FRAMES = ("I need something that can {}.", "How do I {}?", "Please {}.", "I want to {}.")
_OTHER = {
    "remove": "delete", "calculate": "compute", "find": "determine", "check": "test", "convert": "turn",
    "extract": "pull out", "sort": "order", "count": "tally", "print": "show", "get": "fetch", "given": "supplied",
    "string": "text", "elements": "items", "minimum": "smallest", "maximum": "largest",
}  # fmt: skip


async def filled(held: Held, out: Path, data: Path, cases: Sequence[Case], paths: Paths) -> Paths:
    """Where a memory is that holds what `held` says. StoreError if it cannot be had.

    One that leaves tasks out is another one for other cases: its folder's name tells by their ids.
    """
    if held is Held.NOTHING:
        return paths
    known = list(solved(data))
    kept = known if held is Held.ALL else list(_without(known, cases))
    digest = hashlib.sha256(" ".join(each.number for each in kept).encode()).hexdigest()[:8]
    home = out / "memory" / f"{held.value}-{digest}"
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    for each in kept:
        (project / _file(each.number)).write_text(each.text, "utf-8")
    paths = replace(paths, data=(home / "data").absolute())
    memory = MemoryClient(MemorySettings(), paths)
    try:
        await memory.take_in(learn(project.absolute(), project.absolute()), lambda done, total: None)
    finally:
        await memory.close()
    return paths


def again(cases: Iterable[Case], count: int) -> Iterator[Case]:
    """The first cases of `generate`, in other words and from another folder."""
    known = [case for case in cases if case.action == "generate"]
    for case in known[:count]:
        words = rephrased(case.instruction)
        text = case.text.replace(case.instruction, words, 1)
        yield replace(case, id=f"{AGAIN} {number(case)}", action=AGAIN, instruction=words, text=text)


def rephrased(words: str) -> str:
    """By rule: another frame, by the text's own digest, and other words for fifteen common ones."""
    rest = _OPENING.sub("", words).strip().rstrip(".")
    rest = re.sub(r"\w+", lambda word: _OTHER.get(word[0].lower(), word[0]), rest)
    frame = _FRAMES[hashlib.sha256(words.encode()).digest()[0] % len(_FRAMES)]
    return frame.format(rest)


def number(case: Case) -> str:
    """The number of a case's task in MBPP."""
    return re.split(r"[ /]", case.id)[-1]


def is_own(provenance: str, case: Case) -> bool:
    """True if what comes from there is the solution of the very task."""
    return f"`{_file(number(case))}`" in provenance


def _without(known: Iterable[Solved], cases: Sequence[Case]) -> Iterator[Solved]:
    """Those of other tasks: other words, other code, and another function's name, for data sets share tasks."""
    units = {case.unit for case in cases}
    words = {plain_words(case.instruction) for case in cases if case.instruction}
    texts = {code_without_space(case.text) for case in cases}
    for each in known:
        if (
            each.unit not in units
            and plain_words(each.words) not in words
            and code_without_space(each.text) not in texts
        ):
            yield each


def _file(task: str) -> str:
    return f"task_{task}.py"
