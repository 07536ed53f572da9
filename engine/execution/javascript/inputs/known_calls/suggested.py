"""Reads example calls that a model wrote: only calls of a function, with literals for arguments."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import SUGGESTED
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked
from stet_ls.engine.execution.javascript.inputs.calls import call_of
from stet_ls.engine.execution.javascript.inputs.examples import rows_in
from stet_ls.engine.execution.javascript.inputs.subject import read_module, subject_of

MOST = 12
"""Calls of one reply that are read."""


def suggested_calls(reply: str, text: str, language: str, qualified: str) -> tuple[Call, ...]:
    """The calls of a function that a model's reply holds, with literals alone; none of a class or a method.

    Apparent secrets in them are not shown.
    """
    module = read_module(text, language)
    subject = subject_of(module, qualified) if module else None
    if module is None or subject is None or subject.how in ("class", "method", "getter"):
        return ()
    rows = rows_in(reply, module, subject)[:MOST]
    return secret_calls_marked([call_of(module, subject, row, SUGGESTED) for row in rows])
