"""What tests of judges share."""

from __future__ import annotations

from collections.abc import Callable

from stet_ls.engine.judges.calibration import Strength, strength
from stet_ls.engine.judges.case import Case
from stet_ls.engine.models import Check, Evidence, Ruling

MakeCase = Callable[..., Case]
"""Makes a case of two texts and a unit's name; see `make` in the judges' conftest."""


def assert_unseen(evidence: Evidence, says: str) -> None:
    """Sameness on inputs that did not come by a part of the change: told as `says`, and proving nothing."""
    parses = Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok", trusted=True)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False), evidence
    assert evidence.detail.startswith("behaves alike on ")
    assert says in evidence.detail
    assert strength([parses, evidence]) is Strength.E3
    assert says.removeprefix("none of which ").partition(":")[0] in evidence.attachments[0].text
