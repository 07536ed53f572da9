"""Examples in the documentation, on the old and the new code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from support.repository import Repository

from stet_ls.engine.verify.report import Conclusion, Report

Verify = Callable[..., Awaitable[Report]]
OLD = '\ndef half(n: int) -> int:\n    """Return half.\n\n    >>> half(4)\n    2\n    """\n    return n // 2\n'
UP = OLD.replace("n // 2", "(n + 1) // 2")
SCRIPT = "// half(4) // => 2\nexport function half(n) {\n  return Math.floor(n / 2);\n}\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "intent", "verdict", "said"),
    [
        ("a.py", OLD, UP.replace("    2\n", "    2\n    >>> half(3)\n    2\n"), "fix", Conclusion.OK,
         "2 examples pass, 1 of them failed before"),
        ("a.py", OLD, UP, "fix", Conclusion.UNPROVEN, "1 example passes"),
        ("a.py", OLD, OLD.replace("n // 2", "n // 2 + 1"), "", Conclusion.UNPROVEN,
         "`half(4)` should return 2, returns 3 (passed before)"),
        ("a.py", OLD, OLD.replace("n // 2", "n // 2 + 1"), "refactor", Conclusion.REFUTED,
         "`half(4)` should return 2, returns 3 (passed before)"),
        ("a.py", OLD, UP.replace("    2\n", "    3\n"), "", Conclusion.UNPROVEN,
         "`half(4)` should return 3, returns 2"),
        ("a.mjs", SCRIPT, SCRIPT.replace("n / 2", "n / 2 + 1"), "refactor", Conclusion.REFUTED,
         "`half(4)` should return 2, returns 3 (passed before)"),
    ],
    ids=["a fix", "no fix", "a difference", "no refactoring", "a wrong example", "JavaScript"],
)  # fmt: skip
async def test_what_examples_say(
    repository: Repository,
    verified: Verify,
    path: str,
    before: str,
    after: str,
    intent: str,
    verdict: Conclusion,
    said: str,
) -> None:
    repository.commit({path: before})
    repository.write({path: after})
    report = await verified(intent)
    (unit,) = (each for each in report.units if each.unit.name == "half")
    assert [each.detail for each in unit.checks if each.check == "doctest"] == [said], unit
    assert unit.conclusion is verdict
