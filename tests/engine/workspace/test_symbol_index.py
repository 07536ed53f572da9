"""The index of a workspace's symbols: what it reads, what it never reads, and how it hears of changes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.workspace.index_scan import scan
from stet_ls.engine.workspace.index_store import IndexStore, database
from stet_ls.engine.workspace.source_files import LARGEST, SourceWalk, WalkLimits, admitted_file
from stet_ls.engine.workspace.symbol_index import NOT_READY, SymbolIndex

DATES = '''"""Dates."""


def parse(text: str) -> int:
    """Reads a date.

    And more.
    """
    return len(text)


class Clock:
    def now(self) -> int:
        return 0
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    put(root / "app" / "dates.py", DATES)
    return root


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Paths(home / "config.toml", home / "data", home / "cache", home / "log", home / "run")


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def walked(root: Path, **fields: object) -> list[str]:
    return [found.path for found in SourceWalk(root, **fields).files()]  # type: ignore[arg-type]


async def ready(paths: Paths, root: Path, **fields: object) -> SymbolIndex:
    index = SymbolIndex(paths, **fields)  # type: ignore[arg-type]
    await index.read((root,), 30)
    return index


def places(index: SymbolIndex, name: str, root: Path, *buffers: Buffer, language: str = "python") -> list[str]:
    workspace = Workspace((root,), buffers)
    found = index.find((name,), language, workspace)
    opened = [index.open(candidate, workspace) for candidate in found.candidates]
    return [f"{one.path.relative_to(root).as_posix()}:{one.entry.qualified}" for one in opened if one is not None]


# What is found.


async def test_a_name_leads_to_its_definition(paths: Paths, root: Path) -> None:
    index = await ready(paths, root)
    workspace = Workspace((root,))
    (candidate,) = index.find(("parse",), "python", workspace).candidates
    definition = index.open(candidate, workspace)
    assert definition is not None
    entry = definition.entry
    assert (entry.kind, entry.signature, entry.doc) == ("function", "def parse(text: str) -> int", "Reads a date.")
    assert definition.source.data[entry.start : entry.end].decode().endswith("return len(text)")
    assert places(index, "now", root) == ["app/dates.py:Clock.now"]


SAMPLES = {
    "a.js": "export function find1(a) { return a }\n",
    "a.ts": "export function find2(a: number): number { return a }\n",
    "a.go": "package a\n\nfunc Find3(a int) int { return a }\n",
    "a.rs": "pub fn find4(a: i32) -> i32 { a }\n",
    "A.java": "class A { int find5(int a) { return a; } }\n",
    "a.cpp": "int find6(int a) { return a; }\n",
    "A.cs": "class A { int Find7(int a) { return a; } }\n",
    "a.rb": "def find8(a)\n  a\nend\n",
}


async def test_every_language_with_structure_is_read(paths: Paths, root: Path) -> None:
    for name, text in SAMPLES.items():
        put(root / name, text)
    index = await ready(paths, root)
    languages = ("javascript", "typescript", "go", "rust", "java", "cpp", "csharp", "ruby")
    for number, (name, language) in enumerate(zip(SAMPLES, languages, strict=True), start=1):
        found = [*places(index, f"find{number}", root, language=language)]
        found += places(index, f"Find{number}", root, language=language)
        assert [one.split(":")[0] for one in found] == [name]
    assert places(index, "parse", root, language="go") == [], "another language's names mean nothing"
    assert places(index, "find2", root, language="javascript") == ["a.ts:find2"], "these two call each other"


async def test_an_unsaved_buffer_replaces_its_file_in_the_index(paths: Paths, root: Path) -> None:
    index = await ready(paths, root)
    buffer = Buffer(root / "app" / "dates.py", 2, "def parse_all(): pass\n")
    assert places(index, "parse", root, buffer) == []
    assert places(index, "parse_all", root, buffer) == ["app/dates.py:parse_all"]


# Changes.


async def test_changes_are_indexed_one_by_one(paths: Paths, root: Path) -> None:
    index = await ready(paths, root)
    new = put(root / "app" / "new.py", "def brandnew(): pass\n")
    index.update((new,))
    assert places(index, "brandnew", root) == ["app/new.py:brandnew"]
    put(new, "def renamed(): pass\n")
    index.update((new,))
    assert (places(index, "brandnew", root), places(index, "renamed", root)) == ([], ["app/new.py:renamed"])
    new.unlink()
    index.update((new,))
    assert places(index, "renamed", root) == []
    (root / "app" / "dates.py").rename(root / "dates.py")
    index.update((root / "app", root / "dates.py"))
    assert places(index, "parse", root) == ["dates.py:parse"]


async def test_a_file_changed_without_notice_is_shown_with_its_current_text(paths: Paths, root: Path) -> None:
    index = await ready(paths, root)
    put(root / "app" / "dates.py", "# moved\n\n\ndef parse(text, strict): return 1\n")
    workspace = Workspace((root,))
    (candidate,) = index.find(("parse",), "python", workspace).candidates
    definition = index.open(candidate, workspace)
    assert definition is not None
    assert definition.entry.signature == "def parse(text, strict)"
    put(root / "app" / "dates.py", "")
    assert index.open(candidate, workspace) is None


def test_a_second_scan_reads_only_changed_files(paths: Paths, root: Path) -> None:
    """What the database was made to say of a file stays where the file's content did."""
    put(root / "other.py", "def other(): pass\n")
    store = IndexStore(database(paths.symbols, root, ()))
    store.prepare()
    assert scan(root, store).files == 2
    with sqlite3.connect(store.path) as db:
        db.execute("update symbols set doc = 'as it was'")
    os.utime(root / "other.py", ns=(1, 1))  # touched, and the same
    put(root / "app" / "dates.py", DATES.replace("a date", "one date"))
    scan(root, store)
    assert [hit.entry.doc for hit in store.find(["other", "parse"], ["python"])[0]] == ["as it was", "Reads one date."]
    (root / "other.py").unlink()
    scan(root, store)
    assert store.find(["other"], ["python"])[0] == []


async def test_the_index_is_kept_after_its_process_ends(paths: Paths, root: Path) -> None:
    await (await ready(paths, root)).close()
    assert places(SymbolIndex(paths), "parse", root) == ["app/dates.py:parse"]


# Not ready, broken, bounded.


async def test_an_incomplete_index_answers_with_what_it_has(paths: Paths, root: Path) -> None:
    index = SymbolIndex(paths)
    index.watch((root,), after=60)
    found = index.find(("parse",), "python", Workspace((root,)))
    assert (found.candidates, found.gaps) == ((), (NOT_READY,))
    await asyncio.wait_for(index.close(), 50)  # it would be 60 if it were waited for


async def test_a_child_indexes_a_watched_root_and_stops_with_its_lease(paths: Paths, root: Path) -> None:
    index = SymbolIndex(paths)
    index.watch((root,))
    async with asyncio.timeout(60):
        while not index.status(root).complete:
            await asyncio.sleep(0.05)
    assert places(index, "parse", root) == ["app/dates.py:parse"]
    await index.close()


def test_files_indexed_before_the_deadline_are_kept(paths: Paths, root: Path) -> None:
    for number in range(120):
        put(root / f"m{number}.py", f"def f{number}(): pass\n")
    store = IndexStore(database(paths.symbols, root, ()))
    store.prepare()
    assert not scan(root, store, limits=WalkLimits(seconds=0)).complete
    assert scan(root, store).complete
    assert not scan(root, store, limits=WalkLimits(seconds=0)).complete
    assert len(store.stamps()) == 121, "a walk that was cut short drops nothing"


async def test_a_broken_database_is_rebuilt(paths: Paths, root: Path) -> None:
    file = database(paths.symbols, root, ())
    file.parent.mkdir(mode=0o700, parents=True)
    file.write_bytes(b"no database at all" * 100)
    index = SymbolIndex(paths)
    assert index.find(("parse",), "python", Workspace((root,))).candidates == ()
    await index.read((root,), 30)
    assert places(index, "parse", root) == ["app/dates.py:parse"]


async def test_a_database_locked_by_another_process_is_not_an_error(paths: Paths, root: Path) -> None:
    index = await ready(paths, root)
    with sqlite3.connect(database(paths.symbols, root, ())) as other:
        other.execute("begin immediate")
        index.update((put(root / "late.py", "def late(): pass\n"),))
        assert places(index, "parse", root) == ["app/dates.py:parse"]


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
async def test_the_database_is_private(paths: Paths, root: Path) -> None:
    await ready(paths, root)
    folder = paths.symbols
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.iterdir())


def test_files_above_the_limit_are_left_out_and_reported(root: Path) -> None:
    for number in range(30):
        put(root / f"m{number}.py", "x = 1\n")
    walk = SourceWalk(root, limits=WalkLimits(files=10))
    assert len(list(walk.files())) == 10
    assert walk.bounds == "more than 10 files or 400 MB"
    walk = SourceWalk(root, limits=WalkLimits(entries=20))
    assert not list(walk.files())
    assert "more than 20 entries" in walk.bounds


# What is never read.


def test_ignore_files_of_the_project_and_the_user_hide_files(root: Path) -> None:
    put(root / ".gitignore", "*.gen.py\nout/\n!keep.gen.py\n")
    put(root / "app" / ".gitignore", "/local.py\n")
    put(root / ".stetignore", "private/\n")
    for name in ("a.gen.py", "keep.gen.py", "out/b.py", "app/local.py", "app/sub/local.py", "private/c.py", "own/d.py"):
        put(root / name, "x = 1\n")
    seen = ["keep.gen.py", "app/dates.py", "app/sub/local.py"]
    assert walked(root, ignore=("own/",)) == seen
    for path in root.rglob("*.py"):
        shown = path.relative_to(root).as_posix() in seen
        assert (admitted_file(root, path, ("own/",)) is not None) == shown, path


def test_tool_folders_and_secret_files_are_skipped(root: Path) -> None:
    for name in (
        "node_modules/x/a.js",
        ".venv/b.py",
        "venv/c.py",
        "pkg.egg-info/d.py",
        ".ssh/e.py",
        "__pycache__/f.py",
    ):
        put(root / name, "x = 1\n")
    assert walked(root) == ["app/dates.py"]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_links_pipes_and_unreadable_files_are_skipped(root: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside" / "secret.py", "def stolen(): pass\n")
    (root / "link.py").symlink_to(outside)
    (root / "linked").symlink_to(outside.parent)
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.py")
    (root / "a.py").mkdir()
    os.mknod(os.fsencode(root) + b"/bad\xff.py", 0o600 | stat.S_IFREG)
    assert walked(root) == ["app/dates.py"]
    for path in (root / "link.py", root / "linked" / "secret.py", root / "pipe.py", outside):
        assert admitted_file(root, path) is None


async def test_a_link_that_replaced_a_file_is_not_followed(paths: Paths, root: Path, tmp_path: Path) -> None:
    index = await ready(paths, root)
    outside = put(tmp_path / "outside.py", "def parse(): return 'stolen'\n")
    (root / "app" / "dates.py").unlink()
    (root / "app" / "dates.py").symlink_to(outside)
    assert places(index, "parse", root) == []


async def test_binary_minified_and_huge_files_are_skipped(paths: Paths, root: Path) -> None:
    put(root / "packed.js", "function packed(){};" * 2000)
    (root / "binary.py").write_bytes(b"def binary(): pass\n\0\0")
    put(root / "huge.py", "def huge(): pass\n" + "#" * LARGEST)
    put(root / "many.py", "".join(f"def many(): pass  # {number}\n" for number in range(9000)))
    index = await ready(paths, root)
    for name, language in (("packed", "javascript"), ("binary", "python"), ("huge", "python")):
        assert places(index, name, root, language=language) == []
    assert 0 < len(places(index, "many", root)) <= 40


async def test_files_hidden_later_are_not_opened(paths: Paths, root: Path) -> None:
    index = await ready(paths, root)
    put(root / ".stetignore", "app/\n")
    assert places(index, "parse", root) == []
    buffer = Buffer(root / "app" / "dates.py", 1, DATES)
    assert places(index, "parse", root, buffer) == []
