"""Runs of scripts on calls: what no one can print is left out, and each text has its own time."""

from __future__ import annotations

from pathlib import Path

from support.processes.tools import needs

from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun
from stet_ls.engine.execution.javascript.harness import run
from stet_ls.engine.execution.javascript.module_location import with_exposed_names
from stet_ls.engine.execution.runtime import Runtime

pytestmark = needs("node")


async def ran(runtime: Runtime, before: str, after: str, *setups: str) -> HarnessReport:
    """What comes of `f(a)` in two texts, within two seconds, for each way to make `a`."""
    calls = tuple(Call(setup, "__out__(f(a));", ("a",)) for setup in setups)
    shown = with_exposed_names(before, "javascript"), with_exposed_names(after, "javascript")
    report = await run(runtime, HarnessRun(shown, calls, "f", Path("m.js"), "m", seconds=2.0), "javascript")
    assert isinstance(report, HarnessReport), report
    return report


async def test_a_call_with_an_unprintable_argument_is_left_out(runtime: Runtime) -> None:
    odd = "class Odd { constructor(x) { this.x = x } get next() { throw Error() } }\nfunction f(a) { return 1; }\n"
    setups = [f"const a = new Odd({number});" for number in range(5)]
    report = await ran(runtime, odd, odd.replace("return", "a.x = 9; return"), *setups)
    assert sum(report.left_out.values()) == 5
    assert not report.texts[0].outcomes


async def test_a_slower_candidate_does_not_take_the_time_of_the_original(runtime: Runtime) -> None:
    slow = "function f(a) { for (let at = 0; at < 3e7; at += 1) a = -a; return a + 1; }\n"
    setups = [f"const a = {number};" for number in range(200)]
    report = await ran(runtime, "function f(a) { return a; }\n", slow, *setups)
    old, new = report.texts
    assert not old.problem
    assert any(each.digest != old.outcomes[number].digest for number, each in new.outcomes.items())
