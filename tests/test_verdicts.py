"""The labels of `corpora/verdicts` are proven: wrong rewrites show another thing, right ones the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bench.quality.verdicts import JUDGES, Outcome, outcome_of
from support.corpora.verdicts import HASHED, Half, Label, Rewrite, observed, rewrites
from support.processes.tools import needs
from support.servers.script_runner import run_script

from stet_ls.engine.api.evidence import Check, Evidence, Ruling

CASES = rewrites()
PYTHON = [each for each in CASES if each.language == "python"]
SCRIPT = [each for each in CASES if each.language == "javascript"]
TYPED = [each for each in CASES if each.language == "typescript"]


def _prove(case: Rewrite, folder: Path) -> None:
    before, after = (observed(case, text, folder) for text in (case.before, case.after))
    assert before.strip("-\n"), f"{case.id} shows nothing"
    assert (before == after) is (case.label is Label.RIGHT), (case.id, before, after)


@pytest.mark.parametrize("case", PYTHON, ids=lambda case: case.id)
def test_a_label_of_python_is_proven(case: Rewrite, tmp_path: Path) -> None:
    _prove(case, tmp_path)
    if case.label is Label.RIGHT and case.is_documented:
        _prove(case.bare(), tmp_path)


@needs("node")
@pytest.mark.parametrize("case", SCRIPT, ids=lambda case: case.id)
def test_a_label_of_javascript_is_proven(case: Rewrite, tmp_path: Path) -> None:
    _prove(case, tmp_path)


@needs("node", "esbuild")
@pytest.mark.parametrize("case", TYPED, ids=lambda case: case.id)
def test_a_label_of_typescript_is_proven(case: Rewrite, tmp_path: Path) -> None:
    _prove(case, tmp_path)


@pytest.mark.parametrize("case", [each for each in CASES if each.tests], ids=lambda case: case.id)
def test_the_tests_of_a_case_pass_on_both(case: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "test_target.py").write_text(case.tests)
    for text in (case.before, case.after):
        (tmp_path / "target.py").write_text(text)
        status, out, err = run_script(tmp_path)
        assert status == 0, out + err


def test_the_corpus_is_balanced_and_each_case_has_its_own_name() -> None:
    assert [name for name, count in Counter(each.id for each in CASES).items() if count > 1] == []
    labels = Counter(each.label for each in CASES)
    assert min(labels.values()) >= 100
    assert len(SCRIPT) + len(TYPED) >= 30
    fresh = [each for each in CASES if each.half is Half.FRESH]
    hashed = [each for each in CASES if each.folder is None]
    for half in HASHED:
        assert sum(each.half is half for each in hashed) > len(hashed) / 3
    assert min(Counter(each.label for each in fresh).values()) >= 50


def test_the_bench_asks_what_compares_and_runs_tests() -> None:
    assert {Check.DIFFERENTIAL, Check.TESTS, Check.DOCTEST, Check.DANGER} <= {each.check for each in JUDGES}


@pytest.mark.parametrize(
    ("ruling", "trusted", "becomes"),
    [
        (Ruling.FAIL, True, Outcome.REFUTED),
        (Ruling.UNKNOWN, True, Outcome.ASKED),
        (Ruling.PASS, True, Outcome.ALIKE),
        (Ruling.UNKNOWN, False, Outcome.ASKED),
        (Ruling.SKIPPED, False, Outcome.SILENT),
    ],
)
def test_the_bench_counts_what_the_comparison_leads_to(ruling: Ruling, trusted: bool, becomes: Outcome) -> None:
    assert outcome_of([Evidence(Check.DIFFERENTIAL, ruling, "said", trusted=trusted)])[0] is becomes
