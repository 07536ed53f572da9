"""Calls with an apparent secret run, and are shown without its value."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_a_call_with_a_secret_or_a_part_of_it_is_marked() -> None:
    plain, whole, part, written = secret_calls_marked((
        Call("name = 'cat'", "__out__(f(name))", ("name",)),
        Call(f"name = {TOKEN!r}", "__out__(f(name))", ("name",)),
        Call(f"name = {TOKEN[3:14]!r}", "__out__(f(name))", ("name",)),
        Call("", f"__out__(f({TOKEN!r}))"),
    ))  # fmt: skip
    assert [call.is_secret for call in (plain, whole, part, written)] == [False, True, True, True]
    assert whole.setup == f"name = {TOKEN!r}", "it still runs"
    for call in (whole, part, written):
        assert TOKEN[4:10] not in call.shown
    assert "f(name)" in whole.shown
    assert written.shown == "an input with a secret"
