"""Changes that are larger than the budget: the riskiest part is judged, the rest is named and unproven."""

from __future__ import annotations

import time
from pathlib import Path

from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.changes.risk import by_risk
from stet_ls.engine.verify.render import lines
from stet_ls.engine.verify.report import Conclusion, Report
from stet_ls.engine.verify.verify import VerifyOptions, verify


async def _report(folder: Path, runtimes: RuntimeProvider, budget: float, said: list[str]) -> Report:
    with read_change(ChangeQuery(folder)) as change:
        return await verify(change, runtimes, VerifyOptions(budget=budget, on_progress=said.append))


async def test_what_there_was_no_time_for_is_named_and_unproven(
    repository: Repository, runtimes: RuntimeProvider
) -> None:
    repository.write({f"made/m{number}.py": f"def f{number}(x):\n    return x + {number}\n" for number in range(400)})
    repository.write({"shop.py": SHOP.replace("cost += 1", "cost += one")})
    said: list[str] = []
    began = time.monotonic()
    report = await _report(repository.folder, runtimes, 0.5, said)
    assert time.monotonic() - began < 5
    assert report.partial
    assert report.conclusion is not Conclusion.OK
    named = {each.unit.path for each in report.units}
    assert len(named) == 401
    assert "within 0 s" in said[0] or "within 1 s" in said[0]
    assert all(each.conclusion is not Conclusion.OK for each in report.units)
    said = [*lines(report)]
    assert len(said) < 400, "one note names what was late"
    assert any("not judged for lack of time" in each for each in said)


def test_the_riskiest_files_come_first(repository: Repository) -> None:
    repository.write({
        "notes.md": "a\n" * 99, "tests/test_shop.py": f"{TESTS}# 1\n# 2\n", "shop.py": f"{SHOP}# 1\n",
        "large.py": "x = 1\ny = 2\nz = 3\n", "bundle.py": f"x = '{'a' * 3_000}'\n" + "y = 1\n" * 50,
    })  # fmt: skip
    with read_change(ChangeQuery(repository.folder)) as change:
        order = [each.path for each in by_risk(change.files)]
    assert order == ["large.py", "shop.py", "tests/test_shop.py", "bundle.py", "notes.md"]
