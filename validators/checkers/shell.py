"""Shell: bash reads the script to its end (`-n`) and runs none of it."""

from __future__ import annotations

import re

from stet_ls.validators.checkers.asking import FILE, Answered, Asked, Run, Unable, ask
from stet_ls.validators.checkers.reading import finding, judged

_PLACE = re.compile(r": line (\d+): ((?:syntax error|unexpected EOF).*)$", re.MULTILINE)
_OTHER_SHELL = re.compile(r"#!.*\b(?:zsh|ksh|fish|bats)\b")


def bash(asked: Asked) -> Answered:
    """The first syntax error; not able to read what is written for another shell."""
    if _OTHER_SHELL.match(asked.source.text) or (asked.path and asked.path.suffix not in (".sh", ".bash", "")):
        return Unable("written for another shell", missing=True)
    if "\0" in asked.source.text:  # bash drops these
        return Unable("no text", missing=True)
    run = Run("bash", ("--norc", "--noprofile", "-n", FILE))
    return ask(asked, run, lambda result: judged(result, tuple(
        finding(asked.source, match[2], int(match[1]), 1, "bash")
        for match in _PLACE.finditer(result.stderr.decode("utf-8", "replace"))
    ), "bash"))  # fmt: skip
