"""Runs the same calls on several texts; the others are compared with the first."""

from __future__ import annotations

from typing import Any

from stet_ls.engine.execution.python.inside.call import CallTimeLimit
from stet_ls.engine.execution.python.inside.fork import forked
from stet_ls.engine.execution.python.inside.originals import real_clock
from stet_ls.engine.execution.python.inside.probes import WRONG_KIND, unseen
from stet_ls.engine.execution.python.inside.times.growth import growth

READABLE = ("kind", "error", "results", "variables", "printed")
UNFIT = ("late", "limit", "died", "reached")


def compare(job: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """The outcomes of all texts. Calls that the first text cannot answer safely and repeatably are left out."""
    begun = real_clock()
    end = begun + job["seconds"]
    probe = forked(
        job, job["texts"][0], calls, begun + 0.4 * job["seconds"], CallTimeLimit(job["cpu"], 5), job["wanted"]
    )
    unfit = {n: outcome for n, outcome in probe["outcomes"].items() if outcome["kind"] in UNFIT}
    left_out = [{"call": n, "kind": each["kind"], "message": each.get("message", "")} for n, each in unfit.items()]
    if not probe["outcomes"] and not probe["load"]:  # the first call used up all its time
        left_out = [{"call": call[0], "kind": "late", "message": ""} for call in calls[:1]]
    calls = [call for call in calls if call[0] in probe["outcomes"] and call[0] not in unfit]
    probe["outcomes"] = {call[0]: probe["outcomes"][call[0]] for call in calls}
    if probe["load"] or not calls:
        return {"texts": [reported_outcomes(probe, set())], "left_out": left_out}
    # If all calls are usable, the first text runs again only if necessary; the time for that is reserved.
    base = first_outcomes(job, calls, end) if unfit else None
    rest = end if unfit else end - 1.2 * (real_clock() - begun)
    others = [
        forked(job, text, calls, rest, CallTimeLimit(20 * job["cpu"], 1), len(calls) + 1) for text in job["texts"][1:]
    ]
    if base is None:
        base = probe if agree(probe, others) else first_outcomes(job, calls, end)
    same = {n for n, outcome in probe["outcomes"].items()
            if base["outcomes"].get(n, {}).get("digest") == outcome["digest"]}  # fmt: skip
    left_out += [{"call": n, "kind": "flaky", "message": ""} for n in base["outcomes"] if n not in same]
    for each in others:
        each["side_effects"] = [what for what in each["side_effects"] if what not in base["side_effects"]]
    for each in (base, *others):
        each["outcomes"] = {n: outcome for n, outcome in each["outcomes"].items() if n in same}
    first = digests(base)
    shown = {n for each in others for n, digest in digests(each).items() if digest != first[n]}
    report: dict[str, Any] = {
        "texts": [reported_outcomes(each, shown) for each in (base, *others)],
        "left_out": left_out,
    }
    if len(shown) < len(same) / 2 and not any(each["load"] for each in others):
        report["growth"] = growth(job, same - shown, end)
    separate = {n for n in shown if not may_be_equal([each["outcomes"].get(n, {}) for each in (base, *others)])}
    if job["probed"] and not any(each["load"] for each in others):
        report["unseen"] = unseen(job, [call for call in calls if call[0] in same], end)
        # What differs may be of a kind that is not meant: then it matters what the other inputs execute.
        report["unseen_alike"] = (
            unseen(job, [call for call in calls if call[0] in same - separate], end) if separate else None
        )
    return report


def may_be_equal(outcomes: list[dict[str, Any]]) -> bool:
    """Whether a difference may not count: numbers that may be rounded, an input that the first text fails on by
    accident, or one on which all fail, or only which objects are the same.
    """
    first = outcomes[0]
    if all(each.get(key) == first.get(key) for each in outcomes for key in READABLE):
        return True
    fails = outcomes[0].get("error") in WRONG_KIND or all(each.get("kind") == "raised" for each in outcomes)
    return fails or all(map(is_rounded, outcomes))


def is_rounded(outcome: dict[str, Any]) -> bool:
    """Whether it holds a float: then it may differ by rounding."""
    return "\x01" in "".join(outcome.get("results", ())) + outcome.get("variables", "")


def first_outcomes(job: dict[str, Any], calls: list[Any], end: float) -> dict[str, Any]:
    """The first text's outcomes of usable calls."""
    return forked(job, job["texts"][0], calls, end, CallTimeLimit(20 * job["cpu"], 1), len(calls) + 1)


def agree(first: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    """Whether all texts agree on every call: another run of the first to detect flakiness would add nothing then.

    So a call whose result varies counts as equal if both texts agreed: by chance, or because its cause is the same in
    all forks, which share one hash seed and one memory layout. That is evidence of equality like any other, and no
    more; another seed would cost starting an interpreter for each judgment.
    """
    wanted = digests(first)
    return first["over"] and bool(others) and all(digests(each) == wanted for each in others)


def digests(result: dict[str, Any]) -> dict[int, str]:
    return {number: outcome["digest"] for number, outcome in result["outcomes"].items()}


def plain(job: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """Each text's outcomes, unfiltered."""
    end = real_clock() + job["seconds"]
    results = [forked(job, text, calls, end, CallTimeLimit(job["cpu"], 2), len(calls) + 1) for text in job["texts"]]
    return {"texts": [reported_outcomes(each, set(each["outcomes"])) for each in results], "left_out": []}


def reported_outcomes(each: dict[str, Any], shown: set[int]) -> dict[str, Any]:
    """What a text did; readable outcomes only for those to be shown."""
    seen = ("message", "lacks", "bases", "results", "variables", "printed", "shared")
    outcomes = {
        number: outcome if number in shown else {key: outcome[key] for key in outcome if key not in seen}
        for number, outcome in each["outcomes"].items()
    }
    return {
        "load": each["load"],
        "gave_up": each.get("gave_up", False),
        "lacks": each["lacks"],
        "side_effects": "; ".join(each["side_effects"][:3]),
        "outcomes": outcomes,
    }
