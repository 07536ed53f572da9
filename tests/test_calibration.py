"""The table behind `confidence`, counted from the results of an evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.eval.calibrate import STARTS, cross_validated, disorder, dumps, recount

from stet_ls.engine.api.evidence import EvidenceTier
from stet_ls.engine.judges.calibration import FILE, LEAST_COUNT, MeasuredChance, estimate, read, wilson

SCRIPT = Path(__file__).parent / "bench" / "eval" / "calibrate.py"
ACTIONS = ("refactor", "debug", "optimize")
SMALL, LARGE = "qwen2.5-coder:1.5b", "qwen2.5-coder:7b"


def results(model: str, tier: str, right: int, count: int, **more: Any) -> list[dict[str, Any]]:
    """So many offered answers of one strength."""
    row = {"arm": "stet", "model": model, "tier": tier, "offered": True, "date": "2026-01-02", **more}
    return [{**row, "case": f"{tier} {n}", "passed": n < right} for n in range(count)]


def test_frequent_counts_become_chances_and_the_rest_keep_the_default() -> None:
    rows = recount((), [*results(SMALL, "parsed", 10, 40), *results(SMALL, "tested", LEAST_COUNT - 1, LEAST_COUNT - 1)])
    row = next(row for row in rows if row.model == SMALL)

    assert (row.profile, row.date) == ("tiny", "2026-01-02")
    counted, few = row.cells[EvidenceTier.PARSED], row.cells[EvidenceTier.TESTED]
    assert (counted.chance, counted.right, counted.count, counted.interval) == (0.25, 10, 40, wilson(10, 40))
    assert (few.chance, few.right, few.count, few.measured) == (0.9, LEAST_COUNT - 1, LEAST_COUNT - 1, False)
    assert row.cells[EvidenceTier.UNCHECKED] == MeasuredChance(0.2)
    own = estimate(EvidenceTier.PARSED, "tiny", SMALL, rows=rows)
    assert (own.chance, own.row, own.interval) == (0.25, SMALL, wilson(10, 40))
    other = estimate(EvidenceTier.PARSED, "tiny", "another:1b", rows=rows)
    assert (other.chance, other.row) == (0.25, "tiny"), "its profile's row is the sum"


def test_an_action_has_counts_of_its_own() -> None:
    right, wrong = (results(SMALL, "tested", n, 20, action=action) for n, action in ((20, "refactor"), (5, "debug")))
    rows = recount((), [*right, *wrong])
    chances = {action: estimate(EvidenceTier.TESTED, "tiny", SMALL, action, rows).chance for action in ACTIONS}
    assert chances == {"refactor": 0.98, "debug": 0.25, "optimize": 0.625}
    assert estimate(EvidenceTier.TESTED, "tiny", "another:1b", "debug", rows).row == "tiny"


def test_the_chances_are_checked_on_answers_that_they_were_not_counted_from() -> None:
    reported = [*results(SMALL, "tested", 40, 40), *results(SMALL, "parsed", 0, 40)]
    assert cross_validated(reported, "tiny") < 0.05, "the evidence tells right from wrong"
    mixed = results(SMALL, "tested", 20, 40)
    assert 0.24 < cross_validated(mixed, "tiny") < 0.3, "it cannot"
    row = next(row for row in recount((), reported) if row.model == SMALL)
    assert row.brier == cross_validated(reported, "tiny")


def test_profile_rows_are_sums_and_rows_of_other_models_are_kept() -> None:
    counts = (("a-7b", 30, 30), ("b-7b", 0, 30), (SMALL, 1, 1))
    first = recount((), [row for model, right, count in counts for row in results(model, "compared", right, count)])
    again = recount(first, results("b-7b", "compared", 15, 30))
    cells = {row.name: row.cells[EvidenceTier.COMPARED] for row in again}

    assert (cells["a-7b"].right, cells["b-7b"].right) == (30, 15)
    assert (cells["mid"].right, cells["mid"].count, cells["mid"].chance) == (45, 60, 0.75)
    assert cells["tiny"].count == 1
    assert cells["a-7b"].chance == 0.98, "never certain"


def test_a_withdrawn_count_restores_the_default() -> None:
    counted = recount((), results(LARGE, "self-tested", 5, 50))
    row = recount(counted, results(LARGE, "self-tested", 1, 2))[1]
    assert row.cells[EvidenceTier.SELF_TESTED].chance == STARTS["mid"][2]


def test_tables_and_results_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They call the tiers E0 to E5."""
    former = tmp_path / "calibration.json"
    text = FILE.read_text("utf-8")
    for number, tier in enumerate(EvidenceTier):
        text = text.replace(f'"{tier}"', f'"E{number}"')
    former.write_text(text, "utf-8")

    assert '"E4"' in text
    assert read(former) == read()
    assert recount((), results(SMALL, "E1", 10, 40)) == recount((), results(SMALL, "parsed", 10, 40))


def test_chances_out_of_order_are_reported() -> None:
    cells = dict.fromkeys(EvidenceTier, MeasuredChance(0.5))
    cells |= {
        EvidenceTier.SELF_TESTED: MeasuredChance(0.8, 80, 100),
        EvidenceTier.COMPARED: MeasuredChance(0.6, 60, 100),
        EvidenceTier.EQUIVALENT: MeasuredChance(0.1, 1, 10),
    }
    assert disorder(cells) == ("compared",), "what was not counted is not out of order"
    cells[EvidenceTier.COMPARED] = MeasuredChance(0.8, 80, 100)
    assert disorder(cells) == ()


def test_the_shipped_table_is_as_the_script_writes_it() -> None:
    assert FILE.read_text("utf-8") == dumps(read())
    for row in read():
        for start, cell in zip(STARTS[row.profile], row.cells.values(), strict=True):
            assert cell.measured or cell.chance == start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What an evaluation left: two shards, other variants, refusals, and rows from before strengths were recorded."""
    out = tmp_path / "out"
    out.mkdir()
    rows = [
        *results(SMALL, "parsed", 9, 30),
        *results(SMALL, "parsed", 30, 30, arm="single shot"),
        *results(SMALL, "parsed", 0, 30, offered=False),
        *results(SMALL, "", 3, 3),
    ]
    (out / "results-0.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (out / "results-1.jsonl").write_text(f"{json.dumps(results(SMALL, 'compared', 1, 1)[0])}\n", "utf-8")
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
    assert "parsed 9/30" in done.stdout
    assert "3 results do not say their strength" in done.stderr
    row = next(row for row in read(table) if row.model == SMALL)
    parsed, compared = row.cells[EvidenceTier.PARSED], row.cells[EvidenceTier.COMPARED]
    assert (parsed.right, parsed.count, compared.count) == (9, 30, 1)
    assert calibrate(*words, "--check").returncode == 0


def test_a_folder_without_results_is_reported(tmp_path: Path) -> None:
    done = calibrate("--results", tmp_path)
    assert done.returncode == 2
    assert "no offered answer" in done.stderr
