"""The loop of generate, test and fix in the languages with a runner: the same story, told by each one's own tools."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, applied, asks_for_tests, code_reply, reply_of_tests
from support.processes.tools import needs
from support.servers.scripted import ScriptedModel

from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

ONE_SAMPLE = Settings(models=(ModelRow(name="*", samples=1),))


@dataclass(frozen=True, slots=True)
class Story:
    """A function in a file `before` and `after` its body; `bad` is what crashes, `good` what does not."""

    language: str
    before: str
    bad: str
    good: str
    after: str
    tests: str

    @property
    def stub(self) -> str:
        return f"{self.before}$0{self.after}"

    def with_(self, body: str) -> str:
        return f"{self.before}{body}{self.after}"


GO = Story(
    "go",
    'package stats\n\nimport "sort"\n\n// Median is the middle of the values in their order; 0 for none.\n'
    "func Median(values []int) int {\n",
    "\tsort.Ints(values)\n\treturn values[len(values)/2]\n",
    "\tif len(values) == 0 {\n\t\treturn 0\n\t}\n\tsort.Ints(values)\n\treturn values[len(values)/2]\n",
    "}\n",
    """\
package stats_test

import (
    "fmt"
    "testing"
)

func TestOdd(t *testing.T) {
    if got := Median([]int{3, 1, 2}); got != 2 {
        t.Errorf("Median = %d, want 2", got)
    }
}

func TestNone(t *testing.T) {
    if got := Median(nil); got != 0 {
        t.Errorf("Median = %d, want 0", got)
    }
}
""",
)
TYPESCRIPT = Story(
    "typescript",
    "/** The middle of the values in their order; 0 for none. */\nexport function median(values: number[]): number {\n",
    "  return [...values].sort((a, b) => a - b)[values.length >> 1].valueOf();\n",
    "  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;\n",
    "}\n",
    """\
import test from 'node:test';
import assert from 'node:assert/strict';
import { median } from './nowhere';

test('odd', () => {
  assert.equal(median([3, 1, 2]), 2);
});

test('none', () => {
  assert.equal(median([]), 0);
});
""",
)
RUST = Story(
    "rust",
    "/// The middle of the values in their order; 0 for none.\nfn median(mut values: Vec<i64>) -> i64 {\n",
    "    values.sort();\n    values[values.len() / 2]\n",
    "    values.sort();\n    values.get(values.len() / 2).copied().unwrap_or(0)\n",
    "}\n",
    """\
#[cfg(test)]
mod tests {
    use solution::median;

    #[test]
    fn odd() {
        assert_eq!(median(vec![3, 1, 2]), 2);
    }

    #[test]
    fn none() {
        assert_eq!(median(Vec::new()), 0);
    }
}
""",
)
JAVA = Story(
    "java",
    "package stats;\n\nimport java.util.Arrays;\n\npublic class Stats {\n"
    "    /** The middle of the values in their order; 0 for none. */\n    static int median(int[] values) {\n",
    "        Arrays.sort(values);\n        return values[values.length / 2];\n",
    "        if (values.length == 0) {\n            return 0;\n        }\n        Arrays.sort(values);\n"
    "        return values[values.length / 2];\n",
    "    }\n}\n",
    """\
import stats.Stats;

public class StatsTest {
    private static void testOdd() {
        int got = Stats.median(new int[] {3, 1, 2});
        assert got == 2 : got;
    }

    static void testNone() {
        assert Stats.median(new int[0]) == 0;
    }
}
""",
)
CPP = Story(
    "cpp",
    "#include <algorithm>\n#include <vector>\n\n// The middle of the values in their order; 0 for none.\n"
    "int median(std::vector<int> values) {\n",
    "  std::sort(values.begin(), values.end());\n  return values.at(values.size() / 2);\n",
    "  if (values.empty()) return 0;\n  std::sort(values.begin(), values.end());\n"
    "  return values.at(values.size() / 2);\n",
    "}\n",
    """\
#include <cassert>
#include "median.hpp"

void test_odd() { assert(median({3, 1, 2}) == 2); }

void test_none() { assert(median({}) == 0); }

int main() {
  test_odd();
  test_none();
}
""",
)
C = Story(
    "c",
    "/* The sum of the values; 0 for none. */\nint total(const int *values, int count) {\n",
    "  int sum = values[0];\n  for (int i = 1; i < count; i++) sum += values[i];\n  return sum;\n",
    "  int sum = 0;\n  for (int i = 0; i < count; i++) sum += values[i];\n  return sum;\n",
    "}\n",
    """\
#include <assert.h>

void test_three(void) {
  int values[] = {1, 2, 3};
  assert(total(values, 3) == 6);
}

void test_none(void) {
  assert(total(0, 0) == 0);
}
""",
)
STORIES = [
    pytest.param(GO, id="go", marks=needs("go")),
    pytest.param(TYPESCRIPT, id="typescript", marks=needs("node", "esbuild")),
    pytest.param(RUST, id="rust", marks=needs("rustc", "cc")),
    pytest.param(JAVA, id="java", marks=needs("javac", "java")),
    pytest.param(CPP, id="cpp", marks=needs("c++")),
    pytest.param(C, id="c", marks=needs("cc")),
]


@pytest.fixture(autouse=True)
def home(stet_home: Path) -> Path:
    return stet_home


async def generate(scripted: ScriptedModel, story: Story, bodies: list[str], tests: list[str], **fields: Any) -> Answer:
    """The answer to a story's stub, for a model that writes these bodies and, asked for tests, these files."""
    written = iter(tests)
    scripted.on(asks_for_tests, lambda body: reply_of_tests(next(written), story.language))
    scripted.replies([code_reply(story.with_(body), story.language) for body in bodies])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await bench.run("generate", story.stub, language=story.language, budget=Budget.THOROUGH, **fields)
    if any("code may not run" in each for each in answer.warnings):
        pytest.skip(f"code cannot run here: {answer.warnings}")
    return answer


def told(answer: Answer) -> Evidence:
    return next(item for item in answer.evidence if item.check is Check.TESTS)


def repairs(scripted: ScriptedModel) -> list[str]:
    """The last turns of the prompts that asked for a repair."""
    last = [str(each.body["messages"][-1]["content"]) for each in scripted.requests]
    return [each for each in last if each.startswith("That cannot be used:") and "CODE:" in each]


@pytest.mark.parametrize("story", STORIES)
async def test_a_crash_that_the_tests_find_is_repaired(scripted: ScriptedModel, story: Story) -> None:
    answer = await generate(scripted, story, [story.bad, story.good], [story.tests])
    assert told(answer).detail == "2 of 2 tests that the model wrote from the specification pass", answer.warnings
    assert (told(answer).verdict, told(answer).trusted) == (Ruling.PASS, False)
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
    answer = await generate(scripted, story, [story.good.replace(right, wrong), story.good], [story.tests])
    (repair,) = repairs(scripted)
    assert "code or test may be wrong" in repair
    assert said in repair
    assert applied(answer) == story.with_(story.good)
    assert told(answer).verdict is Ruling.PASS


@needs("rustc", "cc")
async def test_a_rust_assert_without_two_sides_is_an_assertion(scripted: ScriptedModel) -> None:
    tests = "#[test]\nfn odd() {\n    assert!(median(vec![3, 1, 2]) == 2);\n}\n"
    wrong = RUST.good.replace("values.sort()", "values.reverse()")
    answer = await generate(scripted, RUST, [wrong, RUST.good], [tests])
    assert "code or test may be wrong" in repairs(scripted)[0], "not a test that fails by itself"
    assert told(answer).verdict is Ruling.PASS


@needs("go")
async def test_one_test_that_does_not_compile_makes_all_tests_be_rewritten(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, GO, [GO.good], [GO.tests.replace("Median(nil)", "Median(nil, 1)"), GO.tests])
    assert not repairs(scripted), "the code was called as no one asked for"
    assert told(answer).detail.startswith("2 of 2 tests"), told(answer).detail


@needs("javac", "java")
async def test_a_failure_in_lines_of_the_user_is_not_blamed_on_the_code(scripted: ScriptedModel) -> None:
    story = replace(JAVA, before=JAVA.before.replace("class Stats {", "class Stats extends Missing {"))
    answer = await generate(scripted, story, [JAVA.good], [JAVA.tests])
    assert "environment: the file does not compile alone" in told(answer).detail
    assert told(answer).verdict is Ruling.UNKNOWN
    assert not repairs(scripted)


@pytest.mark.parametrize("language", [story.values[0].language for story in STORIES])
def test_a_specification_contains_nothing_of_the_candidate(language: str) -> None:
    story: Story = next(each.values[0] for each in STORIES if each.values[0].language == language)
    comment = "// Cannot be negative."
    text = LOOP_LANGUAGES[language].specification(
        story.with_(""), f"{story.with_(story.good)}\n{comment}\n", unit_of(story)
    )
    assert text is not None
    assert "0 for none" in text
    assert comment not in text
    assert not any(line.strip() in text for line in story.good.splitlines() if line.strip() != "}")
    assert LOOP_LANGUAGES[language].specification(story.with_(""), "", unit_of(story)) is None


def unit_of(story: Story) -> str:
    return {"java": "Stats.median", "c": "total", "go": "Median"}.get(story.language, "median")


@pytest.mark.parametrize("story", STORIES)
def test_tests_and_their_assertions_are_counted(story: Story) -> None:
    loop_language = LOOP_LANGUAGES[story.language]
    whole = loop_language.count(story.tests)
    assert (whole.tests, whole.asserts) == (2, 2)
    gutted = story.tests.replace("assert", "ignored").replace("t.Errorf", "t.Logf")
    assert whole.lost(loop_language.count(gutted)) == "0 asserts instead of 2"


UNLOADABLE = [
    ("rust", "use crate::other::Thing;\nfn median() {}\n", "needs other modules of its crate"),
    ("rust", "//! All about it.\nfn median() {}\n", "inner attributes"),
    ("java", "class A { private static int median() { return 1; } }", "is private"),
    ("c", "int median(void) { return 1; }\nint main(void) { return 0; }\n", "a main of its own"),
    ("cpp", '#include "other.hpp"\nint median() { return 1; }\n', "linked with the code behind other.hpp"),
    ("typescript", "function median(): number { return 1; }\n", "is not exported"),
]


@pytest.mark.parametrize(("language", "text", "why"), UNLOADABLE)
def test_a_unit_that_no_test_can_call_is_reported(language: str, text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "other.cpp").write_text("int other() { return 1; }\n")
    unit = "A.median" if language == "java" else "median"
    assert why in LOOP_LANGUAGES[language].why_untestable(CodeUnderTest(tmp_path / "solution.x", text, unit))


@pytest.mark.parametrize("include", ["/", "..", "a" * 300, "/etc/../etc/passwd", "\\\\host\\share\\a.h"])
def test_unusual_header_names_are_read(include: str, tmp_path: Path) -> None:
    text = f'#include "{include}"\nint median(void) {{ return 1; }}\n'
    assert not LOOP_LANGUAGES["c"].why_untestable(CodeUnderTest(tmp_path / "solution.c", text, "median", tmp_path))


def test_a_header_outside_the_workspace_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int other(void) { return 1; }\n")
    (tmp_path / "open").mkdir()
    text = '#include "../other.h"\nint median(void) { return 1; }\n'
    assert not LOOP_LANGUAGES["c"].why_untestable(
        CodeUnderTest(tmp_path / "open/solution.c", text, "median", tmp_path / "open")
    )
    assert LOOP_LANGUAGES["c"].why_untestable(CodeUnderTest(tmp_path / "open/solution.c", text, "median", tmp_path))


HOSTILE = ["\n" * 100_000, "use a::*\n" * 5_000, "exports=" * 20_000, "pub(" * 20_000, "import " * 10_000]


@pytest.mark.parametrize("text", HOSTILE, ids=["blank", "use", "exports", "pub", "import"])
@pytest.mark.parametrize("language", LOOP_LANGUAGES)
def test_reading_a_file_takes_linear_time(language: str, text: str, tmp_path: Path) -> None:
    """Where it is quadratic the time of a test runs out."""
    loop_language = LOOP_LANGUAGES[language]
    about = CodeUnderTest(tmp_path / "solution.x", text, "median", tmp_path)
    loop_language.why_untestable(about)
    assert isinstance(loop_language.ready(text, about, tmp_path / "tests.x"), str)


def test_go_keeps_text_that_resembles_an_import_and_package_versions() -> None:
    body = 'func TestOdd(t *testing.T) {\n\tt.Error("a" +\n\t\t"b"\n\t)\n\t_ = rand.N(3)\n}\n'
    text = f'package stats\n\nimport (\n\t"math/rand/v2"\n\t"os"\n\t"testing" // of it\n)\n\n{body}'
    about = CodeUnderTest(Path("/w/a.go"), "package stats\n", "Median")
    told = LOOP_LANGUAGES["go"].ready(text, about, Path("/w/a_test.go"))
    assert told.endswith(body.replace("TestOdd", "TestOddAsSpecified"))
    assert [line.strip() for line in told.splitlines() if '"' in line][:2] == ['"math/rand/v2"', '"testing" // of it']


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
    answer = await generate(scripted, GO, [GO.good], [HELPERS], **fields)
    assert told(answer).detail.startswith("1 of 1 tests"), (told(answer).detail, answer.warnings)


def test_a_copy_of_the_tested_file_keeps_its_name() -> None:
    """Under another name it would be what the tests call."""
    about = CodeUnderTest(Path("/w/a.go"), "package stats\n", "Median")
    copy = "package stats\n\nfunc Median(values []int) int { return 1 }\n\nfunc half(n int) int { return n / 2 }\n"
    told = LOOP_LANGUAGES["go"].ready(copy, about, Path("/w/a_test.go"))
    assert "func Median(" in told
    assert "func halfAsSpecified(" in told


def test_a_file_name_is_not_a_pattern_for_java() -> None:
    about = CodeUnderTest(Path("/w/a\\d.java"), "class A {}", "A")
    text = LOOP_LANGUAGES["java"].ready("class T { static void testA() {} }\n", about, Path("/w/a\\dTest.java"))
    assert "class a\\dTest {" in text


async def test_without_its_tools_no_tests_are_requested(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = await generate(scripted, GO, [GO.good], [])
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
    answer = await generate(scripted, RUST, [RUST.bad, RUST.good], [RUST.tests], **fields)
    assert told(answer).detail.startswith("2 of 2 tests"), (told(answer).detail, answer.warnings)
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
    answer = await generate(scripted, RUST, [bad, good], [RUST.tests], **fields)
    assert told(answer).detail.startswith("2 of 2 tests"), (told(answer).detail, answer.warnings)
    assert "You must change" in repairs(scripted)[0], "the panic's place is the code's"


@needs("go")
async def test_a_go_module_in_a_subfolder_is_separate(scripted: ScriptedModel, tmp_path: Path) -> None:
    module = tmp_path / "stats"
    module.mkdir()
    (module / "go.mod").write_text("module example.com/stats\n\ngo 1.19\n")
    (module / "stats.go").write_text(GO.with_("\treturn 0\n"))
    (module / "other_test.go").write_text('package stats\n\nimport "testing"\n\nfunc TestOdd(t *testing.T) {}\n')
    fields = {"path": module / "stats.go", "workspace": Workspace((tmp_path,))}
    answer = await generate(scripted, GO, [GO.good], [GO.tests], **fields)
    assert told(answer).detail.startswith("2 of 2 tests"), (told(answer).detail, answer.warnings)


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
    answer = await generate(scripted, JAVA, [body], [JAVA.tests], **fields)
    assert told(answer).detail.startswith("2 of 2 tests"), (told(answer).detail, answer.warnings)


@needs("cc")
async def test_a_file_that_does_not_compile_alone_is_not_blamed_on_the_code(scripted: ScriptedModel) -> None:
    story = replace(C, before=f'#include "settings.h"\n{C.before}')
    answer = await generate(scripted, story, [C.good], [C.tests])
    assert "environment: the package 'settings.h' is not installed" in told(answer).detail
    assert told(answer).verdict is Ruling.UNKNOWN
    assert not repairs(scripted)
