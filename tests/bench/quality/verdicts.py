"""What users read about right and about wrong rewrites: `make bench ONLY=verdicts`.

    .venv/bin/python tests/bench/quality/verdicts.py --half tuning --kind limits --misses misses.md
    .venv/bin/python tests/bench/quality/verdicts.py --half reporting --crosshair
    .venv/bin/python tests/bench/quality/verdicts.py --half fresh

The corpus is `corpora/verdicts` (its README says how labels are proven and halves are fixed). Each rewrite goes through
all judges of `refactor`, as a reply that holds the text after would, on a project of its own with the case's tests.
These numbers were chosen before anything was measured:

- *refuted*: a trusted judge fails it, or it is never offered; the message says so and nothing lands without a word.
- *asked*: nothing refutes it, and the server asks before it is applied (`job_flow/edit_risks.py`).
- *alike*: neither, and something that ran both texts, or the tests on the new one, says that they behave alike.
- *silent*: none of these. It is applied, and nothing looked at what it does.

Of right rewrites, refuted ones and those asked about are false alarms: counted separately for those whose hints,
examples or tests say what they are called with (*described*), and for *bare* ones: those that have none, and the
described ones of Python again without theirs. Of wrong ones, *alike* and *silent* are misses. Intervals are Wilson's,
95 %. Seconds are those of the comparison of old and new, on this machine.

`--crosshair` says what `crosshair diffbehavior` makes of the same pairs of Python functions, in `_CROSSHAIR_SECONDS`
each; it is installed into `.cache/crosshair` by `uv` on demand.

`--examples N` asks a model for example calls (`engine/job/example_calls.py`) for N of the cases whose comparison lacks
inputs, those whose names hash lowest, and says what becomes of each with them. `STET_BASE_URL` and `STET_MODEL` name
the model, otherwise it is the embedded one.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import itemgetter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench and support

from bench.quality.suggestions import Suggestion, Suggestions
from bench.row import Row
from support.corpora.verdicts import Half, Label, Rewrite, rewrites, write_project

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import CHECKS, PROVING, Check, Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.calibration import wilson
from stet_ls.engine.judges.case import Case, timed
from stet_ls.engine.judges.table import judge_of, judges_for
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.edits.edit_plan import EditPlan
from stet_ls.server.job_flow.edit_risks import edit_risks
from stet_ls.validators.source import Source

JUDGES = judges_for(*ACTIONS["refactor"].judged_as)
_CROSSHAIR_SECONDS = 2
_CACHE = Path(__file__).resolve().parents[3] / ".cache" / "crosshair"


class Outcome(StrEnum):
    """What becomes of a rewrite; see above."""

    REFUTED = "refuted"
    ASKED = "asked"
    ALIKE = "alike"
    SILENT = "silent"


@dataclass(frozen=True)
class Judged:
    """A case and what was said of it. `is_bare`: right, and nothing but its text says what it is called with."""

    case: Rewrite
    is_bare: bool
    outcome: Outcome
    reason: str
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether its label is right."""
        return self.case.label is Label.RIGHT

    @property
    def is_miss(self) -> bool:
        """Whether a user reads the wrong thing, or nothing."""
        bad = (Outcome.REFUTED, Outcome.ASKED) if self.is_right else (Outcome.ALIKE, Outcome.SILENT)
        return self.outcome in bad


@dataclass(frozen=True)
class Metric:
    """A line of the summary: of which judged ones it counts which."""

    name: str
    of: Callable[[Judged], bool]
    counts: tuple[Outcome, ...]
    goal: str


METRICS = (
    Metric("right, described: refuted", lambda each: each.is_right and not each.is_bare, (Outcome.REFUTED,), "<= 3 %"),
    Metric("right, bare: refuted", lambda each: each.is_right and each.is_bare, (Outcome.REFUTED,), "<= 8 %"),
    Metric("right: asked", lambda each: each.is_right, (Outcome.ASKED,), "<= 10 %"),
    Metric("right: silent", lambda each: each.is_right, (Outcome.SILENT,), "-"),
    Metric("wrong: called alike", lambda each: not each.is_right, (Outcome.ALIKE,), "<= 5 %"),
    Metric("wrong: silent", lambda each: not each.is_right, (Outcome.SILENT,), "<= 5 %"),
    Metric("wrong: asked", lambda each: not each.is_right, (Outcome.ASKED,), "-"),
    Metric("wrong: refuted", lambda each: not each.is_right, (Outcome.REFUTED,), "-"),
)


def rows() -> Iterator[Row]:
    """The summary of each half, without CrossHair."""
    for half in Half:
        judged = judge_all([each for each in rewrites() if each.half is half])
        yield from summary(judged, f"{half}: ")


def summary(judged: Sequence[Judged], title: str = "") -> Iterator[Row]:
    """The metrics with their intervals, and the seconds of a comparison."""
    for metric in METRICS:
        among = [each for each in judged if metric.of(each)]
        if among:
            yield Row(title + metric.name, _share(sum(each.outcome in metric.counts for each in among), len(among)),
                      metric.goal)  # fmt: skip
    seconds = sorted(each.seconds for each in judged if each.seconds)
    if len(seconds) > 1:
        cuts = statistics.quantiles(seconds, n=20)
        yield Row(f"{title}a comparison, P50 and P95", f"{cuts[9]:.2f} s, {cuts[18]:.2f} s", "<= 0.3 s, <= 1.5 s")


def in_markdown(rows: Iterable[Row]) -> list[str]:
    """Rows as a table in Markdown, as `docs/quality.md` shows them."""
    lines = [f"| {row.what} | {row.number} | {row.goal.replace('<=', '≤')} |" for row in rows]
    return ["| what | measured, 95 % interval | goal |", "|---|---|---|", *lines]


def by_kind(judged: Sequence[Judged]) -> list[str]:
    """A table in Markdown: what became of the cases of each kind."""
    lines = [f"| label, kind | cases | {' | '.join(Outcome)} |", f"|---|---|{'---|' * len(Outcome)}"]
    for kind in dict.fromkeys((each.case.label, each.case.kind) for each in judged):
        among = [each for each in judged if (each.case.label, each.case.kind) == kind]
        counts = " | ".join(str(sum(each.outcome is outcome for each in among)) for outcome in Outcome)
        lines.append(f"| {kind[0]}: {kind[1].replace('_', ' ')} | {len(among)} | {counts} |")
    return lines


def judge_all(cases: Sequence[Rewrite]) -> list[Judged]:
    """What the product says of each case, and of right ones of Python again without what tells their inputs."""
    return asyncio.run(_judge_all(cases))


async def _judge_all(cases: Sequence[Rewrite]) -> list[Judged]:
    async with _place() as (runtime, place):
        return [await _judge(case, runtime, place / str(number)) for number, case in enumerate(_variants(cases))]


@asynccontextmanager
async def _place() -> AsyncIterator[tuple[Runtime, Path]]:
    """A runtime for all cases, and a folder for theirs."""
    with tempfile.TemporaryDirectory() as place:
        sandbox = Sandbox(IsolationLevel.STRONG, Path(place) / "sandbox")
        bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        interpreter = Interpreter(
            Path(sys.executable), sys.version_info[:3], mounts.interpreter(), bare, modules=frozenset({"pytest"})
        )
        yield Runtime(sandbox, bare_environment(interpreter)), Path(place)
        await sandbox.close()


def _variants(cases: Sequence[Rewrite]) -> Iterator[tuple[Rewrite, bool]]:
    for case in cases:
        is_right = case.label is Label.RIGHT
        yield case, is_right and not case.is_documented
        if is_right and case.is_documented and case.language == "python":
            yield case.bare(), True


async def _judge(variant: tuple[Rewrite, bool], runtime: Runtime, folder: Path) -> Judged:
    case, is_bare = variant
    evidence = await _evidence(_given(case, runtime, folder))
    outcome, reason = outcome_of(evidence)
    compared = sum(item.seconds for item in evidence if item.check is Check.DIFFERENTIAL)
    return Judged(case, is_bare, outcome, reason, compared)


def _given(case: Rewrite, runtime: Runtime, folder: Path) -> Case:
    """What the judges see of a case, in a project of its own."""
    folder.mkdir()
    path = write_project(case, folder)
    runtime = replace(runtime, workspace=Workspace((folder,)), reports={})
    return Case("refactor", case.language, path, Source(case.before), Source(case.after), case.unit, runtime=runtime)


async def _evidence(given: Case) -> list[Evidence]:
    """What all judges say."""
    evidence: list[Evidence] = []
    for judge in JUDGES:
        item = await timed(judge, given)
        evidence.append(item)
        if item.verdict is Ruling.FAIL and CHECKS[item.check].blocks_offer:
            break
    return evidence


async def _with_examples(cases: Sequence[Rewrite], most: int) -> Suggestions:
    """The outcomes of the cases whose comparison lacks inputs, at most so many, without and with example calls."""
    lacking = []
    async with _place() as (runtime, place), Suggestions.asking() as found:
        for number, (case, is_bare) in enumerate(_variants(cases)):
            given = _given(case, runtime, place / str(number))
            item = await judge_of(Check.DIFFERENTIAL).judge(given)
            if item.missing is not None:
                name = f"{case.id}{' (bare)' if is_bare else ''}"
                lacking.append((hashlib.sha256(name.encode()).hexdigest(), name, case.label, given, item.missing))
        found.lacking, found.judged = len(lacking), number + 1
        for _, name, label, given, missing in sorted(lacking, key=itemgetter(0))[:most]:
            without = outcome_of(await _evidence(given))[0]
            reply = await found.ask(given, missing)
            outcome, reason = outcome_of(await _evidence(replace(given, suggested=reply.text)))
            found.add(Suggestion(name, label, without, outcome, reason, reply))
    return found


def outcome_of(evidence: Sequence[Evidence]) -> tuple[Outcome, str]:
    """What becomes of an edit with such evidence, and why."""
    refuted = next((each for each in evidence if each.verdict is Ruling.FAIL and _refutes(each)), None)
    if refuted is not None:
        return Outcome.REFUTED, f"{refuted.label}: {refuted.detail}"
    answer = Answer(True, "refactor", "python", "", evidence=tuple(evidence))
    asked = edit_risks(answer, EditPlan((), ()), Snapshot("file:///a", None, "python", Source(""), None))
    if asked:
        return Outcome.ASKED, "; ".join(asked)
    proven = [each for each in evidence if each.check in PROVING and each.trusted and each.verdict is Ruling.PASS]
    details = "; ".join(f"{each.label}: {each.detail}" for each in evidence if each.check in PROVING)
    return (Outcome.ALIKE if proven else Outcome.SILENT), details


def _refutes(item: Evidence) -> bool:
    return item.trusted or CHECKS[item.check].blocks_offer


def _share(count: int, among: int) -> str:
    low, high = wilson(count, among)
    return f"{count} of {among}, {100 * count / among:.1f} % ({100 * max(low, 0):.0f}-{100 * high:.0f})"


def crosshair(cases: Sequence[Rewrite]) -> Iterator[Row]:
    """What CrossHair says of the functions of Python among the cases; the reason where it cannot be had."""
    program = _CACHE / "bin" / "crosshair"
    if not program.exists() and (problem := _install()):
        yield Row("crosshair diffbehavior", f"not measured: {problem}")
        return
    functions = [each for each in cases if each.language == "python" and "." not in each.unit and _is_function(each)]
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda case: _crosshair(program, case), functions))
    for label in Label:
        among = [details for case, details in zip(functions, said, strict=True) if case.label is label]
        if among:
            yield Row(f"crosshair, {label}: called different", _share(among.count("different"), len(among)))
            yield Row(f"crosshair, {label}: not looked at", _share(among.count("unknown"), len(among)))


def _install() -> str:
    uv, python = Path(sys.executable).with_name("uv"), str(_CACHE / "bin" / "python")
    for command in (
        ["venv", "-q", "--python", sys.executable, str(_CACHE)],
        ["pip", "install", "-q", "--python", python, "crosshair-tool"],
    ):
        try:
            done = subprocess.run([str(uv), *command], capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            shutil.rmtree(_CACHE, ignore_errors=True)
            return done.stderr.strip()[-200:]
    return ""


def _is_function(case: Rewrite) -> bool:
    return f"def {case.unit}(" in case.before


def _crosshair(program: Path, case: Rewrite) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("before", case.before), ("after", case.after)):
            (Path(folder) / f"{name}.py").write_text(text, encoding="utf-8")
        command = [str(program), "diffbehavior", f"--per_condition_timeout={_CROSSHAIR_SECONDS}",
                   f"before.{case.unit}", f"after.{case.unit}"]  # fmt: skip
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return "unknown"
    return {0: "same", 1: "different"}.get(done.returncode, "unknown")


def misses(judged: Sequence[Judged]) -> Iterator[str]:
    """The cases about which a user reads the wrong thing, or nothing, with that text."""
    for each in judged:
        if each.is_miss:
            bare = " (bare)" if each.is_bare and each.case.is_documented is False else ""
            yield f"- `{each.case.id}`{bare}: {each.outcome}. {' '.join(each.reason.split())[:400]}"


def main() -> None:
    """Prints the summary, the table by kind, and what is asked for besides."""
    parser = argparse.ArgumentParser(description="Verdicts on labeled rewrites.")
    parser.add_argument("--half", type=Half, choices=list(Half))
    parser.add_argument("--kind", default="")
    parser.add_argument("--misses", type=Path, help="write the cases that were missed to this file")
    parser.add_argument("--crosshair", action="store_true", help="ask CrossHair alone")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="ask a model about N cases alone")
    asked = parser.parse_args()
    cases = [each for each in rewrites() if asked.half in (None, each.half) and asked.kind in ("", each.kind)]
    if asked.crosshair:
        print(*in_markdown(crosshair(cases)), sep="\n")
        return
    if asked.examples:
        print(*asyncio.run(_with_examples(cases, asked.examples)).in_markdown(), sep="\n")
        return
    judged = judge_all(cases)
    print(*in_markdown(summary(judged)), "", *by_kind(judged), sep="\n")
    if asked.misses:
        asked.misses.write_text("\n".join(misses(judged)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
