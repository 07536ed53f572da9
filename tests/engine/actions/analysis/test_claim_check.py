"""Claims of the model that a call raises are checked by running the call."""

from __future__ import annotations

import pytest
from support.analysis import opinions, section
from support.engine import Bench
from support.servers.scripted import ScriptedModel

FIRST = """\
def first(items, default=None):
    if items == "none":
        return default
    return items[0]


def last(items):
    while not items:
        pass
    return items[-1]


def each(items):
    for item in items:
        yield 1 / item
"""
UNTRIED = "(unverified: no call to try)"


@pytest.mark.parametrize(
    ("quote", "claim", "reported"),
    [
        ("return items[0]", "first([]) raises IndexError", "(confirmed: `first([])` raises IndexError)"),
        ("return items[0]", "items = [] raises IndexError", "(confirmed: `first([])` raises IndexError)"),
        ("return items[0]", "`first({})` leads to a `KeyError`", "(confirmed: `first({})` raises KeyError)"),
        ("return items[0]", "first(None) raises IndexError", "(not so: `first(None)` raises TypeError"),
        ("return items[-1]", "last([]) raises IndexError", "(not so: `last([])` does not finish in time)"),
        ("return items[0]", "first(open('/etc/passwd')) raises IndexError", UNTRIED),
        ("return items[0]", "an empty list raises IndexError", UNTRIED),
        ('if items == "none":', 'pat = "file" raises ValueError', UNTRIED),
    ],
)
async def test_a_claim_that_a_call_raises_is_checked_by_running_it(
    bench: Bench, scripted: ScriptedModel, quote: str, claim: str, reported: str
) -> None:
    scripted.reply(f"- `{quote}` | bug | {claim}\n")
    answer = await bench.run("analyze", FIRST)
    (opinion,) = opinions(answer)
    if reported is not UNTRIED and "code may not run" in opinion[1]:
        pytest.skip("code cannot run here: there is no box of level strong")
    if reported is UNTRIED:
        assert opinion[1] == f"risk: {claim} {UNTRIED}", "what is no plain value is not run, and no bug"
    else:
        kind = "bug" if reported.startswith("(confirmed") else "risk"
        assert opinion[1].startswith(f"{kind}: {claim} {reported}")


async def test_a_claim_about_a_generator_is_not_refuted(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("- `yield 1 / item` | bug | each([0]) raises ZeroDivisionError\n")
    [(_, reported, _)] = opinions(await bench.run("analyze", FIRST))
    assert reported.startswith("risk: each([0]) raises ZeroDivisionError (unverified: ")


async def test_a_refuted_claim_is_listed_separately_from_the_findings(bench: Bench, scripted: ScriptedModel) -> None:
    claim = "first('ab') raises IndexError"
    scripted.reply(f"- `return items[0]` | bug | {claim}\n- `return items[0]` | risk | first([]) raises IndexError\n")
    answer = await bench.run("analyze", FIRST)
    if "code may not run" in answer.markdown:
        pytest.skip("code cannot run here: there is no box of level strong")
    [(_, reported, _)] = opinions(answer)
    assert reported.startswith("risk: first([]) raises IndexError (confirmed")
    assert "1 confirmed failure" in answer.message
    assert "first([])" in section(answer, "Confirmed by a run")
    stands, separate = section(answer, "The model's opinion").split("### Tried, and not so")
    assert claim not in stands
    assert f"- line 4: `return items[0]` · said: {claim} (not so: `first('ab')` gives 'a')" in separate
    assert "bug" not in separate


async def test_a_report_without_true_claims_says_so(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("- `return items[0]` | bug | first('ab') raises IndexError\n")
    answer = await bench.run("analyze", FIRST)
    if "code may not run" in answer.markdown:
        pytest.skip("code cannot run here: there is no box of level strong")
    assert opinions(answer) == []
    assert "No confirmed finding." in section(answer, "The model's opinion")


async def test_quick_and_other_languages_run_no_claim(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("- `return xs[0].name;` | bug | f([]) raises TypeError\n")
    answer = await bench.run("analyze", "function f(xs) {\n  return xs[0].name;\n}\n", language="javascript")
    assert opinions(answer)[0][1] == "risk: f([]) raises TypeError (unverified: javascript is not supported)"
