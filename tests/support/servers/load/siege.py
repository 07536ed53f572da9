"""A real server over stdio, an editor with eight busy documents, and models that misbehave at random.

Every document holds planted secrets and one function to be fixed, documented or made shorter. While jobs run, the
user types next to and inside the targets, cancels, and closes documents. After each job the document has to be one of
the few texts that are right, whatever the models said.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from support.corpora.planted import ALNUM, UPPER, chars, joined
from support.engine import code_reply
from support.servers.load.soak import FAULTS, Fault, Misbehaving
from support.servers.scripted import Body, Reply
from support.servers.session import command, editor
from support.servers.wire import ErrorAnswer, Json, RawClient

HANGS = 100.0
"""Seconds after which a job counts as hung; with the time limits below none needs half of them."""
CAP_WORDS = "spending.daily_tokens"

_SECRETS = (
    ("API_KEY", joined("sk-proj-", chars(ALNUM, 40))),
    ("TOKEN", joined("ghp_", chars(ALNUM, 36))),
    ("AWS_KEY", joined("AKIA", chars(UPPER, 16))),
    ("PASSWORD", chars(ALNUM + "_-", 24)),
)

SIEGE_FAULTS: Mapping[str, Fault] = {
    **FAULTS,
    "unchanged": lambda text, rng: Reply("PLAN: none\nCODE:\n```\n```\n"),
    "another function": lambda text, rng: Reply(re.sub(r"\bsum\d+", "sum999999", text)),
    "code changed too": lambda text, rng: Reply(text.replace("total", "totals", 1)),
    "hidden character": lambda text, rng: Reply(text.replace("total", "to\u200btal", 1)),
    "very long": lambda text, rng: Reply(chunks=["and so on, " * 20_000], mode="stream"),
    "words": lambda text, rng: Reply("I would rather not. rm -rf / is what I would run."),
}


@dataclass(frozen=True)
class Case:
    """A document before and after the right edit. `line` is in its target, {n} is the document's number."""

    action: str
    language: str
    suffix: str
    line: int
    before: str
    after: str
    instruction: str = ""

    def texts(self, number: int, secrets: Json) -> tuple[str, str]:
        """Both with that number and those secrets in them."""
        keys = {**secrets, "n": str(number)}
        return tuple(re.sub(r"<(\w+)>", lambda match: keys[match[1]], text) for text in (self.before, self.after))  # type: ignore[return-value]


_GO = """package sums

const apiKey = "<API_KEY>"

func sum<n>(ones []int) int {
\ttotal := 0
\tfor _, one := range ones {
\t\ttotal = total - one
\t}
\treturn total
}
"""
_PYTHON = """import os

PASSWORD = "<PASSWORD>"


def sum<n>(ones):
    total = 0
    token = "<TOKEN>"
    for one in ones:
        total = total + one
    return total, token
"""
_TYPESCRIPT = """const awsKey = "<AWS_KEY>";

function sum<n>(ones: number[]): number {
  let total = 0;
  for (const one of ones) total = total + one;
  return total;
}
"""

CASES = (
    Case("debug", "go", "go", 6, _GO, _GO.replace("total - one", "total + one"), "add them up"),
    Case(
        "document", "python", "py", 7, _PYTHON,
        _PYTHON.replace("(ones):\n", '(ones):\n    """Return the sum of all ones."""\n'),
    ),
    Case(
        "document", "typescript", "ts", 3, _TYPESCRIPT,
        _TYPESCRIPT.replace("function", "/** The sum of all ones. */\nfunction"),
    ),
    Case("refactor", "python", "py", 7, _PYTHON, _PYTHON.replace("total = total + one", "total += one")),
)  # fmt: skip


@dataclass
class Outcome:
    """What a siege came to. Everything in `wrong` is a broken promise; seconds are those of the slowest."""

    jobs: int = 0
    requests: int = 0
    applied: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    secrets_planted: int = 0
    secrets_scanned: int = 0
    slowest_job: float = 0.0
    slowest_answer: float = 0.0
    claimed: int = 0
    booked: int = 0
    cap: int = 0
    capped: int = 0
    memory: float = 0.0

    def add(self, other: Outcome) -> None:
        """Takes in another round; the caps add up as the days of several users would."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, Counter):
                mine.update(value)
            elif name in ("slowest_job", "slowest_answer", "memory"):
                setattr(self, name, max(mine, value))
            else:
                setattr(self, name, mine + value)


class Siege:
    """One round: a server, its user, and what they came to."""

    def __init__(self, home: Path, *, seed: int, seconds: float, cap: int, documents: int = 8, jobs: int = 0) -> None:
        """`cap` is the user's limit of tokens a day; the folder `home` is empty and becomes STET_HOME.

        It takes `seconds`, and continues until so many `jobs` have ended.
        """
        self._home, self._seed, self._seconds, self._documents = home, seed, seconds, documents
        self._jobs = jobs
        self._rng = random.Random(seed)
        self._right: dict[int, str] = {}
        self._secrets: set[str] = set()
        self.outcome = Outcome(cap=cap)

    async def run(self) -> Outcome:
        """Runs it."""
        outcome = self.outcome
        with ExitStack() as stack:
            models = [
                stack.enter_context(Misbehaving(self._seed + at, health, self._reply, SIEGE_FAULTS))
                for at, health in enumerate((0.45, 0.6))
            ]
            (self._home / "config.toml").write_text(_config(models, outcome.cap))
            environment = {**_clean(os.environ), "STET_HOME": str(self._home), "SCRIPTED_KEY": "scripted"}
            async with editor(environment) as client:
                client.answers["workspace/applyEdit"] = partial(_apply, client, client.answers["workspace/applyEdit"])
                await self._besiege(client)
            outcome.requests = sum(len(model.requests) for model in models)
            self._look_for_secrets(models, client)
            outcome.claimed = sum(sum(model.claimed) for model in models)
            outcome.booked = _booked(self._home)
            if outcome.booked > outcome.cap:
                outcome.wrong.append(f"{outcome.booked} tokens are in the ledger, and {outcome.cap} were allowed")
            if outcome.claimed > outcome.cap:
                outcome.wrong.append(f"the models told of {outcome.claimed} tokens, and {outcome.cap} were allowed")
            if client.returncode not in (0, None):
                outcome.wrong.append(f"the server ended with {client.returncode}")
        return outcome

    async def _besiege(self, client: RawClient) -> None:
        ends = time.monotonic() + self._seconds
        asking = asyncio.create_task(self._keep_asking(client))
        try:
            await asyncio.gather(*(self._user(client, at, ends) for at in range(self._documents)))
            self.outcome.memory = _memory(client)
        finally:
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking

    async def _user(self, client: RawClient, place: int, ends: float) -> None:
        """Works on one document after the other until the time is over."""
        rng = random.Random(self._seed * 1000 + place)
        turn = 0
        while time.monotonic() < ends or self.outcome.jobs < self._jobs:
            turn += 1
            number = self._seed * 100_000 + place * 1000 + turn
            await self._job(client, rng.choice(CASES), number, rng)

    async def _job(self, client: RawClient, case: Case, number: int, rng: random.Random) -> None:
        secrets = {name: draw(rng) for name, draw in _SECRETS}
        before, after = case.texts(number, secrets)
        self._secrets.update(value for value in secrets.values() if value in before)
        self._right[number] = code_reply(_target(after), case.language)
        uri = f"file:///siege/d{number}.{case.suffix}"
        client.open(uri, case.language, before)
        began = time.monotonic()
        argument = {"uri": uri, "position": {"line": case.line, "character": 2}, "instruction": case.instruction}
        job = (
            await command(
                client, "stet.custom", action=case.action, budget=rng.choice(["quick", "standard"]), **argument
            )
        )["job"]
        typing = asyncio.create_task(self._meddle(client, uri, job, rng))
        try:
            result = await _result(client, job)
        except TimeoutError:
            stages = {row["job"]: row["stage"] for row in (await command(client, "stet.jobs"))["jobs"]}
            self.outcome.wrong.append(f"job {number} ({case.action}, {case.language}) hung in {stages.get(job)}")
            return
        finally:
            done = await typing
        self.outcome.jobs += 1
        self.outcome.slowest_job = max(self.outcome.slowest_job, time.monotonic() - began)
        if uri in client.documents:
            self._check(client.text(uri), before, after, done, result, f"job {number} ({case.action}, {case.language})")
            client.close(uri)
        self._judge(result, number)

    async def _meddle(self, client: RawClient, uri: str, job: str, rng: random.Random) -> str:
        """What the user does while the job runs: mostly nothing."""
        deed = rng.choices(("", "beside", "inside", "cancel", "close"), (60, 12, 12, 10, 6))[0]
        if not deed:
            return ""
        await asyncio.sleep(rng.random() * 0.6)
        match deed:
            case "beside":
                client.change(uri, _typed_above(client.text(uri)))
            case "inside":
                client.change(uri, _typed_inside(client.text(uri)))
            case "cancel":
                await command(client, "stet.cancel", job=job)
            case "close":
                client.close(uri)
        return deed

    def _check(self, text: str, before: str, after: str, deed: str, result: Json, what: str) -> None:
        typed = {"beside": _typed_above, "inside": _typed_inside}.get(deed, str)
        if text not in (typed(before), typed(after)):
            self.outcome.wrong.append(f"{what}: {text}")
        if result["applied"] and text == typed(before):
            self.outcome.wrong.append(f"{what}: it says applied and is not")
        if result["applied"] is False and text == typed(after):
            self.outcome.wrong.append(f"{what}: it says it was not applied and it is")

    def _judge(self, result: Json, number: int) -> None:
        status, message = result["status"], result["message"]
        self.outcome.statuses[status] += 1
        self.outcome.applied += result["applied"] is True
        if status in ("refused", "failed"):
            self.outcome.reasons[_kind(message)] += 1
            self.outcome.capped += CAP_WORDS in message
            if len(message.split()) < 4:
                self.outcome.wrong.append(f"job {number}: no reason was told: {message!r}")

    async def _keep_asking(self, client: RawClient) -> None:
        """The editor's own questions continue, and are answered."""
        while True:
            began = time.monotonic()
            with suppress(ErrorAnswer):
                await client.request("workspace/executeCommand", {"command": "stet.jobs"})
            uri = next(iter(client.documents), None)
            if uri is not None:
                at = {"line": 3, "character": 0}
                context: Json = {"diagnostics": []}
                params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": context}
                await client.request("textDocument/codeAction", params)
            self.outcome.slowest_answer = max(self.outcome.slowest_answer, time.monotonic() - began)
            await asyncio.sleep(0.2)

    def _reply(self, body: Body) -> str:
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        numbers = [int(each) for each in re.findall(r"\bsum(\d+)", prompt)]
        return next((self._right[number] for number in numbers if number in self._right), "Nothing is known of it.")

    def _look_for_secrets(self, models: list[Misbehaving], client: RawClient) -> None:
        """In all that the models received, in what the user was shown besides the edits, and in what was written."""
        places = {
            f"a request to {model.base_url}": json.dumps([one.body for one in model.requests]) for model in models
        }
        messages = [
            each for each in client.messages if each.get("method") in ("window/showMessage", "window/logMessage")
        ]
        places["the messages"] = json.dumps(messages)
        places["standard error"] = client.stderr
        for file in self._home.rglob("*"):
            if file.is_file():
                places[str(file)] = file.read_text(errors="replace")
        self.outcome.secrets_planted = len(self._secrets)
        for place, text in places.items():
            self.outcome.secrets_scanned += len(text)
            for secret in [secret for secret in self._secrets if secret in text][:3]:
                around = text[max(text.index(secret) - 1500, 0) :][:1600].replace(secret, "(secret)")
                self.outcome.wrong.append(f"a secret is in {place}: {around}")


async def _result(client: RawClient, job: str) -> Json:
    """Return the result of a job. TimeoutError if it hangs, which is later than a client gives other requests up."""
    asked = {"command": "stet.result", "arguments": [{"job": job, "wait": True}]}
    call = client.call("workspace/executeCommand", asked)
    result: Json = await asyncio.wait_for(asyncio.shield(call.future), HANGS)
    return result


def _apply(client: RawClient, apply: Callable[[Json], Any], params: Json) -> Any:
    """Applies an edit of an open document; one that its user closed meanwhile is on no disk."""
    uris = {change["textDocument"]["uri"] for change in params["edit"]["documentChanges"]}
    if not uris <= set(client.documents):
        return {"applied": False, "failureReason": "the document was closed"}
    return apply(params)


def _target(text: str) -> str:
    """The function of a text, from the comment above it on."""
    start = re.search(r"^(/\*\*|func|def|function)", text, re.MULTILINE)
    assert start is not None
    return text[start.start() :]


def _typed_above(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"{first}\n\n{rest}"


def _typed_inside(text: str) -> str:
    return text.replace("ones {", "ones  {").replace("total = 0", "total =  0").replace("total := 0", "total :=  0")


def _kind(message: str) -> str:
    """A message without its numbers, addresses and names."""
    return re.sub(r"`[^`]*`|https?://\S+|[\d.,]+", "…", message)[:90]


def _config(models: list[Misbehaving], cap: int) -> str:
    tables = "".join(
        f'[[providers]]\nname = "p{at}"\nbase_url = "{model.base_url}"\nmodel = "m-7b"\napi_key_env = "SCRIPTED_KEY"\n'
        "timeout_first_token = 1.5\ntimeout_token = 1.5\n"
        for at, model in enumerate(models)
    )
    return (
        f'deadline = 15\njobs_at_once = 3\n[model]\ndiscover = false\nembedded = "off"\nbreaker_seconds = 0.2\n'
        f'[checks]\nlive = false\n[editor]\npreview = "never"\n[spending]\ndaily_tokens = {cap}\n{tables}'
    )


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(("STET_", "OPENAI_"))}


def _booked(home: Path) -> int:
    rows: list[dict[str, Any]] = [
        json.loads(line)
        for file in (home / "data" / "ledger").glob("*.jsonl")
        for line in file.read_text().splitlines()
    ]
    return sum(row["prompt_tokens"] + row["completion_tokens"] + row["uncounted"] for row in rows)


def _memory(client: RawClient) -> float:
    """The server's resident memory in MB; 0 where the system does not tell."""
    file = Path(f"/proc/{client.process.pid}/statm") if client.process else Path()
    return int(file.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if file.is_file() else 0.0
