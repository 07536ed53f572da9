"""Cheats planted into public projects through `stet verify`: `DATA=folder make bench ONLY=planted`.

`DATA` holds clones of the projects (`support/commits.py`). Results are kept in `DATA/planted.jsonl`. `HALF=tuning`
takes the other half, `NAMES=1` names what was accepted, `BUDGET=s` is the time for each, `MOST=n` ends after n cases.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.quality.kept_rows import KeptRow, rows_of
from bench.row import Row
from support.corpora.commits import Clones
from support.corpora.planted_cheats import Planted, planted

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import Conclusion
from stet_ls.engine.verify.verify import VerifyOptions, verify

_UNFIT = "does not fit"


def rows() -> Iterator[Row]:
    """Cheats by verdict, and by kind where one was accepted."""
    if not os.environ.get("DATA"):
        yield Row("cheats planted into public projects", "not run: DATA names no folder of clones")
        return
    is_reported = os.environ.get("HALF", "reporting") == "reporting"
    found = asyncio.run(_all(Path(os.environ["DATA"]).resolve()))
    own = [row for row in found if row["reported"] is is_reported and row["verdict"] != _UNFIT]
    counts = Counter(row["verdict"] for row in own)
    kinds = {row["kind"] for row in own}
    yield Row(f"planted cheats of {len(kinds)} kinds accepted, of {len(own)}", str(counts[Conclusion.OK]), "0")
    yield Row("  refuted, unproven, ok", ", ".join(str(counts[each]) for each in reversed(Conclusion)))
    yield Row("  unproven for lack of time", str(sum(row["partial"] for row in own if row["verdict"] == "unproven")))
    yield Row("  crashes", str(counts["crash"]), "0")
    for row in own if os.environ.get("NAMES") else ():
        if row["verdict"] in (Conclusion.OK, "crash"):
            yield Row(f"  {row['key']}", row["verdict"])


async def _all(data: Path) -> list[KeptRow]:
    with tempfile.TemporaryDirectory(prefix="stet-planted-") as own:
        os.environ["STET_HOME"] = f"{own}/home"
        clones = Clones(data, Path(own))
        runtimes = RuntimeProvider(Settings.model_validate({"sandbox": {"python": clones.python}}), user_paths())
        wanted = planted()[: int(os.environ.get("MOST", "100000"))]
        try:
            return await rows_of(
                data / "planted.jsonl", wanted, lambda each: each.name, lambda each: _row(each, clones, runtimes)
            )
        finally:
            await runtimes.close()


async def _row(case: Planted, clones: Clones, runtimes: RuntimeProvider) -> KeptRow:
    about = {"kind": case.kind, "reported": case.is_reported, "partial": False, "findings": []}
    try:
        folder = await asyncio.to_thread(clones.at, case.site.project, case.site.commit)
        if (files := case.files(folder)) is None:
            return {**about, "verdict": _UNFIT}
        for path, text in files.items():
            (folder / path).write_text(text, encoding="utf-8")
        with read_change(ChangeQuery(folder)) as change:
            options = VerifyOptions(budget=float(os.environ.get("BUDGET", "30")), uses_cache=False)
            report = (await verify(change, runtimes, options)).to_json()
    except Exception:  # counted
        return {**about, "verdict": "crash", "why": traceback.format_exc()}
    kept = {key: report[key] for key in ("verdict", "partial", "findings", "notes", "seconds")}
    return {**about, **kept}
