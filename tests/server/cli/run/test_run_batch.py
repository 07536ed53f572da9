"""`stet run` on several targets: one queue, one limit, a ledger to resume from."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.processes.stet import interruptible_argv
from support.servers.scripted import Body, Reply, ScriptedModel, dead_endpoint

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs.shard import Shard, read_shard
from stet_ls.server.cli.run.batch import CallLimit
from stet_ls.server.cli.run.batch_ledger import BatchLedger, batch_id
from stet_ls.server.cli.run.batch_targets import batch_targets, is_pattern

BATCH = ("run", "debug", "pkg/**/*.py", "--instruction", "Mend the tariff.", "--budget", "quick")


def broken(name: str) -> str:
    return f"def {name}(items):\n    result = len(items)\n    return resutl\n"


def fixed(name: str) -> str:
    return broken(name).replace("resutl", "result")


def about(name: str) -> object:
    def matches(body: Body) -> bool:
        return f"def {name}(" in json.dumps(body)

    return matches


@pytest.fixture
def files(folder: Path, scripted: ScriptedModel) -> Mapping[str, Path]:
    """Three broken files, two of which the model fixes; and one that no pattern finds."""
    (folder / "pkg" / "deep").mkdir(parents=True)
    (folder / "pkg" / "node_modules").mkdir()
    (folder / "pkg" / "node_modules" / "d.py").write_text(broken("d"))
    found = {}
    for name, place in {"a": "pkg/a.py", "b": "pkg/deep/b.py", "c": "pkg/c.py"}.items():
        found[name] = folder / place
        found[name].write_text(broken(name))
        reply = "I cannot." if name == "c" else f"PLAN: a name\nCODE:\n```python\n{fixed(name)}```\n"
        scripted.on(about(name), reply)  # type: ignore[arg-type]
    return found


def lines_of(out: str) -> tuple[dict[str, str], dict[str, object]]:
    *rows, last = [json.loads(line) for line in out.splitlines()]
    return {row["target"]: row["state"] for row in rows}, last["summary"]


def test_a_batch_is_written_reported_and_resumed(
    stet: Stet, scripted: ScriptedModel, folder: Path, files: Mapping[str, Path], stet_home: Path
) -> None:
    ran = stet(*BATCH, "--apply", "--jobs", "3")

    assert ran.status == 1, ran.err
    assert [files[name].read_text() for name in "abc"] == [fixed("a"), fixed("b"), broken("c")]
    assert (folder / "pkg" / "node_modules" / "d.py").read_text() == broken("d")
    assert "[3/3] pkg/" in ran.err, "a line for each file where there is no terminal"
    assert "pkg/deep/b.py  written  1 " in ran.err
    assert "pkg/c.py       refused  1 " in ran.err
    assert "3 targets: 1 refused, 2 written; 3 model calls, " in ran.err

    (ledger,) = (stet_home / "data" / "batches").glob("*.jsonl")
    assert ledger.stat().st_mode & 0o777 == 0o600
    assert "tariff" not in ledger.read_text()

    again = stet(*BATCH, "--apply", "--resume")
    assert (again.status, len(scripted.requests)) == (0, 3), "nothing finished runs again"
    assert "3 targets: nothing to do, 3 finished before; 0 model calls" in again.err

    files["a"].write_text(broken("a"))
    stet(*BATCH, "--apply", "--resume")
    assert len(scripted.requests) == 4, "only the file that changed since"
    assert files["a"].read_text() == fixed("a")


def test_json_lines_and_patches_of_shards_merge(stet: Stet, folder: Path, files: Mapping[str, Path]) -> None:
    parts = [stet(*BATCH, "--json", "--shard", f"{number}/2") for number in (1, 2)]
    states = [lines_of(part.out)[0] for part in parts]
    assert {**states[0], **states[1]} == {"pkg/a.py": "offered", "pkg/c.py": "refused", "pkg/deep/b.py": "offered"}
    assert [lines_of(part.out)[1]["shard"] for part in parts] == ["1/2", "2/2"]

    patches = [stet(*BATCH, "--diff", "--shard", f"{number}/2").out for number in (1, 2)]
    subprocess.run(["git", "apply"], input="".join(patches).encode(), cwd=folder, check=True, capture_output=True)
    assert [files[name].read_text() for name in "abc"] == [fixed("a"), fixed("b"), broken("c")]


def test_an_interrupt_leaves_no_half_batch_and_says_where_it_was(
    stet: Stet, scripted: ScriptedModel, folder: Path, environment: Mapping[str, str]
) -> None:
    held = threading.Event()
    for name in "ab":
        (folder / f"{name}.py").write_text(broken(name))
        reply = Reply(f"CODE:\n```python\n{fixed(name)}```\n", hold=held if name == "b" else None)
        scripted.on(about(name), reply)  # type: ignore[arg-type]
    words = ("run", "debug", "a.py", "b.py", "--budget", "quick", "--apply", "--jobs", "1")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        interruptible_argv(*words), cwd=folder, env=dict(environment), stdout=pipe, stderr=pipe
    ) as child:  # fmt: skip
        scripted.wait_request(2)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    held.set()

    assert child.returncode == 130
    assert b"interrupted: 1 of 2 targets finished; nothing else was written\n" in err
    assert b"hint: to continue with b.py, add --resume\n" in err
    assert [(folder / f"{name}.py").read_text() for name in "ab"] == [fixed("a"), broken("b")]

    assert stet(*words, "--resume").status == 0
    assert len(scripted.requests) == 3, "a.py is not asked again"
    assert (folder / "b.py").read_text() == fixed("b")


def test_limits_and_errors_stop_a_batch(stet: Stet, scripted: ScriptedModel, files: Mapping[str, Path]) -> None:
    ran = stet(*BATCH, "--json", "--max-calls", "2", "--jobs", "3")
    states, total = lines_of(ran.out)
    assert (ran.status, len(states), len(scripted.requests)) == (1, 2, 2)
    assert (total["calls"], total["not_run"]) == (2, [(set(_targets()) - set(states)).pop()])
    assert "hint: stopped by --max-calls 2; to run the rest, add --resume" in ran.err

    for name in "efg":
        (files["a"].parent / f"{name}.py").write_text(broken(name))
    with dead_endpoint() as address:
        ran = stet(*BATCH, "--json", "--jobs", "1", STET_BASE_URL=address)
    states, total = lines_of(ran.out)
    assert (ran.status, list(states.values())) == (3, ["failed"] * 3), "three errors in a row are enough"
    assert len(total["not_run"]) == 3  # type: ignore[arg-type]


def _targets() -> list[str]:
    return ["pkg/a.py", "pkg/c.py", "pkg/deep/b.py"]


def test_targets_of_a_batch(folder: Path, files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert batch_targets(["pkg/**/*.py", "pkg/a.py"], Shard()) == _targets()
    assert batch_targets(["pkg/*.py"], Shard()) == ["pkg/a.py", "pkg/c.py"]
    assert batch_targets(["pkg/**/*.py"], Shard(2, 2)) == ["pkg/c.py"]
    (folder / "odd[1].py").write_text("")
    assert not is_pattern("odd[1].py"), "a file of this very name"
    assert not is_pattern("pkg/a.py::test[1]"), "the parameters of a test"
    wrong = ((["pkg/*.rb"], "no source file"), (["none/*.py"], "the folder none does not exist"), (["-"], "standard"))
    for words, problem in wrong:
        with pytest.raises(UsageError, match=problem):
            batch_targets(words, Shard())
    for text in ("0/2", "3/2", "2", "1/0"):
        with pytest.raises(UsageError, match="expected I/N"):
            read_shard(text)


def test_a_process_killed_while_it_wrote_repeats_nothing(tmp_path: Path) -> None:
    name = batch_id(["debug"])
    with BatchLedger(tmp_path / "batches", name, resume=False) as ledger:
        ledger.writing("a.py", "new", [tmp_path / "test_a.py"])
        with pytest.raises(UsageError, match="already running"), BatchLedger(tmp_path / "batches", name, resume=True):
            pass
    with (tmp_path / "batches" / f"{name}.jsonl").open("a") as file:
        file.write('{"target": "b.py", "sta')  # cut by the kill

    with BatchLedger(tmp_path / "batches", name, resume=True) as ledger:
        assert ledger.finished("a.py", "old") == "", "killed before the file was replaced"
        assert ledger.finished("a.py", "new") == "", "killed before the new file was created"
        (tmp_path / "test_a.py").write_text("")
        assert ledger.finished("a.py", "new") == "written"
        assert ledger.finished("b.py", "") == ""


def test_the_limit_counts_what_running_jobs_may_still_spend() -> None:
    assert CallLimit(None, 3, spent=1000).has_room()
    assert CallLimit(6, 3, spent=3).has_room()
    assert not CallLimit(6, 3, spent=1, reserved=3).has_room()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("a.py::f", "a.py::g", "--apply"), "a.py::f: with `--apply` a batch takes each file once"),
        (("a.py", "b.py", "--evidence", "x"), "`--evidence` takes one target"),
        (("a.py", "--shard", "5/4"), "--shard 5/4: expected I/N"),
    ],
)
def test_wrong_batches_are_refused(stet: Stet, words: tuple[str, ...], problem: str) -> None:
    ran = stet("run", "debug", *words)
    assert (ran.status, ran.out) == (2, "")
    assert problem in ran.err
