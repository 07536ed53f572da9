"""Real commits of public projects through `stet verify`: `DATA=folder make bench ONLY=commits`.

`DATA` holds clones of the projects (`support/commits.py`). Reports are appended to `DATA/commits.jsonl`, and
a run continues where the last one stopped. `MOST=n` ends after n commits, `BUDGET=s` is the time for each.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.quality.kept_rows import KeptRow, rows_of
from bench.row import Row
from support.corpora.commits import Clones, RealCommit, commits, labels

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import Conclusion
from stet_ls.engine.verify.verify import VerifyOptions, verify


def rows() -> Iterator[Row]:
    """Verdicts, crashes, and the refutations by the judgments of `refuted.tsv`."""
    if not os.environ.get("DATA"):
        yield Row("commits of public projects", "not run: DATA names no folder of clones")
        return
    found = asyncio.run(_all(Path(os.environ["DATA"]).resolve()))
    judged = labels()
    for kind in ("tests", "code"):
        own = [row for row in found if row["kind"] == kind]
        counts = Counter(row["verdict"] for row in own)
        yield Row(f"commits that change {kind}", str(len(own)))
        yield Row("  refuted, unproven, ok", ", ".join(str(counts[each]) for each in reversed(Conclusion)))
        yield Row("  crashes", str(counts["crash"]), "0")
        refuted = [judged.get(row["key"]) for row in own if row["verdict"] == Conclusion.REFUTED]
        wrong = sum(each is not None and not each.is_right for each in refuted)
        yield Row("  false refutations, not looked at", f"{wrong}, {refuted.count(None)}", "<= 1 %, 0")
    reported = [row for row in found if row["kind"] == "tests" and row["reported"]]
    wrong = [row for row in reported if row["verdict"] == Conclusion.REFUTED
             and (label := judged.get(row["key"])) and not label.is_right]  # fmt: skip
    yield Row("reporting half: commits that change tests", str(len(reported)))
    yield Row("  false alarms", str(len(wrong)), "<= 1 %")


async def _all(data: Path) -> list[KeptRow]:
    with tempfile.TemporaryDirectory(prefix="stet-commits-") as own:
        os.environ["STET_HOME"] = f"{own}/home"
        clones = Clones(data, Path(own))
        runtimes = RuntimeProvider(Settings.model_validate({"sandbox": {"python": clones.python}}), user_paths())
        wanted = commits()[: int(os.environ.get("MOST", "100000"))]
        try:
            return await rows_of(
                data / "commits.jsonl", wanted, lambda each: each.id, lambda each: _row(each, clones, runtimes)
            )
        finally:
            await runtimes.close()


async def _row(commit: RealCommit, clones: Clones, runtimes: RuntimeProvider) -> KeptRow:
    """The report on a commit; a crash is a result, too."""
    about = {
        "project": commit.project, "commit": commit.id, "kind": commit.kind, "reported": commit.is_reported
    }  # fmt: skip
    began = time.monotonic()
    try:
        folder = await asyncio.to_thread(clones.at, commit.project, commit.id)
        with read_change(ChangeQuery(folder, f"{commit.id}^..{commit.id}")) as change:
            options = VerifyOptions(budget=float(os.environ.get("BUDGET", "30")), uses_cache=False)
            report = (await verify(change, runtimes, options)).to_json()
    except Exception:  # counted
        return {**about, "verdict": "crash", "findings": [], "why": traceback.format_exc()}
    kept = {key: report[key] for key in ("verdict", "partial", "intent", "findings", "notes", "seconds")}
    units = Counter(each["verdict"] for each in report["units"])
    tests = [each for each in report["tests"] if each["refutes"]][:20]
    return {**about, **kept, "units": units, "tests": tests, "took": round(time.monotonic() - began, 2)}
