"""The loop of generate, test and fix in the languages with a runner: the same story, told by each one's own tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, applied, asks_for_tests, code_reply, reply_of_tests
from support.generating import ONE_SAMPLE, evidence_of_tests, repairs
from support.processes.tools import needs
from support.projects.stories import CPP, GO, JAVA, RUST, STORIES, C, Story, unit_of
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.request import Workspace

pytestmark = pytest.mark.usefixtures("stet_home")


async def write(scripted: ScriptedModel, story: Story, bodies: list[str], tests: list[str], **fields: Any) -> Answer:
    """The answer to a story's stub, for a model that writes these bodies and, asked for tests, these files."""
    written = iter(tests)
    scripted.on(asks_for_tests, lambda body: reply_of_tests(next(written), story.language))
    scripted.replies([code_reply(story.with_(body), story.language) for body in bodies])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await bench.run("generate", story.stub, language=story.language, budget=Budget.THOROUGH, **fields)
    if any("code may not run" in each for each in answer.warnings):
        pytest.skip(f"code cannot run here: {answer.warnings}")
    return answer


@pytest.mark.parametrize("story", STORIES)
async def test_a_crash_that_the_tests_find_is_repaired(scripted: ScriptedModel, story: Story) -> None:
    answer = await write(scripted, story, [story.bad, story.good], [story.tests])
    assert evidence_of_tests(answer).detail == "2 of 2 tests that the model wrote from the specification pass", (
        answer.warnings
    )
    assert (evidence_of_tests(answer).verdict, evidence_of_tests(answer).trusted) == (Ruling.PASS, False)
    assert applied(answer) == story.with_(story.good)
    (repair,) = repairs(scripted)
    name = unit_of(story).rpartition(".")[2]
    assert f"You must change `{name}`." in repair
    (asked,) = [str(each.body["messages"]) for each in scripted.requests if asks_for_tests(each.body)]
    assert "0 for none" in asked
    assert not any(line.strip() in asked for line in story.bad.splitlines()), "their writer does not see the code"


MISMATCHES = [
    pytest.param(GO, "sort.Ints(values)", "_ = sort.Ints", "want 2", id="go", marks=needs("go")),
    pytest.param(RUST, "values.sort()", "values.reverse()", "1 == 2 is false", id="rust", marks=needs("rustc", "cc")),
    pytest.param(CPP, "std::sort", "std::reverse", "median({3, 1, 2}) == 2", id="cpp", marks=needs("c++")),
]


@pytest.mark.parametrize(("story", "right", "wrong", "said"), MISMATCHES)
async def test_a_mismatch_is_shown_to_the_model_and_repaired(
    scripted: ScriptedModel, story: Story, right: str, wrong: str, said: str
) -> None:
    answer = await write(scripted, story, [story.good.replace(right, wrong), story.good], [story.tests])
    (repair,) = repairs(scripted)
    assert "code or test may be wrong" in repair
    assert said in repair
    assert applied(answer) == story.with_(story.good)
    assert evidence_of_tests(answer).verdict is Ruling.PASS


@needs("rustc", "cc")
async def test_a_rust_assert_without_two_sides_is_an_assertion(scripted: ScriptedModel) -> None:
    tests = "#[test]\nfn odd() {\n    assert!(median(vec![3, 1, 2]) == 2);\n}\n"
    wrong = RUST.good.replace("values.sort()", "values.reverse()")
    answer = await write(scripted, RUST, [wrong, RUST.good], [tests])
    assert "code or test may be wrong" in repairs(scripted)[0], "not a test that fails by itself"
    assert evidence_of_tests(answer).verdict is Ruling.PASS


@needs("go")
async def test_one_test_that_does_not_compile_makes_all_tests_be_rewritten(scripted: ScriptedModel) -> None:
    answer = await write(scripted, GO, [GO.good], [GO.tests.replace("Median(nil)", "Median(nil, 1)"), GO.tests])
    assert not repairs(scripted), "the code was called as no one asked for"
    assert evidence_of_tests(answer).detail.startswith("2 of 2 tests"), evidence_of_tests(answer).detail


@needs("javac", "java")
async def test_a_failure_in_lines_of_the_user_is_not_blamed_on_the_code(scripted: ScriptedModel) -> None:
    story = replace(JAVA, before=JAVA.before.replace("class Stats {", "class Stats extends Missing {"))
    answer = await write(scripted, story, [JAVA.good], [JAVA.tests])
    assert "environment: the file does not compile alone" in evidence_of_tests(answer).detail
    assert evidence_of_tests(answer).verdict is Ruling.UNKNOWN
    assert not repairs(scripted)


HELPERS = """\
package stats

import "testing"

type pair struct {
    values []int
    want int
}

var want, none = 2, map[string]int{zero: 1}

const zero = "zero"

func check(t *testing.T, got pair, expected int) {
    if median := Median(got.values); median != expected {
        t.Errorf("Median = %d", median)
    }
}

func TestOdd(t *testing.T) {
    check(t, pair{values: []int{3, 1, 2}, want: want}, want)
    check(t, pair{}, none[zero] - 1)
}
"""


@needs("go")
async def test_declarations_of_go_tests_do_not_clash_with_the_package(scripted: ScriptedModel, tmp_path: Path) -> None:
    """Helpers, types and values with the names of the code's and of the project's tests."""
    module = tmp_path / "stats"
    module.mkdir()
    (module / "go.mod").write_text("module example.com/stats\n\ngo 1.19\n")
    (module / "more.go").write_text("package stats\n\ntype pair int\n\nvar want = 1\n\nconst zero pair = 0\n")
    (module / "more_test.go").write_text("package stats\n\nfunc check() {}\n")
    (module / "stats.go").write_text(GO.with_("\treturn 0\n"))
    fields = {"path": module / "stats.go", "workspace": Workspace((module,))}
    answer = await write(scripted, GO, [GO.good], [HELPERS], **fields)
    assert evidence_of_tests(answer).detail.startswith("1 of 1 tests"), (
        evidence_of_tests(answer).detail,
        answer.warnings,
    )


async def test_without_its_tools_no_tests_are_requested(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = await write(scripted, GO, [GO.good], [])
    assert len(scripted.requests) == 1
    why = "go is not installed (go (https://go.dev/dl))"
    assert f"No tests were written from the specification: {why}." in answer.warnings


@needs("cargo", "cc")
async def test_a_crate_in_a_subfolder_is_built_by_cargo(scripted: ScriptedModel, tmp_path: Path) -> None:
    crate = tmp_path / "stats"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text('[package]\nname = "stats"\nversion = "0.1.0"\nedition = "2021"\n')
    (crate / "src/lib.rs").write_text(RUST.with_("    todo!()\n"))
    fields = {"path": crate / "src/lib.rs", "workspace": Workspace((tmp_path,))}
    answer = await write(scripted, RUST, [RUST.bad, RUST.good], [RUST.tests], **fields)
    assert evidence_of_tests(answer).detail.startswith("2 of 2 tests"), (
        evidence_of_tests(answer).detail,
        answer.warnings,
    )
    assert sorted(each.name for each in crate.iterdir()) == ["Cargo.toml", "src"], "nothing was written there"


@needs("cargo", "cc")
async def test_a_member_of_a_workspace_is_built_with_it(scripted: ScriptedModel, tmp_path: Path) -> None:
    """What it inherits and the crates next to it are there."""
    root = tmp_path / "all"
    manifest = '[package]\nname = "{}"\nversion.workspace = true\nedition = "2021"\n'
    for name, text in {
        "Cargo.toml": '[workspace]\nmembers = ["stats", "order"]\n[workspace.package]\nversion = "0.1.0"\n',
        "order/Cargo.toml": manifest.format("order"),
        "order/src/lib.rs": "pub fn put(values: &mut Vec<i64>) { values.sort(); }\n",
        "stats/Cargo.toml": manifest.format("stats") + '[dependencies]\norder = { path = "../order" }\n',
        "stats/src/lib.rs": RUST.with_("    todo!()\n"),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    fields = {"path": root / "stats/src/lib.rs", "workspace": Workspace((root,))}
    bad, good = (body.replace("values.sort()", "order::put(&mut values)") for body in (RUST.bad, RUST.good))
    answer = await write(scripted, RUST, [bad, good], [RUST.tests], **fields)
    assert evidence_of_tests(answer).detail.startswith("2 of 2 tests"), (
        evidence_of_tests(answer).detail,
        answer.warnings,
    )
    assert "You must change" in repairs(scripted)[0], "the panic's place is the code's"


@needs("go")
async def test_a_go_module_in_a_subfolder_is_separate(scripted: ScriptedModel, tmp_path: Path) -> None:
    module = tmp_path / "stats"
    module.mkdir()
    (module / "go.mod").write_text("module example.com/stats\n\ngo 1.19\n")
    (module / "stats.go").write_text(GO.with_("\treturn 0\n"))
    (module / "other_test.go").write_text('package stats\n\nimport "testing"\n\nfunc TestOdd(t *testing.T) {}\n')
    fields = {"path": module / "stats.go", "workspace": Workspace((tmp_path,))}
    answer = await write(scripted, GO, [GO.good], [GO.tests], **fields)
    assert evidence_of_tests(answer).detail.startswith("2 of 2 tests"), (
        evidence_of_tests(answer).detail,
        answer.warnings,
    )


@needs("javac", "java")
async def test_java_finds_the_other_classes_of_the_project(scripted: ScriptedModel, tmp_path: Path) -> None:
    folder = tmp_path / "src/main/java/stats"
    folder.mkdir(parents=True)
    (folder / "Order.java").write_text(
        "package stats;\n\nclass Order {\n    static void put(int[] values) { java.util.Arrays.sort(values); }\n}\n"
    )
    (folder / "Stats.java").write_text(JAVA.with_(""))
    fields = {"path": folder / "Stats.java", "workspace": Workspace((tmp_path,))}
    body = JAVA.good.replace("Arrays.sort", "Order.put")
    answer = await write(scripted, JAVA, [body], [JAVA.tests], **fields)
    assert evidence_of_tests(answer).detail.startswith("2 of 2 tests"), (
        evidence_of_tests(answer).detail,
        answer.warnings,
    )


@needs("cc")
async def test_a_file_that_does_not_compile_alone_is_not_blamed_on_the_code(scripted: ScriptedModel) -> None:
    story = replace(C, before=f'#include "settings.h"\n{C.before}')
    answer = await write(scripted, story, [C.good], [C.tests])
    assert "environment: the package 'settings.h' is not installed" in evidence_of_tests(answer).detail
    assert evidence_of_tests(answer).verdict is Ruling.UNKNOWN
    assert not repairs(scripted)
