"""The demo of `stet verify`: three changes of the sample by someone else, judged without a model and without git."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.render import fitted_line, lines
from stet_ls.engine.verify.report import Conclusion, Report
from stet_ls.server.cli.agents.verified_report import report_of
from stet_ls.server.cli.terminal import render

SECONDS = 30.0
"""The budget of one change; each takes a second or two."""


@dataclass(frozen=True, slots=True)
class DemoChange:
    """Replaces `old` by `new` in a file of the sample. `intent` is its claim, `conclusion` what is right."""

    about: str
    intent: str
    file: str
    old: str
    new: str
    conclusion: Conclusion


_NESTED = """\
    if member:
        if total > 100:
            if coupon is not None:
                return 0.3
            else:
                return 0.2
        else:
            if coupon is not None:
                return 0.15
            else:
                return 0.1
    else:
        if coupon is not None:
            return 0.05
        else:
            return 0.0
"""
_FLAT = """\
    if not member:
        return 0.0 if coupon is None else 0.05
    if total {comparison} 100:
        return 0.2 if coupon is None else 0.3
    return 0.1 if coupon is None else 0.15
"""
CHANGES = (
    DemoChange(
        "a wrong refactoring", "refactor", "prices.py", _NESTED, _FLAT.format(comparison=">="), Conclusion.REFUTED
    ),
    DemoChange(
        "a test that was weakened", "test", "tests/test_prices.py",
        "assert discount(50.0, False, None) == 0.0", "assert discount(50.0, False, None) is not None",
        Conclusion.REFUTED,
    ),
    DemoChange("an honest refactoring", "refactor", "prices.py", _NESTED, _FLAT.format(comparison=">"), Conclusion.OK),
)  # fmt: skip


async def show(sample: Path, folder: Path) -> bool:
    """Prints each change of the sample project and its conclusion; False if one is not as it should be.

    The changed copies are below `folder`.
    """
    started = time.monotonic()
    conclusions = [await _shown(sample, folder / f"change-{number}", each) for number, each in enumerate(CHANGES, 1)]
    right = conclusions == [each.conclusion for each in CHANGES]
    summary = "two wrong changes were refuted, the honest one was not" if right else "a verdict is wrong"
    render.print_line(f"\n{summary}; {time.monotonic() - started:.1f} s", "green" if right else "red")
    return right


async def _shown(sample: Path, root: Path, change: DemoChange) -> Conclusion:
    render.print_line(f"\nverify: {change.about}", "bold")
    report = await verified_change(sample, root, change)
    before = (sample / change.file).read_text("utf-8")
    render.print_diff(render.unified_diff(before, before.replace(change.old, change.new), change.file))
    render.print_line(f"$ stet verify --intent {change.intent}", "dim")
    for unit in report.units:
        for check in unit.checks:
            if check.proves:  # what a conclusion of `ok` rests on
                render.print_line(fitted_line(f"{unit.unit.path}:{unit.unit.line} {unit.unit.label}: {check.detail}"))
    for line in lines(report):
        render.print_line(line)
    return report.conclusion


async def verified_change(sample: Path, root: Path, change: DemoChange) -> Report:
    """The report on a change of the sample, which is made in a copy at `root`."""
    shutil.copytree(sample, root)
    path = root / change.file
    path.write_text(path.read_text("utf-8").replace(change.old, change.new, 1), encoding="utf-8")
    return await report_of(ChangeQuery(root, base=str(sample)), budget=SECONDS, intent=change.intent)
