"""What a memory finds in a project's own history: functions of its first half, asked for by those of the second.

`REPOSITORIES=/path/to/clone:/path/to/other make bench ONLY=history` (repositories with their history). The documented
functions at the middle commit are learned. Asked for are those of the last commit whose code is another: changed ones,
and those whose name is new. The request is the function's documentation.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.row import Row

from stet_ls.engine.memory.import_solutions import learn
from stet_ls.engine.memory.solution import GLOBAL, Solution, texts_of
from stet_ls.engine.memory.store import journal
from stet_ls.engine.memory.store.embedders import OnnxMiniLM
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex
from stet_ls.validators.test_files import is_test_file

_ROOM = 100_000


def rows() -> Iterator[Row]:
    """Two rows a repository: all requests, and those for functions whose name is new."""
    named = [each for each in os.environ.get("REPOSITORIES", "").split(":") if each]
    if not named:
        raise SystemExit("REPOSITORIES: name clones with their history, separated by colons")
    for each in named:
        yield from asyncio.run(_of(Path(each)))


async def _of(repository: Path) -> Sequence[Row]:
    commits = _git(repository, "rev-list", "--first-parent", "--reverse", "HEAD").decode().split()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        old = _functions(repository, commits[len(commits) // 2], home / "old")
        new = _functions(repository, commits[-1], home / "new")
        store = await _filled(home / "memory", old)
        known, names = {"".join(each.code.split()) for each in old}, {each.unit for each in old}
        asked = [each for each in new if "".join(each.code.split()) not in known]
        found = [each for each in asked if await store.search(each.instruction)]
    fresh = [each for each in asked if each.unit not in names]
    about = f"{len(commits)} commits, {len(old)} learned"
    return [
        Row(f"found of {len(asked)} requests ({about})", _share(len(found), len(asked)), "33 %"),
        Row("found of those for new names", _share(sum(each in fresh for each in found), len(fresh)), "-"),
    ]


async def _filled(folder: Path, old: Sequence[Solution]) -> SolutionStore:
    embedder = OnnxMiniLM()
    store = SolutionStore(await SyncedIndex.open(folder, embedder), _ROOM)
    own = [replace(each, scope=GLOBAL) for each in old]
    vectors = embedder.encode([text for each in own for text in texts_of(each)])
    async with store.index.writing():
        pairs = {each.id: (vectors[2 * n], vectors[2 * n + 1]) for n, each in enumerate(own)}
        await store.index.write([journal.put(each) for each in own], pairs)
    return store


def _functions(repository: Path, commit: str, folder: Path) -> list[Solution]:
    folder.mkdir()
    subprocess.run(["tar", "x", "-C", str(folder)], input=_git(repository, "archive", commit), check=True)
    return [each for each in learn(folder, folder) if not is_test_file(each.path)]


def _git(repository: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True).stdout


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "-"
