"""`rustc --test` and `cargo test` in the box."""

from __future__ import annotations

from support.processes.tools import needs
from support.suites import Check, outcomes

from stet_ls.engine.runners.report import FrameOrigin, SuiteOutcome

pytestmark = needs("rustc", "cargo", "cc")

CODE = {"code.rs": "pub fn add(a: i32, b: i32) -> i32 { a + b }\npub fn at(i: usize) -> i32 { vec![0][i] }\n"}


async def test_each_kind_of_outcome_is_reported(check: Check) -> None:
    report = await check(
        "rust",
        {
            "a.rs": """
mod code;
#[test] fn good() { println!("test wrong ... ok"); }
#[test] fn wrong() { assert_eq!(code::add(1, 2), 4); }
#[test] fn crash() { code::at(3); }
#[test] #[ignore] fn ignored() {}
#[test] #[should_panic] fn panics() { panic!("as it should") }
"""
        },
        CODE,
    )

    assert (report.runner, report.outcome) == ("rustc", SuiteOutcome.RED), report.detail
    assert outcomes(report) == {
        "good": "passed",
        "wrong": "failed",
        "crash": "failed",
        "ignored": "skipped",
        "panics": "passed",
    }
    wrong, crash = report.case("a.rs::wrong"), report.case("a.rs::crash")
    assert wrong
    assert wrong.failure
    assert wrong.failure.comparison
    assert (wrong.failure.comparison.left, wrong.failure.comparison.right) == ("3", "4")
    assert crash
    assert crash.failure
    assert crash.failure.deepest
    assert (crash.failure.deepest.path, crash.failure.deepest.origin) == ("code.rs", FrameOrigin.PROJECT)


async def test_early_exits_compile_errors_and_empty_files_do_not_pass(check: Check) -> None:
    leaves = await check(
        "rust", {"a.rs": "#[test] fn a() { std::process::exit(0) }\n#[test] fn b() { panic!() }\n"}
    )  # fmt: skip
    broken = await check("rust", {"a.rs": "#[test]\nfn a() { nothing() }\n"})
    empty = await check("rust", {"a.rs": "fn main() {}\n"})

    assert (leaves.outcome, leaves.running) == (SuiteOutcome.INCOMPLETE, ("a.rs::a",))
    assert leaves.missing == ("a.rs::b",)
    assert (broken.outcome, broken.collection[0].failure.place) == (SuiteOutcome.ERROR, ("a.rs", 2, 10))
    assert empty.outcome is SuiteOutcome.NOTHING_RAN, empty.detail


async def test_tests_of_a_crate_run(check: Check) -> None:
    crate = {
        "Cargo.toml": '[package]\nname = "box"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[cfg(test)] mod tests { #[test] fn unit() {} }\n",
    }

    report = await check(
        "rust", {"tests/it.rs": "#[test] fn whole() { assert_eq!(r#box::add(1, 1), 3, \"sum\") }\n"}, crate
    )  # fmt: skip

    assert (report.runner, report.outcome) == ("cargo", SuiteOutcome.RED), report.detail
    assert {case.id: case.outcome.value for case in report.cases} == {
        "src/lib.rs::tests::unit": "passed",
        "tests/it.rs::whole": "failed",
    }


async def test_tests_of_a_workspace_member_run(check: Check) -> None:
    """Below what is open: its own tests alone, with the crates that it names by path, and places from the top."""
    manifest = '[package]\nname = "{0}"\nversion.workspace = true\nedition = "2021"\n'
    unit = "#[cfg(test)] mod tests { #[test] fn unit() {} }\n"
    files = {
        "ws/Cargo.toml": '[workspace]\nmembers = ["box", "two"]\n[workspace.package]\nversion = "0.1.0"\n',
        "ws/box/Cargo.toml": manifest.format("box") + '[dependencies]\ntwo = { path = "../two" }\n',
        "ws/box/src/lib.rs": "pub fn three() -> i32 { two::two() + 1 }\n" + unit,
        "ws/two/Cargo.toml": manifest.format("two"),
        "ws/two/src/lib.rs": "pub fn two() -> i32 { 2 }\n" + unit.replace("{}", "{ panic!() }"),
    }
    test = {"ws/box/tests/it.rs": "#[test] fn whole() {\n  assert_eq!(r#box::three(), 4);\n}\n"}

    report = await check("rust", test, files)
    broken = await check("rust", test, {**files, "ws/two/src/lib.rs": "pub fn two() -> i32 {\n  None\n}\n"})

    assert (report.runner, report.outcome) == ("cargo", SuiteOutcome.RED), report.detail
    assert {case.id: case.outcome.value for case in report.cases} == {
        "ws/box/src/lib.rs::tests::unit": "passed",
        "ws/box/tests/it.rs::whole": "failed",
    }
    [failed] = report.failed()
    assert failed.failure
    assert failed.failure.deepest
    assert (failed.failure.deepest.path, failed.failure.deepest.line) == ("ws/box/tests/it.rs", 2)
    assert broken.collection[0].failure.place == ("ws/two/src/lib.rs", 2, 3)
