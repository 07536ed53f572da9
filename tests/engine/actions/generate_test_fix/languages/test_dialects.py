"""What the loop knows of each language: specifications, counts, what no test can call, names and headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.stories import STORIES, Story, unit_of

from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest


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
    test_evidence = LOOP_LANGUAGES["go"].ready(text, about, Path("/w/a_test.go"))
    assert test_evidence.endswith(body.replace("TestOdd", "TestOddAsSpecified"))
    assert [line.strip() for line in test_evidence.splitlines() if '"' in line][:2] == [
        '"math/rand/v2"',
        '"testing" // of it',
    ]


def test_a_copy_of_the_tested_file_keeps_its_name() -> None:
    """Under another name it would be what the tests call."""
    about = CodeUnderTest(Path("/w/a.go"), "package stats\n", "Median")
    copy = "package stats\n\nfunc Median(values []int) int { return 1 }\n\nfunc half(n int) int { return n / 2 }\n"
    test_evidence = LOOP_LANGUAGES["go"].ready(copy, about, Path("/w/a_test.go"))
    assert "func Median(" in test_evidence
    assert "func halfAsSpecified(" in test_evidence


def test_a_file_name_is_not_a_pattern_for_java() -> None:
    about = CodeUnderTest(Path("/w/a\\d.java"), "class A {}", "A")
    text = LOOP_LANGUAGES["java"].ready("class T { static void testA() {} }\n", about, Path("/w/a\\dTest.java"))
    assert "class a\\dTest {" in text
