"""How often the engine's answers are right, against the same model's single shot.

    .venv/bin/python tests/bench/eval/run.py --data DIR --out DIR [--actions A,B] [--cases N] [--shard I/N]
    .venv/bin/python tests/bench/eval/run.py --out DIR --table

Asks the endpoint of STET_BASE_URL and STET_MODEL, else the embedded model. It may be broken off at any time: replies
and results are kept under --out, and the same command goes on where it stopped. With --recorded no model is asked at
all. On two cores a case takes the embedded model a minute or two.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.eval.arms import ARMS, HOUR, Arm, Held, settings_of
from bench.eval.cases import ACTIONS, AGAIN, Case, load
from bench.eval.hidden import passes
from bench.eval.recorder import Recorder
from bench.eval.remembered import again, filled, is_own
from bench.eval.table import markdown

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.errors import StetError
from stet_ls.engine.memory import job_memory
from stet_ls.engine.model.embedded.embedded_model import Embedded
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.fitting.fit import fit
from stet_ls.engine.run import Engine
from stet_ls.engine.sandbox.isolation import Level
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import Paths, user_paths
from stet_ls.validators import syntax
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units


def main() -> None:
    """Runs what is missing and prints the table."""
    arguments = _arguments()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    if not arguments.table:
        cases = load(arguments.data, tuple(arguments.actions.split(",")), arguments.cases, arguments.seed)
        asyncio.run(_run(arguments, [*cases, *again(cases, arguments.again)]))
    print(markdown(_results(out)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder that obtain.sh filled")
    parser.add_argument("--out", type=Path, required=True, help="where replies and results are kept")
    parser.add_argument("--actions", default=",".join(ACTIONS))
    parser.add_argument("--arms", default="", help="only these variants, with commas")
    parser.add_argument("--cases", type=int, default=40, help="of each action")
    parser.add_argument("--again", type=int, default=20, help="cases of generate that are asked for in other words too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th case from the I-th")
    parser.add_argument("--recorded", action="store_true", help="play recorded replies back, ask no model")
    parser.add_argument("--table", action="store_true", help="only print the table of what is there")
    arguments = parser.parse_args()
    if not arguments.table and arguments.data is None:
        parser.error("--data is needed: the folder that obtain.sh filled")
    return arguments


async def _run(arguments: argparse.Namespace, cases: list[Case]) -> None:
    out: Path = arguments.out
    index, count = (int(part) for part in arguments.shard.split("/"))
    arms = [arm for arm in ARMS if not arguments.arms or arm.name in arguments.arms.split(",")]
    # A home of its own: what this machine's user prefers or remembers must not change the numbers.
    home = out / "home"
    paths = replace(user_paths(), data=home / "data", cache=home / "cache", logs=home / "log")
    homes = {held: await filled(held, out, arguments.data, cases, paths) for held in {arm.held for arm in arms}}
    job_memory.BUDGET = (
        HOUR  # of what is asked, too: a memory that was late once would have another prompt the next time
    )
    sandbox = Sandbox(Level.STRONG, paths.cache / "sandbox")
    done = {(row["case"], row["arm"]): row for row in _results(out)}
    async with _endpoint(arguments.recorded, out) as (upstream, key, model):
        recorder = Recorder(out / "replies", upstream, key)
        async with recorder.open():
            with (out / f"results-{index}.jsonl").open("a", encoding="utf-8") as file:
                for number, case in enumerate(cases[index::count], 1):
                    for arm in arms:
                        if (case.id, arm.name) in done or arm.again != (case.action == AGAIN):
                            continue
                        calls = done.get((case.id, "stet"), {}).get("calls", 1) if arm.draws else 1
                        row = await _try(case, arm, recorder, model, sandbox, homes[arm.held], draws=max(1, calls))
                        done[(case.id, arm.name)] = row
                        file.write(json.dumps(row) + "\n")
                        file.flush()
                        said = "right" if row["passed"] else "wrong" if row["offered"] else "not offered"
                        place = f"{number}/{len(cases[index::count])}"
                        print(f"{place} {case.id}, {arm.name}: {said}", file=sys.stderr, flush=True)


@asynccontextmanager
async def _endpoint(recorded: bool, out: Path) -> Any:
    """Address, key and model of what is asked; the address is None where only recorded replies are played."""
    kept = out / "model.txt"
    if recorded:
        yield None, "unused", kept.read_text("utf-8")
        return
    if address := os.environ.get("STET_BASE_URL"):
        model = os.environ["STET_MODEL"]
        kept.write_text(model, "utf-8")
        yield address, os.environ.get("STET_API_KEY", "unused"), model
        return
    embedded = Embedded(Settings(), user_paths())
    provider = await embedded.endpoint()
    kept.write_text(provider.model, "utf-8")
    key = provider.api_key.get_secret_value() if provider.api_key else "unused"
    try:
        yield provider.base_url, key, provider.model
    finally:
        await embedded.close()


async def _try(
    case: Case, arm: Arm, recorder: Recorder, model: str, sandbox: Sandbox, paths: Paths, *, draws: int
) -> dict[str, Any]:
    """The result of one case in one variant; of several draws, one picked at random, at the price of all."""
    recorder.begin()
    engine = Engine(settings_of(arm, recorder.base_url, model), paths)
    if arm.held is not Held.NOTHING:
        await engine.memory.stats()  # a job does not wait for a memory that is still opening
    started = time.perf_counter()
    try:
        answers = [await _answer(engine, case, arm) for _ in range(draws)]
    finally:
        await engine.close()
    # The recorder answers at once what it has; what the model took then is part of what was recorded.
    seconds = max(time.perf_counter() - started, recorder.model_seconds)
    answer = random.Random(case.id).choice(answers)
    after = _landed(case, arm, answer) if isinstance(answer, Answer) else None
    remembered = answer.metadata.memory if isinstance(answer, Answer) else ()
    spent = [each.metadata for each in answers if isinstance(each, Answer)]
    return {
        "case": case.id,
        "action": case.action,
        "arm": arm.name,
        "model": model,
        "offered": after is not None,
        "passed": after is not None and await passes(sandbox, after, case.hidden),
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


def _landed(case: Case, arm: Arm, answer: Answer) -> str | None:
    """The document after an answer; None if nothing lands.

    What a judge refuted lands only at a person's word, who saw why: here nobody gives it. A model without judges is
    taken at its word, by `optimize` too, which offers nothing that was not measured.
    """
    source = Source(case.text)
    if answer.success and not answer.refuted:
        return source.splice([Splice(edit.span, edit.new_text) for edit in answer.edits]).text
    if arm.judged or not answer.code:
        return None
    fitted = fit(answer.code, source=source, target=resolve_target(_request(case, arm)), language="python")
    return None if fitted.problem is not None else source.splice(fitted.splices).text


def _results(out: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(out.glob("results-*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield json.loads(line)


if __name__ == "__main__":
    main()
