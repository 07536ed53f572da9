"""Work in the sandbox: programs run turn by turn, and what they made is offered, described by what it holds."""

from __future__ import annotations

import asyncio
import struct
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.engine import Bench, said
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.computing.file_facts import file_facts
from stet_ls.engine.actions.computing.requested import requested_task
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check
from stet_ls.engine.api.execution_result import FileKind
from stet_ls.engine.api.plan import TaskOptions
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.validators.source import Source

SALES = "month,revenue\nJan,10\nJan,20\nFeb,12.5\n"
TOTALS = """import csv
import collections

totals = collections.Counter()
for row in csv.DictReader(open("sales.csv")):
    totals[row["month"]] += float(row["revenue"])
with open("totals.csv", "w") as file:
    file.write("month,revenue\\n" + "".join(f"{m},{v}\\n" for m, v in totals.items()))
print(dict(totals))
"""
DONE = "DONE\nJanuary has 30.0 and February 12.5.\ntotals.csv: the revenue of each month, 2 rows\n"


def program(code: str, name: str = "totals.py") -> str:
    return f"PLAN: as asked\nFILE: {name}\nCODE:\n```python\n{code.rstrip()}\n```\n"


@pytest.fixture
def data(tmp_path: Path, stet_home: Path) -> Path:
    root = tmp_path / "data"
    root.mkdir()
    (root / "sales.csv").write_text(SALES)
    return root


async def run(
    scripted: ScriptedModel, root: Path, replies: Sequence[str], instruction: str = "total the revenue by month",
    name: str = "sales.csv", **fields: object,
) -> tuple[Answer, Bench]:  # fmt: skip
    scripted.replies(list(replies))
    asked = {"path": root / name, "workspace": Workspace((root,)), "instruction": instruction, "language": "csv"}
    async with Bench(scripted) as bench:
        answer = await bench.run("task", "$0" + SALES, **{**asked, **fields})
    if "code cannot run" in answer.message:
        pytest.skip(answer.message)
    return answer, bench


async def test_a_table_is_computed_and_described_by_what_it_holds(scripted: ScriptedModel, data: Path) -> None:
    answer, _ = await run(scripted, data, [program(TOTALS), DONE])
    assert answer.success, answer.message
    reported = answer.to_json()
    assert reported["execution_result"]["status"] == "ok"
    assert reported["execution_result"]["turns"] == 1
    assert reported["execution_result"]["stdout"] == "{'Jan': 30.0, 'Feb': 12.5}\n"
    assert [(row["name"], row["kind"], row["description"]) for row in reported["file_summary"]] == [
        ("totals.py", "code", "9 lines"),
        ("totals.csv", "data", "2 rows of month, revenue: the revenue of each month, 2 rows"),
    ]
    assert {file.path: file.text for file in answer.new_files}[data / "totals.csv"].startswith(
        "month,revenue\nJan,30.0"
    )
    assert answer.explanation == "January has 30.0 and February 12.5."
    assert said(answer, Check.EXECUTION).detail.startswith("1 program ran in ")
    assert answer.isolation is not None
    assert [path.name for path in data.iterdir()] == ["sales.csv"], "nothing is written by the engine"


async def test_the_packages_files_and_context_of_a_request_reach_the_programs(
    scripted: ScriptedModel, data: Path
) -> None:
    (data / "costs.csv").write_text("month,cost\nJan,4\n")
    options = TaskOptions(libraries=("pyparsing",), files=(data / "costs.csv",))
    given = {"what was found so far": "March is missing", ".env": "TOKEN=1"}
    await run(scripted, data, [program(TOTALS), DONE], task=options, context=given)
    first = scripted.requests[0].prompt
    assert "Use pyparsing." in first
    assert "Jan,4" in first
    assert "March is missing" in first
    assert "TOKEN" not in first, "a file of secrets"


async def test_a_failed_program_leaves_no_files_and_is_forgotten(scripted: ScriptedModel, data: Path) -> None:
    failing = "open('junk.csv', 'w').write('a\\n1\\n')\nprint('half of it')\nraise ValueError('no such month')\n"
    answer, _ = await run(scripted, data, [program(failing, "first.py"), program(TOTALS), DONE])
    assert [each.name for each in answer.files] == ["totals.py", "totals.csv"]
    assert said(answer, Check.EXECUTION).detail.endswith("after 1 that failed")
    assert "ValueError: no such month" in scripted.requests[1].prompt, "the next turn is told what went wrong"
    assert "no such month" not in scripted.requests[2].prompt, "a success drops the failure from the history"
    assert answer.execution is not None
    assert "half of it" not in answer.execution.stdout


WRONG = (
    ("open('sales.csv', 'a').write('x')", "sales.csv"),
    ("import os\nos.remove('sales.csv')", "sales.csv"),
    ("while True: print('x' * 1000)", "it printed more than"),
    ("f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20))", "File too large"),
    ("open('/etc/hosts2', 'w')", "Read-only file system"),
    ("import nosuchpackage_of_stet", "nosuchpackage_of_stet is not installed here"),
)


async def test_what_went_wrong_is_reported_and_nothing_is_kept(scripted: ScriptedModel, data: Path) -> None:
    answer, _ = await run(scripted, data, [program(code) for code, _ in WRONG])
    assert not answer.success
    assert not answer.new_files
    assert "Task: no result after" in answer.message
    for number, (_, problem) in enumerate(WRONG, 1):
        assert problem in scripted.requests[number].prompt, scripted.requests[number].prompt[-900:]
    assert (data / "sales.csv").read_text() == SALES


async def test_an_input_of_a_gigabyte_is_not_read_whole(scripted: ScriptedModel, data: Path) -> None:
    with (data / "huge.csv").open("wb") as file:
        file.write(SALES.encode())
        file.truncate(1 << 30)
    code = "with open('huge.csv') as file:\n    print(file.readline().strip())\n"
    replies = [program(code, "peek.py"), "DONE\nIt has two columns."]
    answer, _ = await run(scripted, data, replies, "which columns has huge.csv?")
    assert answer.success, answer.message
    first = scripted.requests[0].prompt
    assert "`huge.csv`: 1.1 GB; larger than memory may allow: read it in parts" in first
    assert "Jan,10" in first
    assert len(first) < 6_000


async def test_a_picture_that_the_task_asks_for_is_missed(scripted: ScriptedModel, data: Path) -> None:
    answer, _ = await run(scripted, data, [program(TOTALS), DONE, DONE, DONE], "plot the revenue by month")
    assert "No program wrote a picture." in scripted.requests[2].prompt
    assert "No program wrote a picture" in answer.message


async def test_figures_that_no_program_printed_are_named(scripted: ScriptedModel, data: Path) -> None:
    answer, _ = await run(scripted, data, [program(TOTALS), "DONE\nJanuary has 30.0, February 99.\ntotals.csv: 7 rows"])
    assert "The summary states figures that no program printed: 99." in answer.warnings
    assert (
        answer.files[1].description == "2 rows of month, revenue (the model's description was dropped: it says 7 rows)"
    )


async def test_a_model_that_never_ends_is_stopped_by_the_budget(scripted: ScriptedModel, data: Path) -> None:
    scripted.default = Reply("I think about it.")
    answer, _ = await run(scripted, data, [program(TOTALS), *(program(f"print({n})", f"p{n}.py") for n in range(9))],
                          budget=Budget.THOROUGH)  # fmt: skip
    assert answer.success
    assert len(scripted.requests) == 6
    assert "Call limit reached" in answer.message


async def test_a_tiny_model_is_asked_for_a_program_alone(scripted: ScriptedModel, data: Path) -> None:
    scripted.models = ("qwen2.5-coder-0.5b-instruct",)
    scripted.replies([f"```python\n{TOTALS}```"])
    async with Bench(scripted) as bench:
        answer = await bench.run("task", "$0" + SALES, path=data / "sales.csv", workspace=Workspace((data,)),
                                 language="csv", instruction="total the revenue by month")  # fmt: skip
    assert answer.success, answer.message
    assert len(scripted.requests) == 1, "its words about the output would be worth less than the output"
    assert scripted.requests[0].prompt.endswith("Reply with one block of code: the whole program.")
    assert [each.name for each in answer.files] == ["task_1.py", "totals.csv"]
    assert answer.explanation == "{'Jan': 30.0, 'Feb': 12.5}"


async def test_a_cancelled_task_is_quiet_at_once(scripted: ScriptedModel, data: Path) -> None:
    scripted.replies([program("import time\ntime.sleep(300)")])
    async with Bench(scripted) as bench:
        work = asyncio.ensure_future(
            bench.run(
                "task",
                "$0" + SALES,
                path=data / "sales.csv",
                workspace=Workspace((data,)),
                language="csv",
                instruction="total the revenue by month",
            )
        )
        while not any(isinstance(event, Stage) and event.name == "run" for event in bench.events):
            assert not work.done(), work.result()
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        began = time.monotonic()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert time.monotonic() - began < 5
    assert [path.name for path in data.iterdir()] == ["sales.csv"]


@pytest.mark.parametrize(
    ("name", "why"), [(".env", "file of secrets"), ("../other.csv", "outside of"), ("missing.csv", "No such file")]
)
async def test_an_input_that_no_program_may_read_is_refused(
    scripted: ScriptedModel, data: Path, name: str, why: str
) -> None:
    (data / ".env").write_text("KEY=abc\n")
    (data.parent / "other.csv").write_text(SALES)
    with pytest.raises(UsageError, match=why):
        await run(scripted, data, [], context={"inputs": name})
    assert not scripted.requests


@pytest.mark.parametrize(
    ("instruction", "path", "inputs", "outputs"),
    [
        ("plot the revenue by month", "sales.csv", ("sales.csv",), ()),
        ("sum the revenue of sales.csv into out.csv", "sales.csv", ("sales.csv",), ("out.csv",)),
        ("the three rows with the largest revenue", "sales.csv", ("sales.csv",), ()),
        ("how many rows has sales.csv?", "notes.md", ("sales.csv",), ()),
        ("convert sales.csv to sales.json", "notes.md", ("sales.csv",), ("sales.json",)),
        ("fix the function load so that it reads sales.csv", "sales.csv", None, None),
        ("add a method that plots", "notes.md", None, None),
        ("make notes.md shorter", "notes.md", None, None),
    ],
)
def test_a_request_that_computes_names_data_and_says_what_to_make_of_it(
    data: Path, instruction: str, path: str, inputs: tuple[str, ...] | None, outputs: tuple[str, ...] | None
) -> None:
    (data / "notes.md").write_text("notes\n")
    request = Request(
        "task", "csv", Source(""), path=data / path, instruction=instruction, workspace=Workspace((data,))
    )
    found = requested_task(request)
    assert (None if found is None else (found.inputs, found.criteria.names)) == (
        None if inputs is None else (inputs, outputs)
    )


def png(rows: list[bytes], width: int) -> bytes:
    """A picture of 8-bit gray."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, len(rows), 8, 0, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "data", "kind", "about"),
    [
        ("a.png", png([b"\0\1\2", b"\0\1\2"], 3), FileKind.IMAGE, "3 × 2 pixels"),
        ("a.png", png([b"\7\7\7", b"\7\7\7"], 3), FileKind.IMAGE, "3 × 2 pixels, all of one color"),
        ("a.png", b"month,revenue\n", FileKind.IMAGE, "not a valid PNG file"),
        ("a.gif", b"GIF89a" + struct.pack("<HH", 5, 4), FileKind.IMAGE, "5 × 4 pixels"),
        ("a.svg", b'<svg xmlns="x" width="30" height="20">', FileKind.IMAGE, "30 × 20 pixels"),
        ("a.csv", b'a,b\n1,"x\ny"\n', FileKind.DATA, "1 row of a, b"),
        ("a.json", b'[{"a": 1}, {"b": 2}]', FileKind.DATA, "2 rows of a, b"),
        ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', FileKind.DATA, "2 rows of a"),
        ("a.json", b'{"a": 1}', FileKind.DATA, "a JSON object of 1 key"),
        ("a.bin", b"\0\1", FileKind.DATA, "binary"),
        ("a.py", b"x = 1\n", FileKind.CODE, "1 line"),
    ],
)
def test_a_file_is_described_by_its_content(name: str, data: bytes, kind: FileKind, about: str) -> None:
    found = file_facts(name, data)
    assert (found.kind, found.about) == (kind, about)
