"""Which edits are worth a question before they are applied, and what the question says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.edits import NEW, OLD, TOP

from stet_ls.engine.api.answer import Answer, Edit, NewFile
from stet_ls.engine.api.evidence import Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Summary
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.edits.edit_plan import DocumentChange, EditPlan
from stet_ls.server.job_flow.edit_risks import edit_risks, must_ask, question
from stet_ls.validators.source import Source, Span, Splice

PATH = Path("/w/a.py")


def answer(*edits: Edit, evidence: tuple[Evidence, ...] = (), new_files: tuple[NewFile, ...] = ()) -> Answer:
    start = len(TOP)
    guard = Span(start, start + len(OLD) - 1)
    return Answer(
        True, "refactor", "python", Summary("Refactored", "`f`"), edits, new_files, evidence=evidence, guard=guard
    )


def edit(start: int, end: int, text: str, path: Path = PATH) -> Edit:
    return Edit(path, Source(TOP + OLD), Span(start, end), text)


INSIDE = edit(len(TOP), len(TOP + OLD) - 1, NEW)
IMPORT = edit(len("import os\n"), len("import os\n"), "import re\n")
BELOW_IMPORTS = edit(TOP.index("A = 1"), TOP.index("A = 1") + 5, "A = 2")
ELSEWHERE = edit(0, 0, "x", Path("/w/b.py"))


def found(of: Answer) -> tuple[str, ...]:
    paths = dict.fromkeys(each.path for each in of.edits)
    changes = tuple(
        DocumentChange(Snapshot(path.as_uri(), 1, "python", Source(""), path), Source("x"), (Splice(Span(0, 0), "x"),))
        for path in paths
        if path is not None
    )
    return edit_risks(
        of, EditPlan(changes, of.new_files), Snapshot(PATH.as_uri(), 1, "python", Source(TOP + OLD), PATH)
    )


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        (answer(INSIDE), []),
        (answer(INSIDE, IMPORT), []),
        (answer(new_files=(NewFile(Path("/w/test_a.py"), "x"),)), []),
        (answer(INSIDE, BELOW_IMPORTS), ["outside"]),
        (answer(INSIDE, ELSEWHERE), ["2 files (a.py, b.py)", "outside"]),
        (answer(INSIDE, evidence=(Evidence(Check.LINT, Ruling.FAIL, "F821"),)), ["lint FAILED: F821"]),
        (answer(INSIDE, evidence=(Evidence(Check.TESTS, Ruling.UNKNOWN, "?", trusted=True),)), ["tests unknown: ?"]),
        (answer(INSIDE, evidence=(Evidence(Check.SYNTAX, Ruling.UNKNOWN, "not parsed"),)), []),
        (answer(INSIDE, evidence=(Evidence(Check.TESTS, Ruling.SKIPPED, "none"),)), []),
    ],
)
def test_only_risky_edits_need_confirmation(offered: Answer, words: list[str]) -> None:
    reasons = found(offered)

    assert len(reasons) == len(words), reasons
    assert all(word in reason for word, reason in zip(words, reasons, strict=True))
    assert must_ask("auto", reasons) is bool(words)
    assert must_ask("always", reasons)
    assert not must_ask("never", reasons)


@pytest.mark.parametrize("verdict", [Ruling.UNKNOWN, Ruling.SKIPPED])
def test_new_tests_that_did_not_run_need_confirmation(verdict: Ruling) -> None:
    why = "tests not run: pytest is missing"
    unrun = answer(new_files=(NewFile(Path("/w/test_a.py"), "x"),), evidence=(Evidence(Check.TESTS, verdict, why),))

    assert found(replace(unrun, action="test")) == (why,)
    assert found(unrun) == (), "those of the project, which could not be run, stop no edit"


def test_an_edit_that_no_check_ran_is_asked_about_with_the_way_to_have_it_checked() -> None:
    syntax = (Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok", trusted=True),)
    unproven = Metadata(evidence_tier=EvidenceTier.PARSED, raised_by="give an example: f(...) == ...")
    offered = replace(answer(INSIDE, evidence=syntax), metadata=unproven)
    assert found(offered) == ("no check ran it; give an example: f(...) == ...",)
    for tier in (EvidenceTier.SELF_TESTED, EvidenceTier.COMPARED, EvidenceTier.TESTED):
        assert found(replace(offered, metadata=replace(unproven, evidence_tier=tier))) == ()
    failed = (*syntax, Evidence(Check.DIFFERENTIAL, Ruling.FAIL, "`f(1)` was: 1, now: 2"))
    assert not any("no check ran" in each for each in found(replace(offered, evidence=failed))), (
        "one ran and refuted it"
    )
    unwatched = (Evidence(Check.SYNTAX, Ruling.SKIPPED, "the setting `checks.validation` is off"),)
    assert found(replace(offered, evidence=unwatched)) == (), "its user switched the checks off"


def test_the_question_states_each_fact_once() -> None:
    evidence = (
        Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok"),
        Evidence(Check.LINT, Ruling.FAIL, "F821 at line 3"),
        Evidence(Check.DANGER, Ruling.UNKNOWN, "adds `eval`, which runs text as code", trusted=True),
        Evidence(Check.TESTS, Ruling.UNKNOWN, "pytest is missing", trusted=True),
    )
    metadata = Metadata(reasons=("lint FAILED: F821 at line 3",))
    offered = replace(answer(INSIDE, evidence=evidence), metadata=metadata, confidence=0.1)

    assert question(offered, found(offered)) == (
        "10 % sure · Refactored `f` · syntax ok. Apply it? "
        "Lint FAILED: F821 at line 3; adds `eval`, which runs text as code; tests unknown: pytest is missing."
    )
