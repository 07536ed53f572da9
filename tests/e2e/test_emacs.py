"""Emacs: Eglot, a client that offers little, and stet.el, which runs with it and shows a diff before it asks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.editors import emacs
from support.editors.signs import AFTER, BEFORE, REPLY
from support.servers.scripted import Reply, ScriptedModel

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
    assert re.search(r"Server reports \(type=3\): [\d-]+ % sure: same behavior on \d+ inputs", ran.messages)


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
    assert "- ✓ syntax: " in ran.value


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


# stet.el --------------------------------------------------------------------------------------------------------------

WRONG = "CODE:\n```python\ndef sign(x):\n    return (x > 0) + (x < 0)\n```\n"

OFFERED = """(wait-for '(get-buffer "*Stet edit*"))"""


def test_a_refuted_edit_is_a_diff_below_its_verdict_before_the_question(
    tmp_path: Path, environment: Mapping[str, str], file: Path, scripted: ScriptedModel
) -> None:
    scripted.default = Reply(WRONG)
    ran = emacs.run_ours(
        tmp_path, environment, file,
        '(setq code (current-buffer))',
        "(add-hook 'stet-done-hook (lambda (result) (setq done (plist-get result :applied))))",
        "(setq done nil shown nil)",
        "(call-interactively 'stet-refactor)",
        OFFERED,
        '(with-current-buffer "*Stet edit*" (setq shown (text) keys (key-binding "a")) (stet-apply))',
        "(wait-for 'done)",
        "(list shown (with-current-buffer code (setq landed (text)) (undo) (list landed (text))) (symbol-name keys))",
    )  # fmt: skip
    shown, (applied, undone), key = ran.value
    assert shown.startswith("✗ changes behavior: `sign(")
    assert "\n+    return (x > 0) + (x < 0)\n" in shown
    assert (applied, undone, key) == ("def sign(x):\n    return (x > 0) + (x < 0)\n", BEFORE, "stet-apply")


def test_it_runs_with_another_server_reports_cancels_and_asks(
    tmp_path: Path, environment: Mapping[str, str], file: Path, scripted: ScriptedModel
) -> None:
    """The buffer is managed by Eglot with another server, here a second Stet that Emacs calls something else."""
    scripted.default = Reply(REPLY, stall_after=2)
    ran = emacs.run_ours(
        tmp_path, environment, file,
        "(require 'eglot)",
        """(add-to-list 'eglot-server-programs '(python-mode . ("stet" "--stdio")))""",
        "(eglot-ensure) (run-hooks 'post-command-hook) (wait-for '(eglot-current-server))",
        "(fset 'read-string (lambda (prompt &rest _) (setq asked prompt) \"in one line\"))",
        "(add-hook 'stet-done-hook (lambda (result) (setq done (plist-get result :status))))",
        "(setq done nil)",
        "(stet-refactor t)",
        "(wait-for '(and stet--last (not (string-empty-p (stet-status)))))",
        "(setq progress (stet-status))",
        "(stet-cancel)",
        "(wait-for 'done)",
        '(list (text) done asked progress (and (eglot-managed-p) t))',
    )  # fmt: skip
    assert ran.value[:3] == [BEFORE, "cancelled", "Refactor (sign, lines 1-7): "]
    assert ran.value[3].startswith(" [Stet: refactor signs.py")
    assert ran.value[4] is True


def test_a_missing_server_is_named_with_the_way_out(tmp_path: Path, environment: Mapping[str, str], file: Path) -> None:
    ran = emacs.run_ours(
        tmp_path, environment, file,
        """(setq stet-command '("no-such-stet" "--stdio"))""",
        "(condition-case problem (stet-refactor nil) (user-error (cadr problem)))",
    )  # fmt: skip
    assert str(ran.value).startswith("Stet: no-such-stet is not installed or not on PATH; set ")
