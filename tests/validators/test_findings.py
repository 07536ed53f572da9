"""Which findings an edit has to answer for."""

from __future__ import annotations

from stet_ls.validators.findings import Finding, new_findings
from stet_ls.validators.source import Span


def finding(message: str, *, at: int = 0, signature: str = "", source: str = "ruff", code: str = "E1") -> Finding:
    return Finding(Span(at, at), message, source=source, code=code, signature=signature)


def test_a_finding_that_moved_is_old() -> None:
    assert new_findings([finding("x", at=3)], [finding("x", at=90)]) == ()


def test_a_second_copy_is_new() -> None:
    second = finding("x", at=9)
    assert new_findings([finding("x")], [finding("x"), second]) == (second,)


def test_another_tool_rule_or_message_is_new() -> None:
    new = (finding("y"), finding("x", code="E2"), finding("x", source="other"))
    assert new_findings([finding("x")], [finding("x"), *new]) == new


def test_the_lines_that_a_message_names_do_not_count() -> None:
    before = [finding("redefinition of `x` from line 3")]
    assert new_findings(before, [finding("redefinition of `x` from line 12")]) == ()
    assert new_findings(before, [finding("redefinition of `y` from line 3")])


def test_a_signature_decides_where_there_is_one() -> None:
    before = [finding("unexpected 'b'", signature="ERROR b", code="unexpected")]
    assert new_findings(before, [finding("expected ',' before 'b'", signature="ERROR b", code="missing")]) == ()
    assert new_findings(before, [finding("unexpected 'b'", signature="ERROR c", code="unexpected")])
