"""What the engine itself takes of a job on a file of 2,000 lines, and the index of 5,000 files of the event loop.

Next to the time that passed is that of this process' processor: on a busy machine the difference is other people's.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path

from bench.row import Row

from stet_ls.engine.actions.registry import BUILT_IN
from stet_ls.engine.api.request import Request, Selection, Workspace
from stet_ls.engine.prompt.build import build
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.reply.fitting.fit import fit_code
from stet_ls.engine.reply.parsing.parse_reply import parse_reply
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.workspace.symbol_index import SymbolIndex
from stet_ls.validators import syntax
from stet_ls.validators.source import Source, Span

STDLIB = Path(sysconfig.get_path("stdlib"))
PURE = Path(sysconfig.get_path("purelib"))
RUNS = 15
FILES = 5_000
LONGEST = 400_000


def rows() -> Iterator[Row]:
    """The stages of a job, the index, the estimator."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paths = Paths(home / "c.toml", home / "data", home / "cache", home / "log", home / "run")
        yield from asyncio.run(_index(_project(home / "project"), paths))
        yield from _stages(home / "project", paths)
    yield from _estimator()


def _project(root: Path) -> Path:
    """A workspace of that many files, from what is installed here."""
    sources = [
        path for folder in (STDLIB, PURE) for path in sorted(folder.rglob("*.py"))
        if "__pycache__" not in path.parts and 100 < path.stat().st_size < LONGEST
    ]  # fmt: skip
    for number in range(FILES):
        source = sources[number % len(sources)]
        place = root / f"part{number % 50}" / f"{source.stem}_{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    return root


async def _index(root: Path, paths: Paths) -> list[Row]:
    quiet = await _stall(asyncio.sleep(5))
    index = SymbolIndex(paths)
    started = time.perf_counter()
    index.watch((root,))
    stall = await _stall(_until_read(index, root))
    seconds = time.perf_counter() - started
    status = index.status(root)
    changes: list[tuple[float, float]] = []
    for number, path in enumerate(sorted(root.rglob("*.py"))[: 40 * 20 : 20]):
        with path.open("a") as file:
            file.write(f"\ndef added_{number}(value):\n    return value\n")
        began, used = time.perf_counter(), time.process_time()
        await asyncio.to_thread(index.update, (path,))
        changes.append((time.perf_counter() - began, time.process_time() - used))
    began = time.perf_counter()
    await asyncio.to_thread(index.find, ("added_3", "dump", "parse"), "python", Workspace((root,)))
    found = time.perf_counter() - began
    await index.close()
    return [
        Row(f"index of {status.files:,} files, in the background", f"{seconds:.1f} s", "-"),
        Row(
            "  largest stall of the loop meanwhile",
            f"{_milliseconds(*stall)} (without it {_milliseconds(*quiet)})",
            "30 ms",
        ),
        Row("  per change, P50 and P95", _spread(changes), "20 ms"),
        Row("  three names looked up", f"{1000 * found:.1f} ms", "-"),
    ]


async def _until_read(index: SymbolIndex, root: Path) -> None:
    while not index.status(root).complete:
        await asyncio.sleep(0.2)


async def _stall(work: Coroutine[None, None, None]) -> tuple[float, float]:
    """The longest time in seconds for which the loop did not turn while `work` was done, and for which it was us."""
    longest = own = 0.0
    task = asyncio.create_task(work)
    while not task.done():
        began, used = time.perf_counter(), time.process_time()
        await asyncio.sleep(0.002)
        stalled = time.perf_counter() - began - 0.002
        longest, own = max(longest, stalled), max(own, min(stalled, time.process_time() - used))
    await task
    return longest, own


def _stages(root: Path, paths: Paths) -> Iterator[Row]:
    text = "\n".join((STDLIB / "argparse.py").read_text("utf-8").split("\n")[:2000])
    index = SymbolIndex(paths)
    times: dict[str, list[tuple[float, float]]] = {"parse": [], "target": [], "prompt": [], "reply": [], "syntax": []}
    for number in range(RUNS):
        # A text of its own each time, with a tree of its own: an editor's document is parsed as it is typed.
        source = Source(text.replace("import os as _os", f"import os as _os  # {number}"))
        at = source.data.index(b"def add_argument(self")
        place = root / "part0" / "document.py"
        request = Request(
            "refactor",
            "python",
            source,
            Selection(Span(at, at)),
            place,
            "Make it shorter.",
            workspace=Workspace((root,)),
        )
        clock = _Clock(times)
        syntax.check(source, "python", path=place)
        clock.lap("parse")
        target = resolve_target(request)
        instruction = find_instruction(request, target)
        clock.lap("target")
        task = BUILT_IN["refactor"].task
        assert task is not None
        build(request, target, instruction, task, budget_tokens=8000, index=index)
        clock.lap("prompt")
        code = source.slice(target.span)
        reply = parse_reply(
            f"PLAN: shorter\nCODE:\n```python\n{code}\n    # {number}\n```\n", language="python", reply_kind="unit",
            symbol=target.name, truncated=False, current=code,
        )  # fmt: skip
        fitted = fit_code(reply.code or "", source=source, target=target, language="python", replaces=None)
        after = source.splice(fitted.splices)
        clock.lap("reply")
        syntax.check(after, "python", path=place)
        clock.lap("syntax")
    names = {
        "parse": "document checked (as it is typed, not part of the job)", "target": "context: target, instruction",
        "prompt": "context and prompt", "reply": "reply parsed and fitted", "syntax": "syntax judge",
    }  # fmt: skip
    for stage, title in names.items():
        yield Row(f"2,000 lines, {title}"[:52], _spread(times[stage]))
    runs = zip(*(times[stage] for stage in times if stage != "parse"), strict=True)
    whole = [(sum(wall for wall, _ in run), sum(own for _, own in run)) for run in runs]
    yield Row("2,000 lines, engine without the model", _spread(whole), "P50 <= 60 ms")


class _Clock:
    def __init__(self, times: dict[str, list[tuple[float, float]]]) -> None:
        self._times = times
        self._at = time.perf_counter(), time.process_time()

    def lap(self, stage: str) -> None:
        now = time.perf_counter(), time.process_time()
        self._times[stage].append((now[0] - self._at[0], now[1] - self._at[1]))
        self._at = now


def _estimator() -> Iterator[Row]:
    import json

    folder = Path(__file__).resolve().parents[1] / "fixtures" / "tokens"
    recorded = json.loads((folder / "counts.json").read_text())
    errors = {name: 100 * (estimate((folder / name).read_text()) / true - 1) for name, true in recorded.items()}
    shown = ", ".join(f"{Path(name).suffix[1:]} {error:+.0f}" for name, error in errors.items())
    yield Row("estimate against Qwen2.5-Coder's tokenizer, %", shown, "-10 to +30")


def _spread(seconds: list[tuple[float, float]]) -> str:
    """P50 and P95 of what passed, and P50 of our own processor time."""
    passed = sorted(wall for wall, _ in seconds)
    own = statistics.median(own for _, own in seconds)
    return f"{_milliseconds(statistics.median(passed), own)}, P95 {1000 * passed[int(0.95 * (len(passed) - 1))]:.0f} ms"


def _milliseconds(wall: float, own: float) -> str:
    return f"{1000 * wall:.1f} ms, own {1000 * own:.1f}"
