"""The demo's wrong answer: how a small model once rewrote `discount`, judged now by running it.

Only the reply is recorded, since no model is wrong on demand; the checks, the sandbox and their results are real.
"""

from __future__ import annotations

import textwrap
from importlib import resources
from pathlib import Path

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Ruling
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.terminal import render

RECORD = "recorded/refactor_discount.json"
"""Relative to this module; in the record, the demo's copy of the sample replaces the recorded project folder."""

_ABOUT = "refactor: discount in prices.py, with a recorded reply of a small model"


async def show(root: Path) -> bool:
    """Prints the candidate and the checks' results for the sample project at `root`; False if the candidate passes."""
    render.print_line(f"\n{_ABOUT}", "bold")
    answer = await judged(root)
    render.print_line(textwrap.indent(answer.code.strip(), "    "), "dim")
    render.print_evidence(answer.evidence)
    if any(item.verdict is Ruling.FAIL and item.trusted for item in answer.evidence):
        render.print_line(
            ("a wrong reply was caught: it parses and its names resolve, but it behaves differently"), "green"
        )
        return True
    not_proven = next((item.detail for item in answer.evidence if item.verdict is not Ruling.PASS), answer.message)
    render.print_line(f"the wrong reply was not caught: {not_proven}", "red")
    return False


async def judged(root: Path) -> Answer:
    """The engine's answer to the recorded reply, with the user's settings."""
    from stet_ls.engine.replay import replay
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.engine.trace.record import parse

    with resources.as_file(resources.files("stet_ls.server.cli.demo") / RECORD) as file:
        record = parse(file.read_text("utf-8"), RECORD)
    asked = record.request.model_copy(update={"path": str(root / "prices.py"), "roots": (str(root),)})
    record = record.model_copy(update={"request": asked})
    replayed = await replay(record, RECORD, load_settings(near=root).settings, user_paths())
    assert replayed.answer is not None, replayed.diff
    return replayed.answer
