"""Tells how much of the product the tests reached: `measured.py FLOOR` ends with 1 below that many percent.

Lines and branches count alike, as coverage.py counts them with `--branch`.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from slipcover import Slipcover, merge_coverage
from slipcover.branch import preinstrument

sys.path.insert(0, str(Path(__file__).parent))

from support.measure import DATA, ROOMS, ROOT

COUNTS = ("covered_lines", "missing_lines", "covered_branches", "missing_branches")


def main() -> int:
    floor = float(sys.argv[1])
    parts = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(DATA.glob("*.json"))]
    if not parts:
        print(f"nothing was measured: {DATA} is empty; `make test` fills it")
        return 2
    whole = parts[0]
    for part in parts[1:]:
        merge_coverage(whole, part)
    files = {name.removeprefix("src/stet_ls/"): file["summary"] for name, file in whole["files"].items()}
    files |= {name: unreached(ROOT / name) for name in sources() if name not in files}
    print("lines and branches that the tests reach themselves, and by the first call of each kind of `stet`:")
    for room in (*ROOMS, ""):
        share = percent(summary for name, summary in files.items() if name.startswith(room))
        print(f"  {share:5.1f} %  {room or 'all'}")
    reached = percent(files.values())
    if reached < floor:
        print(f"{reached:.1f} % is below the floor of {floor:g} %; the least reached files:")
        for name in sorted(files, key=lambda name: -missed(files[name]))[:15]:
            print(f"  {missed(files[name]):4}  {name}")
    return int(reached < floor)


def sources() -> Iterator[str]:
    for room in ROOMS:
        yield from (str(file.relative_to(ROOT)) for file in (ROOT / room).rglob("*.py") if "sample" not in file.parts)


def unreached(file: Path) -> dict[str, int]:
    """The summary of a file that no process of the tests imported."""
    measured = Slipcover(branch=True)
    measured.instrument(compile(preinstrument(ast.parse(file.read_bytes())), str(file), "exec"))
    found: Any = next(iter(measured.get_coverage()["files"].values()), None)
    return found["summary"] if found else dict.fromkeys(COUNTS, 0)


def missed(summary: dict[str, int]) -> int:
    return summary["missing_lines"] + summary["missing_branches"]


def percent(summaries: Iterable[dict[str, int]]) -> float:
    sums = Counter[str]()
    for summary in summaries:
        sums.update({count: summary[count] for count in COUNTS})
    return 100 * (sums["covered_lines"] + sums["covered_branches"]) / sums.total()


if __name__ == "__main__":
    raise SystemExit(main())
