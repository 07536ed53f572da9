"""How often the engine's answers are right, against the same model's single shot.

    run.py --data DIR --out DIR --half reporting [--actions A,B] [--cases N] [--seeds 1,2,3] [--shard I/N]
    run.py --out DIR --table

PROTOCOL.md says what is counted. Cases are taken in turn from all actions, so that a run that is broken off is a sample
of all of them. Asks the endpoint of STET_BASE_URL and STET_MODEL, else the embedded model. It may be broken off at any
time: replies and results are kept under --out, outside of the repository, and the same command continues where it
stopped. With --recorded no model is asked at all. On two cores a case takes the embedded model a minute or two.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.eval.arms import ARMS, SAMPLES, Arm, Held, settings_of
from bench.eval.cases import ACTIONS, AGAIN, HALVES, Case, half_of, load
from bench.eval.choice import chosen
from bench.eval.hidden import passes
from bench.eval.recorder import Recorder
from bench.eval.remembered import again, filled, is_own
from bench.eval.table import markdown, outcomes

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import OnEvent, ignore
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.errors import StetError
from stet_ls.engine.memory import job_memory
from stet_ls.engine.model.embedded.embedded_model import CONTEXT, Embedded
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.fitting.fit import fit_code
from stet_ls.engine.run import Engine
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths, user_paths
from stet_ls.validators import syntax
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units

_EMBEDDED = "embedded"
_HOUR = 3600
"""Seconds that nothing here takes."""


def main() -> None:
    """Runs what is missing and prints the table."""
    arguments = _arguments()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    if not arguments.table:
        actions = tuple(arguments.actions.split(","))
        cases = load(arguments.data, actions, arguments.cases, arguments.seed, arguments.half)
        asyncio.run(_run(arguments, [*in_turn(cases), *again(cases, arguments.again)]))
    print(markdown(_results(out)))
    print(outcomes(_results(out)))
    for file in sorted(out.glob("results-*.jsonl")):
        print(f"sha256 {hashlib.sha256(file.read_bytes()).hexdigest()} {file.name}")


def in_turn(cases: Sequence[Case]) -> list[Case]:
    """The cases, one of each action after the other."""
    by_action: dict[str, list[Case]] = {}
    for case in cases:
        by_action.setdefault(case.action, []).append(case)
    return [case for turn in zip_longest(*by_action.values()) for case in turn if case is not None]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder that obtain.sh filled")
    parser.add_argument("--out", type=Path, required=True, help="where replies and results are kept")
    parser.add_argument("--actions", default=",".join(ACTIONS))
    parser.add_argument("--arms", default="", help="only these variants, with commas")
    parser.add_argument("--cases", type=int, default=40, help="of each action")
    parser.add_argument("--again", type=int, default=20, help="cases of generate that are asked for in other words too")
    parser.add_argument("--seed", type=int, default=1, help="of the draw of cases")
    parser.add_argument("--seeds", default="1", help="of the model's replies, with commas: each case once for each")
    parser.add_argument("--half", choices=HALVES, default="", help="cases of this half only")
    parser.add_argument("--fast", action="store_true", help="recorded replies come at once: deadlines mean nothing")
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th case from the I-th")
    parser.add_argument("--recorded", action="store_true", help="play recorded replies back, ask no model")
    parser.add_argument("--table", action="store_true", help="only print the table of what is there")
    arguments = parser.parse_args()
    if not arguments.table and arguments.data is None:
        parser.error("--data is needed: the folder that obtain.sh filled")
    if arguments.out.resolve().is_relative_to(Path(__file__).resolve().parents[3]):
        parser.error(f"--out {arguments.out}: rows and replies are kept outside of the repository")
    return arguments


async def _run(arguments: argparse.Namespace, cases: list[Case]) -> None:
    out: Path = arguments.out
    index, count = (int(part) for part in arguments.shard.split("/"))
    arms = [arm for arm in ARMS if not arguments.arms or arm.name in arguments.arms.split(",")]
    # A home of its own: what this machine's user prefers or remembers must not change the numbers.
    home = out / "home"
    paths = replace(user_paths(), data=home / "data", cache=home / "cache", logs=home / "log")
    homes = {held: await filled(held, out, arguments.data, cases, paths) for held in {arm.held for arm in arms}}
    job_memory.BUDGET = _HOUR  # a memory that was late once would have another prompt the next time
    sandbox = Sandbox(IsolationLevel.STRONG, paths.sandbox)
    done = {(row["case"], row["arm"], row.get("seed", 1)): row for row in _results(out)}
    seeds = [int(each) for each in arguments.seeds.split(",")]
    async with _endpoint(arguments.recorded, out) as upstream:
        recorder = Recorder(out / "replies", upstream.base_url, upstream.key, paced=not arguments.fast)
        async with recorder.open():
            with _embedded_by(recorder, upstream), (out / f"results-{index}.jsonl").open("a", encoding="utf-8") as file:
                mine = cases[index::count]
                for seed, (number, case), arm in product(seeds, enumerate(mine, 1), arms):
                    if (case.id, arm.name, seed) in done or arm.again != (case.action == AGAIN):
                        continue
                    calls = done.get((case.id, "stet", seed), {}).get("calls", 1) if arm.draws else 1
                    draws = SAMPLES if arm.choice else max(1, calls)
                    recorder.begin(seed)
                    row = await _try(case, arm, recorder, upstream, sandbox, homes[arm.held], draws=draws)
                    row["seed"] = seed
                    done[(case.id, arm.name, seed)] = row
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                    said = f"{number}/{len(mine)} {case.id}, {arm.name}, seed {seed}: {row['outcome']}"
                    print(said, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class _Upstream:
    """The endpoint behind the recorder; without an address only recorded replies are played."""

    model: str
    is_embedded: bool
    base_url: str | None = None
    key: str = "unused"


@asynccontextmanager
async def _endpoint(recorded: bool, out: Path) -> AsyncIterator[_Upstream]:
    """What is asked: the endpoint of the environment, else the embedded model."""
    kept = out / "model.txt"
    if recorded:
        kind, _, model = kept.read_text("utf-8").partition(" ")
        yield _Upstream(model, is_embedded=kind == _EMBEDDED)
        return
    if address := os.environ.get("STET_BASE_URL"):
        model = os.environ["STET_MODEL"]
        kept.write_text(f"endpoint {model}", "utf-8")
        yield _Upstream(model, is_embedded=False, base_url=address, key=os.environ.get("STET_API_KEY", "unused"))
        return
    embedded = Embedded(Settings(), user_paths())
    provider = await embedded.endpoint()
    kept.write_text(f"{_EMBEDDED} {provider.model}", "utf-8")
    key = provider.api_key.get_secret_value() if provider.api_key else "unused"
    try:
        yield _Upstream(provider.model, is_embedded=True, base_url=provider.base_url, key=key)
    finally:
        await embedded.close()


@contextmanager
def _embedded_by(recorder: Recorder, upstream: _Upstream) -> Iterator[None]:
    """Puts the recorder between the engine and the embedded model, which the engine knows as such: its replies are
    begun, and it takes one call at a time. An endpoint of the environment is one of the settings.
    """
    shipped = Embedded.endpoint

    async def endpoint(self: Embedded, on_event: OnEvent = ignore) -> Provider:
        return Provider(name=_EMBEDDED, base_url=recorder.base_url, model=upstream.model, context=CONTEXT)

    if upstream.is_embedded:
        Embedded.endpoint = endpoint  # type: ignore[method-assign]
    try:
        yield
    finally:
        Embedded.endpoint = shipped  # type: ignore[method-assign]


async def _try(
    case: Case, arm: Arm, recorder: Recorder, upstream: _Upstream, sandbox: Sandbox, paths: Paths, *, draws: int
) -> dict[str, Any]:
    """The result of one case in one variant; of several draws the chosen one, or one at random, at the price of all."""
    answers: list[Answer | StetError] = []
    started = time.perf_counter()
    for sample in range(draws):
        base_url = "" if upstream.is_embedded else recorder.base_url
        engine = Engine(settings_of(arm, base_url, upstream.model, sample if arm.choice else 0), paths)
        try:
            if arm.held is not Held.NOTHING:
                await engine.memory.stats()  # a job does not wait for a memory that is still opening
            answers.append(await _answer(engine, case, arm))
        finally:
            await engine.close()
    # With --fast the recorder answers at once; what the model took then is part of what was recorded.
    seconds = max(time.perf_counter() - started, recorder.model_seconds)
    if arm.choice is None:
        answer = random.Random(case.id).choice(answers)
    else:
        texts = [_final_text(case, arm, each) if isinstance(each, Answer) else None for each in answers]
        answer = answers[await chosen(arm.choice, case, texts, sandbox)]
    after = _final_text(case, arm, answer) if isinstance(answer, Answer) else None
    held = _edited(case, answer) if after is None and isinstance(answer, Answer) else after
    right = held is not None and await passes(sandbox, held, case.hidden)
    asked = arm.judged and after is not None and isinstance(answer, Answer) and _asks(answer)
    remembered = answer.metadata.memory if isinstance(answer, Answer) else ()
    spent = [each.metadata for each in answers if isinstance(each, Answer)]
    return {
        "case": case.id,
        "half": half_of(case.id),
        "action": case.action,
        "arm": arm.name,
        "model": upstream.model,
        "offered": after is not None,
        "passed": after is not None and right,
        "asked": asked,
        "outcome": _outcome(offered=after is not None, held=held is not None, right=right, asked=asked),
        "parses": after is not None and not syntax.check(Source(after), "python").findings,
        "tier": (answer.metadata.evidence_tier or "") if isinstance(answer, Answer) else "",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "confidence": answer.confidence if isinstance(answer, Answer) else 0.0,
        "calls": sum(each.calls for each in spent),
        "tokens": sum(each.tokens.prompt + each.tokens.completion for each in spent),
        "seconds": round(seconds, 2),
        "message": answer.message if isinstance(answer, Answer) else str(answer),
        "evidence": {e.check.value: e.verdict.value for e in answer.evidence} if isinstance(answer, Answer) else {},
        "remembered": [{**asdict(each), "own": is_own(each.provenance, case)} for each in remembered],
        "details": [e.detail for e in answer.evidence] if isinstance(answer, Answer) else [],
    }


def _outcome(*, offered: bool, held: bool, right: bool, asked: bool) -> str:
    """What became of a case, in a word of PROTOCOL.md."""
    word = "right" if right else "wrong"
    if offered:
        return f"asked, {word}" if asked else word
    return f"withheld, {word}" if held else "nothing"


def _asks(answer: Answer) -> bool:
    """Whether an editor asks before it applies the edit."""
    unsure = (each for each in answer.evidence if each.trusted and each.verdict is Ruling.UNKNOWN)
    return answer.not_run or any(each.check is not Check.DANGER for each in unsure)


def _edited(case: Case, answer: Answer) -> str | None:
    """The document after an edit that a judge refuted; None if there is none."""
    source = Source(case.text)
    return source.splice([Splice(edit.span, edit.new_text) for edit in answer.edits]).text if answer.edits else None


async def _answer(engine: Engine, case: Case, arm: Arm) -> Answer | StetError:
    try:
        return await engine.run(_request(case, arm))
    except StetError as error:
        return error


def _request(case: Case, arm: Arm) -> Request:
    source = Source(case.text)
    unit = next(unit for unit in units(source, "python") if unit.qualified == case.unit)
    return Request(
        case.asks,
        "python",
        source,
        selection=Selection(unit.span),
        path=Path("/elsewhere/case.py" if case.action == AGAIN else "/nowhere/case.py"),
        instruction=case.instruction,
        budget=arm.budget,
    )


def _final_text(case: Case, arm: Arm, answer: Answer) -> str | None:
    """The document after an answer; None if nothing lands.

    What a judge refuted lands only at a person's word, who saw why: here no one gives it. A model without judges is
    taken at its word, by `optimize` too, which offers nothing that was not measured.
    """
    source = Source(case.text)
    if answer.success and not answer.refuted:
        return source.splice([Splice(edit.span, edit.new_text) for edit in answer.edits]).text
    if arm.judged or not answer.code:
        return None
    fitted = fit_code(answer.code, source=source, target=resolve_target(_request(case, arm)), language="python")
    return None if fitted.problem is not None else source.splice(fitted.splices).text


def _results(out: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(out.glob("results-*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield json.loads(line)


if __name__ == "__main__":
    main()
