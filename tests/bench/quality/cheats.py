"""Planted cheats that `stet verify` accepts, and honest changes of tests that it refutes: `make bench ONLY=cheats`.

`HALF=tuning` takes the other half, which rules may be made on, and `NAMES=1` names each case that went wrong.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row
from support.corpora.cheats import ChangeCase, cases
from support.repository import Repository

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import Conclusion, Report
from stet_ls.engine.verify.verify import VerifyOptions, verify


def rows() -> Iterator[Row]:
    """Cheats by verdict, honest changes by verdict."""
    is_reported = os.environ.get("HALF", "reporting") == "reporting"
    chosen = [each for each in cases() if each.is_reported is is_reported]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STET_HOME"] = f"{folder}/home"
        found = asyncio.run(_reports(Path(folder), chosen))
    for cheats, wrong, what in (
        (True, Conclusion.OK, "planted cheats accepted"),
        (False, Conclusion.REFUTED, "false alarms"),
    ):
        own = [(case, report) for case, report in found if case.cheats is cheats]
        counts = Counter(report.conclusion for _, report in own)
        yield Row(f"{what}, of {len(own)}", str(counts[wrong]), "0" if cheats else "<= 1 %")
        yield Row("  refuted, unproven, ok", ", ".join(str(counts[each]) for each in reversed(Conclusion)))
        for case, report in own:
            if report.conclusion is wrong and os.environ.get("NAMES"):
                details = [each.detail for each in report.findings] + [
                    each.detail for each in report.tests if each.detail
                ]
                yield Row(f"  {case.name}", "; ".join(details)[:200] or "-")


async def _reports(folder: Path, chosen: list[ChangeCase]) -> list[tuple[ChangeCase, Report]]:
    runtimes = RuntimeProvider(Settings(), user_paths())
    found = []
    for number, case in enumerate(chosen):
        repository = Repository.new(folder / f"p{number}")
        repository.commit(dict(case.before))
        for path in case.before.keys() - case.after.keys():
            (repository.folder / path).unlink()
        repository.write(dict(case.after))
        with read_change(ChangeQuery(repository.folder)) as change:
            found.append((case, await verify(change, runtimes, VerifyOptions(case.intent, uses_cache=False))))
    await runtimes.close()
    return found
