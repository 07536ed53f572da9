"""A client that offers little: Eglot, with the configuration as `stet editor emacs` prints it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import emacs
from support.scripted import Reply, ScriptedModel
from support.signs import AFTER, BEFORE

pytestmark = [pytest.mark.editor, pytest.mark.skipif(emacs.missing() is not None, reason=str(emacs.missing()))]


def test_an_edit_is_applied_after_confirmation_and_undone_in_one_step(
    tmp_path: Path, environment: Mapping[str, str], file: Path
) -> None:
    ran = emacs.run(
        tmp_path, environment, file,
        "(answer t)",
        '(insert "# mine\\n") (undo-boundary)',
        '(choose "Refactor ")',
        '(wait-for \'(string-match-p "(x > 0) - " (text)))',
        "(setq landed (text))",
        "(eglot--signal-textDocument/didChange)",  # as its idle timer does, which batch mode has none of
        '(wait-for \'(with-current-buffer "*Messages*" (string-match-p " % sure: " (text))))',
        "(undo-boundary) (undo)",
        "(list landed (text))",
    )  # fmt: skip
    assert ran.value == ["# mine\n" + AFTER, "# mine\n" + BEFORE]
    assert re.search(r"Server reports \(type=3\): \d+ % sure: same behavior on \d+ inputs", ran.messages)


def test_a_refusal_says_why_in_one_line(
    tmp_path: Path, environment: Mapping[str, str], file: Path, scripted: ScriptedModel
) -> None:
    scripted.default = Reply("CODE:\n```python\ndef sign(number:\n```\n")
    ran = emacs.run(
        tmp_path, environment, file,
        '(choose "Refactor ")',
        '(wait-for \'(with-current-buffer "*Messages*" (string-match-p "no edit" (text))))',
        "(text)",
    )  # fmt: skip
    assert ran.value == BEFORE
    assert "Refactor: no edit, the model's code does not parse: " in ran.messages


def test_the_evidence_is_shown_by_the_function_of_the_manual(
    tmp_path: Path, environment: Mapping[str, str], file: Path
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")
    function = textwrap.dedent(page.partition("  ```elisp\n")[2].partition("  ```\n")[0])
    ran = emacs.run(
        tmp_path, environment, file,
        "(answer t)",
        '(choose "Refactor ")',
        '(wait-for \'(string-match-p "(x > 0) - " (text)))',
        function,
        '(wait-for \'(ignore-errors (stet-evidence) t))',
        '(with-current-buffer "*stet evidence*" (text))',
    )  # fmt: skip
    assert ran.value.startswith("# Evidence")
    assert "- syntax: passed" in ran.value


def test_a_declined_edit_is_not_applied(tmp_path: Path, environment: Mapping[str, str], file: Path) -> None:
    ran = emacs.run(
        tmp_path, environment, file,
        "(answer nil)",
        '(choose "Refactor ")',
        '(wait-for \'(with-current-buffer "*Messages*" (string-match-p "did not apply" (text))))',
        "(text)",
    )  # fmt: skip
    assert ran.value == BEFORE


def test_an_explanation_is_shown_as_a_message(
    tmp_path: Path, environment: Mapping[str, str], file: Path, scripted: ScriptedModel
) -> None:
    scripted.default = Reply("It gives the sign of x.")
    ran = emacs.run(
        tmp_path, environment, file,
        '(choose "Explain ")',
        '(wait-for \'(with-current-buffer "*Messages*" (string-match-p "gives the sign" (text))))',
        "(text)",
    )  # fmt: skip
    assert ran.value == BEFORE
