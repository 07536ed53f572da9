"""A project's files are read by `validators/project_files.py` alone: it neither waits nor reads without end.

Every other place in the source that opens or lists something is in the table below, with what that is. Who adds a read
of a workspace's file uses `read_regular`, `read_text`, `read_table`, `entries` or `matching`; who reads a file of
Stet's own, of the system's or one that its user named adds a row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOMS = Path(__file__).parent.parent
METHODS = frozenset({"read_text", "read_bytes", "open", "iterdir", "glob", "rglob"})
QUALIFIED = frozenset({
    ("os", "scandir"), ("os", "walk"), ("os", "fwalk"), ("os", "listdir"), ("os", "open"), ("io", "open"),
    ("shutil", "which"), ("tomllib", "load"), ("json", "load"),
})  # fmt: skip

IN_THE_BOX = "runs in the box, or as its first process, where nothing of the host waits"
STETS_OWN = "a file or folder of Stet's own, below the user's data, cache, log or run-time folder"
SHIPPED = "a file that is installed with Stet"
KERNEL = "a file of the kernel's: /proc, /sys, /dev"
NAMED = "a file that its user named on the command line; it may be a pipe"
NO_FILE = "a method of that name that opens no file"
WRITES = "opens for writing alone, a new file"
USERS = "the user's own tools and settings, below the home or on PATH, never a project's"
LISTS = "walks a workspace itself, to a bound of its own"

ALLOWED: dict[str, str] = {
    "engine/judges/calibration.py": SHIPPED,
    "engine/judges/differential/python_attachment.py": SHIPPED,
    "engine/execution/python/inside/": IN_THE_BOX,
    "engine/execution/javascript/harness.py": SHIPPED,
    "engine/execution/linters/language_table.py": USERS + "; what is found is started in the box alone",
    "engine/actions/repair_search/inside.py": IN_THE_BOX,
    "engine/actions/box_program.py": IN_THE_BOX,
    "engine/actions/porting/javascript_calls.py": SHIPPED,
    "engine/actions/porting/python_calls.py": SHIPPED,
    "engine/actions/porting/inside/": IN_THE_BOX,
    "engine/actions/arms/executor.py": USERS + "; what is found is started in the box alone",
    "engine/actions/arms/retriever.py": NO_FILE,
    "engine/actions/computing/inside/": IN_THE_BOX,
    "engine/actions/computing/program_run.py": SHIPPED,
    "engine/actions/repair_search/search.py": SHIPPED,
    "engine/actions/repair_search/javascript_search.py": SHIPPED,
    "engine/actions/generated_tests/mutant_trial.py": SHIPPED,
    "engine/job/ledger.py": STETS_OWN,
    "engine/memory/pending_outcomes.py": STETS_OWN,
    "engine/memory/store/store_child.py": NO_FILE,
    "engine/memory/memory_client.py": NO_FILE,
    "engine/memory/store/embedders.py": SHIPPED + ", or weights that the user named",
    "engine/memory/store/journal.py": STETS_OWN,
    "engine/memory/store/journal_lookup.py": STETS_OWN,
    "engine/memory/store/synced_index.py": STETS_OWN,
    "engine/memory/store/team_table.py": STETS_OWN,
    "engine/memory/import_solutions.py": "lists the folder that its user named for `stet memory learn`",
    "engine/memory/store/maintenance.py": STETS_OWN,
    "engine/model/": STETS_OWN + ": weights and profiles",
    "engine/prompt/context/cross_file.py": NO_FILE,
    "engine/workspace/index_store.py": STETS_OWN,
    "engine/sandbox/install_advice.py": KERNEL,
    "engine/sandbox/inside/attack.py": IN_THE_BOX,
    "engine/sandbox/inside/box_worker.py": IN_THE_BOX,
    "engine/sandbox/processes/socket_buffers.py": KERNEL,
    "engine/sandbox/backends/backend_discovery.py": "boxes of the system's own folders",
    "engine/sandbox/files/outputs.py": NO_FILE + ": an archive in memory",
    "engine/sandbox/linux/landlock_launcher.py": IN_THE_BOX,
    "engine/sandbox/linux/seccomp_notify.py": IN_THE_BOX,
    "engine/sandbox/backends/landlock_box.py": KERNEL,
    "engine/sandbox/environments/environment_state.py": USERS,
    "engine/sandbox/environments/interpreter_candidates.py": USERS,
    "engine/sandbox/environments/interpreter_detection.py": SHIPPED,
    "engine/sandbox/environments/known_packages.py": SHIPPED,
    "engine/sandbox/environments/locks.py": STETS_OWN,
    "engine/sandbox/inside/interpreter_probe.py": IN_THE_BOX,
    "engine/sandbox/environments/environment_store.py": STETS_OWN,
    "engine/sandbox/files/disk_usage.py": STETS_OWN,
    "engine/sandbox/linux/landlock.py": "a place without opening it (O_PATH)",
    "engine/sandbox/files/overlay.py": LISTS,
    "engine/sandbox/files/workspace_copy.py": LISTS
    + "; copies regular files by a descriptor that was asked what it is",
    "engine/sandbox/files/mounts.py": KERNEL,
    "engine/sandbox/backends/reaper.py": KERNEL,
    "engine/sandbox/box_pool.py": SHIPPED,
    "engine/sandbox/isolation_probe.py": STETS_OWN + ", and the entries of the user's home",
    "engine/sandbox/processes/procfs.py": KERNEL,
    "engine/runners/report_channel.py": SHIPPED,
    "engine/runners/inside/": IN_THE_BOX,
    "engine/runners/toolchain.py": USERS + "; what is found is started in the box alone",
    "engine/sandbox/machine_state.py": KERNEL,
    "engine/sandbox/sandbox.py": NO_FILE,
    "engine/sandbox/files/scratch.py": STETS_OWN,
    "engine/sandbox/node_packages.py": LISTS + ", of packages; no file is opened",
    "engine/sandbox/processes/process_tree.py": KERNEL,
    "engine/sandbox/files/run_folder.py": STETS_OWN,
    "engine/trace/": STETS_OWN,
    "engine/task_history/": STETS_OWN,
    "engine/storage/": STETS_OWN,
    "engine/verify/stored/records.py": STETS_OWN,
    "engine/workers/": STETS_OWN,
    "server/__main__.py": KERNEL,
    "server/cli/inputs/secret_arguments.py": KERNEL,
    "engine/workspace/git.py": "looks for a pipe below the folder that its user named, once git waits for one",
    "server/cli/hook/": STETS_OWN,
    "server/cli/check/signals.py": KERNEL,
    "server/cli/check/file_discovery.py": "lists the folders that its user named for `stet check`",
    "server/cli/config.py": WRITES,
    "server/cli/demo/command.py": SHIPPED + ": the sample project, in a copy of its own",
    "server/cli/editor.py": SHIPPED,
    "server/cli/editor_install.py": SHIPPED + ", and where its user keeps plugins and programs of editors",
    "server/cli/inputs/files.py": WRITES,
    "server/cli/demo/language_client.py": SHIPPED + ": the demo's copy of the sample project",
    "server/cli/memory.py": NAMED,
    "server/cli/run/batch_ledger.py": STETS_OWN,
    "server/cli/run/task_request.py": STETS_OWN + ": a plan that its user edited",
    "server/edits/edit_plan.py": WRITES,
    "server/cli/sandbox.py": NAMED,
    "server/cli/demo/rejected_answer.py": SHIPPED,
    "server/cli/demo/verified_changes.py": SHIPPED,
    "server/documents/open_documents.py": NO_FILE,
    "server/observability/log.py": STETS_OWN,
    "server/evidence/report_viewer.py": STETS_OWN,
    "server/evidence/evidence_files.py": STETS_OWN,
    "server/evidence/produced_files.py": STETS_OWN,
    "server/lsp/transport.py": KERNEL,
    "server/lsp/watchdog.py": KERNEL,
    "validators/checkers/programs.py": "looks for programs, and refuses those of projects",
    "validators/install_hints.py": SHIPPED,
    "validators/syntax/language_pack_child.py": KERNEL,
    "validators/checkers/tool_process.py": "looks for a program that was chosen already",
    "validators/project_files.py": "the reader",
}
"""By file, or by folder with a slash at its end."""


def reads(file: Path) -> Iterator[str]:
    """The calls in a source file that open or list something, with their lines."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Call(func=ast.Name(id="open")):
                yield f"{file.name}:{node.lineno} open"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if (module, name) in QUALIFIED:
                yield f"{file.name}:{node.lineno} {module}.{name}"
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
                yield f"{file.name}:{node.lineno} .{name}"


@cache
def reading_files() -> dict[str, list[str]]:
    files = (file for room in ("server", "engine", "validators") for file in sorted((ROOMS / room).rglob("*.py")))
    return {file.relative_to(ROOMS).as_posix(): found for file in files if (found := list(reads(file)))}


def test_project_files_are_read_only_by_the_bounded_reader() -> None:
    others = {
        name: found
        for name, found in reading_files().items()
        if not any(name == row or (row.endswith("/") and name.startswith(row)) for row in ALLOWED)
    }
    assert others == {}, "use validators/project_files.py, or add a row that says what is read"


def test_every_exception_is_needed() -> None:
    found = reading_files()
    assert [row for row in ALLOWED if not any(name.startswith(row) for name in found)] == []


def test_calls_that_read_a_file_are_found(tmp_path: Path) -> None:
    """The net itself has no hole of these shapes."""
    lines = ["path.read_text()", "open(path)", "os.scandir(path)", "tomllib.load(file)", "(root / 'a').open()"]
    (tmp_path / "a.py").write_text("\n".join(lines))
    assert len(list(reads(tmp_path / "a.py"))) == len(lines)
