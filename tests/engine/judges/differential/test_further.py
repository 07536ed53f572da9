"""The rules for further sources of inputs: one for each need and each trust that a row can name."""

from __future__ import annotations

from stet_ls.engine.execution.inputs.sources import FIRST_TRUST, Need, Trust
from stet_ls.engine.judges.differential.further import COUNTED, NEEDED


def test_each_need_and_each_trust_has_its_rule() -> None:
    assert set(NEEDED) == {*Need}
    assert set(COUNTED) == {*Trust} - FIRST_TRUST
