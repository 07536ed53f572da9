"""Edits of several files: which step made what, judged as a whole, and a chosen part judged again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.engine import Bench
from support.servers.scripted import ScriptedModel

from stet_ls.engine.actions.multi_file.attribution import files_with_steps, with_steps
from stet_ls.engine.actions.multi_file.chosen_parts import ChosenParts, chosen_part
from stet_ls.engine.api.answer import Answer, Edit, NewFile
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import UsageError
from stet_ls.validators.source import Source, Span

A = Path("/w/a.py")
TEXT = "one\ntwo\nthree\nfour\nfive\n"


def edit(text: str, old: str, new: str, path: Path = A) -> Edit:
    start = text.index(old)
    return Edit(path, Source(text), Span(start, start + len(old)), new)


def answer(*edits: Edit, new_files: tuple[NewFile, ...] = ()) -> Answer:
    return Answer(True, "task", "python", Summary("Did 2 steps"), edits, new_files)


def test_each_hunk_has_the_steps_that_wrote_it() -> None:
    first = TEXT.replace("one\n", "1\n1b\n")
    second = first.replace("five\n", "5\n")
    third = second.replace("1b\n", "1c\n")
    done = {
        1: answer(edit(TEXT, "one\n", "1\n1b\n")),
        2: answer(edit(first, "five\n", "5\n"), new_files=(NewFile(Path("/w/b.py"), "x = 1\n"),)),
        3: answer(edit(second, "1b\n", "1c\n")),
        4: answer(edit(third, "three\n", "")),
    }
    whole = (edit(TEXT, "one\n", "1\n1c\n"), edit(TEXT, "three\n", ""), edit(TEXT, "five\n", "5\n"))
    assert [each.steps for each in with_steps(whole, done)] == [(1, 3), (4,), (2,)]
    assert files_with_steps(done[2].new_files, done)[0].steps == (2,)


def test_a_part_has_whole_steps_and_no_evidence_of_the_rest() -> None:
    both = replace(edit(TEXT, "one\n", "1\n"), steps=(1, 2))
    second = replace(edit(TEXT, "five\n", "5\n"), steps=(2,))
    other = replace(edit(TEXT, "two\n", "2\n", Path("/w/b.py")), steps=(1,))
    whole = answer(both, second, other)
    assert chosen_part(whole, ChosenParts(steps=(2,))).edits == (second,), "one hunk is step 1's as well"
    assert chosen_part(whole, ChosenParts(steps=(1, 2))).edits == whole.edits
    part = chosen_part(whole, ChosenParts(files=("b.py",)))
    assert part.edits == (other,)
    assert part.summary.notes == ("a part: 2 changes left out",)
    for wrong in (ChosenParts(files=("c.py",)), ChosenParts(steps=(3,))):
        with pytest.raises(UsageError, match=r"does not change c.py; it changes a.py, b.py|no edit is of step 3"):
            chosen_part(whole, wrong)


async def test_a_part_that_breaks_the_rest_is_refuted_by_the_tests(
    scripted: ScriptedModel, stet_home: Path, tmp_path: Path
) -> None:
    files = {
        "prices.py": "def total(prices):\n    return sum(prices)\n",
        "cart.py": "from prices import total\n\n\ndef pay(cart):\n    return total(cart)\n",
        "test_cart.py": "from cart import pay\n\n\ndef test_pay():\n    assert pay([1, 2]) == 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    request = Request(
        "task", "python", Source(files["prices.py"]), path=tmp_path / "prices.py", workspace=Workspace((tmp_path,)),
        instruction="rename total to sum_of",
    )  # fmt: skip
    async with Bench(scripted) as bench:
        whole = await bench.engine.run(request)
        tests = next(item for item in whole.evidence if item.check is Check.TESTS)
        if tests.verdict is not Ruling.PASS:
            pytest.skip(f"code cannot run here: {tests.detail}")
        part = await bench.engine.judge_part(request, chosen_part(whole, ChosenParts(files=("prices.py",))))
    assert not whole.refuted
    assert part.refuted
    failed = next(item for item in part.evidence if item.check is Check.TESTS)
    assert failed.detail == "test_pay failed after the whole change (passed before)"
