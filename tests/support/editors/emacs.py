"""A real Emacs in batch mode, with Eglot as its client, or with ours."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = Path(__file__).resolve().parents[3] / "editors" / "emacs" / "stet.el"

_EGLOT = """
(require 'eglot)
(add-to-list 'eglot-server-programs '(prog-mode . ("stet" "--stdio")))
(add-hook 'prog-mode-hook #'eglot-ensure)
"""

SECONDS = 120

# The site's file stays on: it says where the system's packages lie.
_BATCH = ("--batch", "--no-init-file", "-f", "package-initialize")

# The hook runs `eglot-ensure` after a command of the user's, which batch mode has none of.
_DRIVE = """;;; -*- lexical-binding: t -*-
(require 'json)
(setq jsonrpc-default-request-timeout %(seconds)d eglot-connect-timeout %(seconds)d) ; the machine may be busy
(defun wait-for (condition)
  (with-timeout (%(seconds)d (error "waited in vain for %%S" condition))
    (while (not (eval condition t)) (accept-process-output nil 0.05))))
(defun choose (title)
  "Picks the code action at point whose title begins so, as M-x eglot-code-actions does."
  (setq last-nonmenu-event ?x) ; a key, not the mouse
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt items &rest _)
               (seq-find (lambda (item) (string-prefix-p title item)) (all-completions "" items)))))
    (eglot-code-actions (point) (point) nil t)))
(defun answer (yes) (fset 'y-or-n-p (lambda (&rest _) yes)))
(defun text () (buffer-substring-no-properties (point-min) (point-max)))
(defun begin (file)
  (find-file file)
  (buffer-enable-undo)
  (run-hooks 'post-command-hook)
  (wait-for '(and (eglot-current-server) (eglot-managed-p))))
"""


@cache
def missing() -> str | None:
    """What is not there for these tests, as text; None if nothing."""
    emacs = shutil.which("emacs")
    if emacs is None:
        return "no emacs on PATH"
    eglot = [emacs, *_BATCH, "--eval", "(require 'eglot)"]
    found = subprocess.run(eglot, capture_output=True, timeout=SECONDS).returncode == 0
    return None if found else "this emacs has no eglot"


@dataclass(frozen=True)
class Ran:
    """What a script printed as its value, and all that Emacs said meanwhile."""

    value: object
    messages: str


def run(folder: Path, env: Mapping[str, str], file: Path, *forms: str) -> Ran:
    """Opens the file, waits until Eglot manages it and evaluates the forms; the value is that of the last."""
    driver = folder / "drive.el"
    *steps, last = forms
    drive, body = _DRIVE % {"seconds": SECONDS} + _EGLOT, "\n".join(steps)
    driver.write_text(
        f"{drive}\n(begin {json.dumps(str(file))})\n{body}\n"
        f"(let ((value {last}))\n  (eglot-shutdown (eglot-current-server))\n  (princ (json-encode value)))\n",
        encoding="utf-8",
    )
    return _ran(["-l", str(driver)], env, file)


def run_ours(folder: Path, env: Mapping[str, str], file: Path, *forms: str) -> Ran:
    """Opens the file with stet.el and a server that Eglot may run, and evaluates the forms; as `run`."""
    driver = folder / "drive.el"
    *steps, last = forms
    body = "\n".join(steps)
    driver.write_text(
        f"{_DRIVE % {'seconds': SECONDS}}\n(find-file {json.dumps(str(file))})\n(buffer-enable-undo)\n{body}\n"
        f"(let ((value {last}))\n  (stet-restart)\n  (princ (json-encode value)))\n",
        encoding="utf-8",
    )
    return _ran(["-l", str(OURS), "-l", str(driver)], env, file)


def _ran(options: list[str], env: Mapping[str, str], file: Path) -> Ran:
    done = subprocess.run(
        ["emacs", *_BATCH, *options],
        cwd=file.parent, env=dict(env), capture_output=True, text=True, timeout=2 * SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Ran(json.loads(done.stdout), done.stderr)
