"""The prose linter finds what it should, passes plain sentences, and the project passes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages.message_table import Message, messages_in
from prose import RULES, Text, Where, build_texts, editor_texts, exceptions, problems, texts

BAD = (
    "No one answered whether the edit may land.",
    "The answer is waited for.",
    "The file is left as it is.",
    "The step came to nothing.",
    "The run did not come to an end.",
    "It failed without a word.",
    "The reason is told below.",
    "The linter tells more.",
    "Solutions that stood.",
    "partial is what stands here",
    "The model wants a key.",
    "A busy machine keeps the tests from ending.",
    "The start value is 3.",
    "The edit is a noop.",
    "The tier is E3.",
    "No test vouches for it.",
    "Was it edited by hand?",
    "The code runs in the box.",
    "The table is made anew.",
    "Somebody has to look at it.",
    "The variable outweighs the file.",
    "The reason for it, in words.",
    "It runs once the edit landed.",
    "The file came into being.",
    "It did not run to its end.",
    "It is no regular file.",
    "The reply broke off.",
    "One test was set apart.",
    "All files, apart from hidden ones.",
    "The job goes on after the download.",
    "What shall be written?",
    "The edit mends the imports.",
    "The fate of an edit is recorded.",
    "The file beside it is read.",
    "The endpoint is out of reach.",
    "The repair was given up.",
    "Whoever calls it is named.",
    "The new code behaves otherwise.",
    "No memory can be had here.",
    "the same behaviour",
    "another colour",
    "Initialise it first.",
    "labelled by two people",
    "stet: error: no file",
    "Please try again.",
)

GOOD = (
    "Edit not applied: no response after 10 minutes. Run `stet.apply` to apply it.",
    "Call limit reached (budget `quick`: 1). Try a larger `--budget`.",
    "error: cannot read src/app.py: Permission denied",
    "behavior differs only on inputs outside the inferred types",
    "`total` not compared: it talks to the network",
    "unknown language `pyton`: did you mean `python`?",
    "The parser takes a pattern apart; the message box and the input box stay open.",
)


@pytest.mark.parametrize("text", BAD)
def test_a_bad_sample_is_found(text: str) -> None:
    assert list(problems(Text("a.py", 1, Where.MESSAGE, text)))


@pytest.mark.parametrize("text", GOOD)
def test_a_good_sample_passes(text: str) -> None:
    assert not list(problems(Text("a.py", 1, Where.MESSAGE, text)))


def test_each_rule_has_a_sample() -> None:
    found = [problem for text in BAD for problem in problems(Text("a.py", 1, Where.MESSAGE, text))]

    silent = [rule.pattern for rule in RULES if not any(f": write {rule.instead} (" in each for each in found)]

    assert not silent


def test_a_long_sentence_is_found() -> None:
    long = " ".join(["word"] * 41)

    assert list(problems(Text("a.md", 1, Where.PAGE, f"Short. {long}."))) == [
        "41 words in a sentence, 40 at most: split it"
    ]


def test_messages_are_collected_without_docstrings_patterns_and_asserts() -> None:
    source = '''"""A docstring of this module."""
import re
PATTERN = re.compile("not a message at all")
def run(path, log):
    """Runs what was asked for."""
    assert path, "only developers see this"
    log.info("cannot list %s", path)
    print_warning(f"cannot read {path.name}")
    raise UsageError(f"{path} is not a file" if path else "pass a file name")
'''

    assert messages_in("a.py", source) == [
        Message("a.py", 7, "log", "cannot list %s"),
        Message("a.py", 8, "warning", "cannot read {name}"),
        Message("a.py", 9, "error", "{path} is not a file"),
        Message("a.py", 9, "error", "pass a file name"),
    ]


def test_names_docstrings_and_comments_of_tests_are_read() -> None:
    """Here is the docstring of this test."""
    here = {each.text for each in texts() if each.path == "tests/docs/test_prose.py"}  # and its comment

    assert here >= {
        "names docstrings and comments of tests are read",
        "Here is the docstring of this test.",
        "# and its comment",
    }


@pytest.mark.parametrize(
    ("name", "planted", "line"),
    [
        ("emacs/stet.el", '(defun stet-run ()\n  "Run it.\n\nThe answer is waited for by \\"stet\\"."\n  t)\n', 2),
        ("emacs/stet.el", '(setq quote ?\\")\n;; The answer is waited for here.\n', 2),
        ("neovim/doc/stet.txt", "USE *stet*\n\nIn Lua: >lua\n    x = y\n<\nThe answer is\nwaited for.\n", 6),
    ],
    ids=["a string of Emacs Lisp", "a comment of Emacs Lisp", "a help file"],
)
def test_texts_of_the_editors_are_read(name: str, planted: str, line: int, tmp_path: Path) -> None:
    file = tmp_path / "editors" / name
    file.parent.mkdir(parents=True)
    file.write_text(planted)

    found = [each for each in editor_texts(tmp_path) if list(problems(each))]

    assert [(each.path, each.line) for each in found] == [(f"editors/{name}", line)]


def test_code_in_a_help_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "editors/neovim/doc/stet.txt"
    file.parent.mkdir(parents=True)
    file.write_text("Set it: >lua\n    -- The answer is waited for.\n<\n")

    assert not [each for each in editor_texts(tmp_path) if list(problems(each))]


def test_every_exception_has_a_reason() -> None:
    assert all(exceptions().values())


def test_the_files_of_the_build_are_read() -> None:
    found = list(build_texts(Path(__file__).parents[2]))
    assert {each.path for each in found} >= {"Makefile", "pyproject.toml", ".ci/run"}
    assert "1. a virtual environment, some seconds" in {each.text for each in found}, "what `make` prints"
    assert any("Each range is as wide as what was tested" in each.text for each in found), "comments"
