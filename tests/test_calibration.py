"""The table behind `confidence`, counted from the results of an evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.eval.calibrate import STARTS, disorder, dumps, recount
from bench.eval.table import wilson

from stet_ls.engine.judges.calibration import FILE, LEAST_COUNT, Cell, EvidenceTier, chance, read

SCRIPT = Path(__file__).parent / "bench" / "eval" / "calibrate.py"
SMALL, LARGE = "qwen2.5-coder:1.5b", "qwen2.5-coder:7b"


def results(model: str, tier: str, right: int, count: int, **more: Any) -> list[dict[str, Any]]:
    """So many offered answers of one strength."""
    row = {"arm": "stet", "model": model, "tier": tier, "offered": True, "date": "2026-01-02", **more}
    return [{**row, "case": f"{tier} {n}", "passed": n < right} for n in range(count)]


def test_what_was_counted_often_enough_is_the_chance_and_the_rest_starts() -> None:
    rows = recount((), [*results(SMALL, "E1", 10, 40), *results(SMALL, "E5", LEAST_COUNT - 1, LEAST_COUNT - 1)])
    row = next(row for row in rows if row.model == SMALL)

    assert (row.profile, row.date) == ("tiny", "2026-01-02")
    counted, few = row.cells[EvidenceTier.E1], row.cells[EvidenceTier.E5]
    assert (counted.chance, counted.right, counted.count, counted.interval) == (0.25, 10, 40, wilson(10, 40))
    assert (few.chance, few.right, few.count, few.measured) == (0.9, LEAST_COUNT - 1, LEAST_COUNT - 1, False)
    assert row.cells[EvidenceTier.E0] == Cell(0.2)
    assert chance(EvidenceTier.E1, "tiny", SMALL, rows) == (0.25, SMALL)
    assert chance(EvidenceTier.E1, "tiny", "another:1b", rows) == (0.25, "tiny"), "its profile's row is the sum"


def test_the_profiles_are_sums_and_other_models_stay() -> None:
    first = recount((), [*results("a-7b", "E3", 30, 30), *results("b-7b", "E3", 0, 30), *results(SMALL, "E3", 1, 1)])
    again = recount(first, results("b-7b", "E3", 15, 30))
    cells = {row.name: row.cells[EvidenceTier.E3] for row in again}

    assert (cells["a-7b"].right, cells["b-7b"].right) == (30, 15)
    assert (cells["mid"].right, cells["mid"].count, cells["mid"].chance) == (45, 60, 0.75)
    assert cells["tiny"].count == 1
    assert cells["a-7b"].chance == 0.98, "never certain"


def test_a_count_that_is_taken_back_leaves_the_start_value() -> None:
    counted = recount((), results(LARGE, "E2", 5, 50))
    assert recount(counted, results(LARGE, "E2", 1, 2))[1].cells[EvidenceTier.E2].chance == STARTS["mid"][2]


def test_strengths_out_of_order_are_named() -> None:
    cells = dict.fromkeys(EvidenceTier, Cell(0.5))
    cells |= {
        EvidenceTier.E2: Cell(0.8, 80, 100),
        EvidenceTier.E3: Cell(0.6, 60, 100),
        EvidenceTier.E4: Cell(0.1, 1, 10),
    }
    assert disorder(cells) == ("E3",), "what was not counted is not out of order"
    cells[EvidenceTier.E3] = Cell(0.8, 80, 100)
    assert disorder(cells) == ()


def test_the_shipped_table_is_as_the_script_writes_it() -> None:
    assert FILE.read_text("utf-8") == dumps(read())
    for row in read():
        for start, cell in zip(STARTS[row.profile], row.cells.values(), strict=True):
            assert cell.measured or cell.chance == start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What an evaluation left: two shards, other variants, refusals, and rows of before strengths were told."""
    out = tmp_path / "out"
    out.mkdir()
    rows = [
        *results(SMALL, "E1", 9, 30),
        *results(SMALL, "E1", 30, 30, arm="single shot"),
        *results(SMALL, "E1", 0, 30, offered=False),
        *results(SMALL, "", 3, 3),
    ]
    (out / "results-0.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (out / "results-1.jsonl").write_text(f"{json.dumps(results(SMALL, 'E3', 1, 1)[0])}\n", "utf-8")
    return out


def calibrate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, timeout=100, check=False)


def test_the_command_writes_the_table_and_checks_it(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(FILE.read_text("utf-8"), "utf-8")
    words = ("--results", folder, "--table", table)

    assert calibrate(*words, "--check").returncode == 1
    assert table.read_text("utf-8") == FILE.read_text("utf-8"), "a check writes nothing"
    done = calibrate(*words)
    assert done.returncode == 0, done.stderr
    assert "E1 9/30" in done.stdout
    assert "3 results do not say their strength" in done.stderr
    row = next(row for row in read(table) if row.model == SMALL)
    assert (row.cells[EvidenceTier.E1].right, row.cells[EvidenceTier.E1].count, row.cells[EvidenceTier.E3].count) == (
        9,
        30,
        1,
    )
    assert calibrate(*words, "--check").returncode == 0


def test_a_folder_without_results_is_said(tmp_path: Path) -> None:
    done = calibrate("--results", tmp_path)
    assert done.returncode == 2
    assert "no offered answer" in done.stderr
