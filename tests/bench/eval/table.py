"""What the results add up to: a row per action and variant, with intervals, as markdown."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.eval.cases import AGAIN

from stet_ls.engine.judges.calibration import wilson

Result = Mapping[str, Any]
"""A line of the results: case, action, arm, offered, passed, parses, tier, date, confidence, calls, tokens, seconds.

`remembered` are the solutions that the memory put into the prompt; `own` is true for the very task's.
"""

_HEAD = (
    "| action | variant | cases | right | 95 % interval | against the single shot | harm | not offered "
    "| calls | tokens | seconds | Brier |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def markdown(results: Iterable[Result]) -> str:
    """The table over all results; actions with several variants are compared case by case."""
    rows = list(results)
    actions = sorted({row["action"] for row in rows} - {AGAIN})
    groups = {action: {action} for action in actions}
    if len(actions) > 1:
        groups["all"] = set(actions)
    if any(map(_is_again, rows)):
        groups[AGAIN] = {AGAIN}
    lines = [_HEAD]
    for action, members in groups.items():
        chosen = [row for row in rows if row["action"] in members]
        arms = list(dict.fromkeys(row["arm"] for row in chosen))
        base = {_key(row): row for row in chosen if row["arm"] == "single shot"}
        lines += [_row(action, arm, [row for row in chosen if row["arm"] == arm], base) for arm in arms]
    return "\n".join([*lines, *_memory(rows)])


OUTCOMES = ("right", "wrong", "asked, right", "asked, wrong", "withheld, right", "withheld, wrong", "nothing")
"""What becomes of a case, in the words of PROTOCOL.md."""
_COVERAGES = (0.25, 0.5, 0.75, 1.0)


def outcomes(results: Iterable[Result]) -> str:
    """For each variant what became of its cases, the seconds of a job, and the risk at some coverages."""
    rows = [row for row in results if row.get("outcome")]
    head = ("variant", "jobs", *OUTCOMES, "p50", "p95", *(f"risk at {each:.0%}" for each in _COVERAGES))
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for arm in dict.fromkeys(row["arm"] for row in rows):
        own = [row for row in rows if row["arm"] == arm]
        counts = Counter(row["outcome"] for row in own)
        seconds = sorted(row["seconds"] for row in own)
        cells = [arm, str(len(own)), *(_share(counts[each], len(own)) for each in OUTCOMES)]
        cells += [f"{_quantile(seconds, share):.1f}" for share in (0.5, 0.95)]
        lines.append(f"| {' | '.join([*cells, *_risks(own)])} |")
    return "\n".join(["", *lines]) if rows else ""


def _risks(rows: Sequence[Result]) -> list[str]:
    """The wrong share of the surest offers that make up these shares of all jobs; "-" where fewer are offered."""
    offered = sorted((row for row in rows if row["offered"]), key=lambda row: -row["confidence"])
    counts = [round(share * len(rows)) for share in _COVERAGES]
    return [_share(sum(not row["passed"] for row in offered[:count]), count) if 0 < count <= len(offered) else "-"
            for count in counts]  # fmt: skip


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _memory(rows: Sequence[Result]) -> list[str]:
    """A sentence for each variant with a memory that held something: in how many cases it had a part."""
    sentences = []
    for arm in dict.fromkeys(row["arm"] for row in rows if row.get("remembered")):
        chosen = [row for row in rows if row["arm"] == arm]
        shown = [row for row in chosen if row["remembered"]]
        own = [row for row in shown if any(each["own"] for each in row["remembered"])]
        sentences.append(
            f"- *{arm}*: in {len(shown)} of {len(chosen)} cases something remembered was in the prompt, "
            f"in {len(own)} of them the very task's solution; "
            f"{sum(row['passed'] for row in shown)} of the {len(shown)} are right, and "
            f"{sum(row['passed'] for row in chosen if row not in shown)} of the other {len(chosen) - len(shown)}."
        )
    return ["", *sentences] if sentences else []


def _key(row: Result) -> tuple[str, int]:
    return row["case"], row.get("seed", 1)


def by_case(rows: Sequence[Result]) -> tuple[float, float]:
    """The 95 % interval of the share that is right: of cases, not of the seeds, which are no further cases."""
    cases: dict[str, list[int]] = {}
    for row in rows:
        cases.setdefault(row["case"], []).append(bool(row["passed"]))
    means = [statistics.mean(each) for each in cases.values()]
    if all(mean in (0, 1) for mean in means):
        return wilson(sum(means), len(means))
    drawn = sorted(statistics.mean(random.Random(n).choices(means, k=len(means))) for n in range(2000))
    return drawn[50], drawn[1949]


def _is_again(row: Result) -> bool:
    return bool(row["action"] == AGAIN)


def _row(action: str, arm: str, rows: Sequence[Result], base: Mapping[tuple[str, int], Result]) -> str:
    right, count = sum(row["passed"] for row in rows), len(rows)
    low, high = by_case(rows)
    pairs = [(base[_key(row)], row) for row in rows if _key(row) in base and arm != "single shot"]
    offered = [row for row in rows if row["offered"]]
    cells = (
        action,
        arm,
        str(count),
        f"{100 * right / count:.1f} %",
        f"{100 * low:.0f}–{100 * high:.0f} %",
        _difference(pairs),
        _share(sum(one["passed"] and other["offered"] and not other["passed"] for one, other in pairs), len(pairs)),
        _share(count - len(offered), count),
        f"{statistics.mean(row['calls'] for row in rows):.2f}",
        f"{statistics.mean(row['tokens'] for row in rows):.0f}",
        f"{statistics.median(row['seconds'] for row in rows):.1f}",
        _brier(offered),
    )
    return f"| {' | '.join(cells)} |"


def _difference(pairs: Sequence[tuple[Result, Result]]) -> str:
    """Percentage points gained over the same cases, with a bootstrap interval."""
    if not pairs:
        return "-"
    gains = [int(other["passed"]) - int(one["passed"]) for one, other in pairs]
    draw = random.Random(0)
    means = sorted(statistics.mean(draw.choices(gains, k=len(gains))) for _ in range(2000))
    return f"{100 * statistics.mean(gains):+.1f} ({100 * means[50]:+.0f} to {100 * means[1949]:+.0f})"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _brier(rows: Sequence[Result]) -> str:
    if not rows:
        return "-"
    return f"{statistics.mean((row['confidence'] - row['passed']) ** 2 for row in rows):.3f}"
