"""What tests of judges share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from stet_ls.engine.api.evidence import Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.judges.calibration import strength
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.judge import judge

MakeCase = Callable[..., Case]
"""Makes a case of two texts and a unit's name; see `make` in the judges' conftest."""


in_each_box = pytest.mark.parametrize("backend", ["", "landlock"], ids=["best box", "landlock"])
"""For a judge's test that stands for its kind: its evidence is the same in the box of a machine without namespaces.

That box shows a workspace at another path and has no sockets, no /proc and no /dev/shm of its own.
"""


async def judge_script(
    make: MakeCase, before: str, after: str, unit: str, language: str = "javascript", **more: object
) -> Evidence:
    """What the judge of behavior says of two scripts; the file is in a workspace if a `root` is given."""
    return await judge(replace(make(before, after, unit, **more), language=language))


def assert_unseen(evidence: Evidence, says: str) -> None:
    """Sameness on inputs that did not come by a part of the change: told as `says`, and proving nothing."""
    parses = Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok", trusted=True)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False), evidence
    assert evidence.detail.startswith("same behavior on ")
    assert says in evidence.detail
    assert strength([parses, evidence]) is EvidenceTier.COMPARED
    assert says.removeprefix("none of which ").partition(":")[0] in evidence.attachments[0].text
