"""`go test` in the box."""

from __future__ import annotations

from support.processes.tools import needs
from support.suites import Check, outcomes

from stet_ls.engine.runners.report import FrameOrigin, SuiteOutcome

pytestmark = needs("go")

HEAD = 'package box\n\nimport (\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\nvar _ = fmt.Sprint\nvar _ = os.Exit\n\n'
CODE = {
    "code.go": "package box\n\nfunc Add(a, b int) int { return a + b }\n\nfunc At(i int) int { return []int{}[i] }\n"
}


async def test_each_kind_of_outcome_is_reported(check: Check) -> None:
    report = await check(
        "go",
        {
            "a_test.go": HEAD
            + """
func TestGood(t *testing.T) { fmt.Println("seen") }
func TestWrong(t *testing.T) {
	fmt.Println("--- PASS: TestWrong (0.00s)")
	if Add(1, 2) != 4 { t.Fatalf("got %d, want 4", Add(1, 2)) }
}
func TestSkipped(t *testing.T) { t.Skip("not now") }
func TestParts(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) { t.Error("no") })
}
func TestCrash(t *testing.T) { At(3) }
"""
        },
        CODE,
    )

    assert report.outcome is SuiteOutcome.RED
    assert outcomes(report) == {
        "TestGood": "passed",
        "TestWrong": "failed",
        "TestSkipped": "skipped",
        "TestParts": "failed",
        "TestParts/one": "passed",
        "TestParts/two": "failed",
        "TestCrash": "failed",
    }
    wrong, crash = report.case("a_test.go::TestWrong"), report.case("a_test.go::TestCrash")
    assert wrong
    assert wrong.failure
    assert wrong.failure.message == "got 3, want 4"
    assert [(frame.path, frame.line) for frame in wrong.failure.frames] == [("a_test.go", 16)]
    assert crash
    assert crash.failure
    assert crash.failure.type == "panic"
    assert "index out of range" in crash.failure.message
    assert crash.failure.deepest
    assert (crash.failure.deepest.path, crash.failure.deepest.origin) == ("code.go", FrameOrigin.PROJECT)


async def test_passing_and_failing_runs_are_distinguished(check: Check) -> None:
    green = await check("go", {"a_test.go": HEAD + "func TestA(t *testing.T) {}\n"}, CODE)
    leaves = await check(
        "go",
        {
            "a_test.go": HEAD + "func TestMain(m *testing.M) { fmt.Println(`--- PASS: TestA (0.00s)`); os.Exit(0) }\n"
            "func TestA(t *testing.T) { t.Fatal() }\n"
        },
        CODE,
    )
    broken = await check("go", {"a_test.go": HEAD + "func TestA(t *testing.T) { nothing() }\n"}, CODE)

    assert green.outcome is SuiteOutcome.GREEN, green.detail
    assert leaves.outcome is SuiteOutcome.INCOMPLETE, leaves.detail
    assert (broken.outcome, broken.collection[0].failure.place) == (SuiteOutcome.ERROR, ("a_test.go", 12, 28))


async def test_a_hanging_test_is_stopped(check: Check) -> None:
    hangs = HEAD + "func TestA(t *testing.T) { for { } }\n"

    report = await check("go", {"a_test.go": hangs}, CODE, seconds=12)

    assert (report.outcome, report.running) == (SuiteOutcome.TIMEOUT, ("a_test.go::TestA",))
