"""`stet demo`: runs the real server over pipes, with itself as the editor, on a small project with real flaws.

Everything happens in a temporary copy. The demo guarantees three things: the planted bug is gone, which it checks with
the linter that found it, a wrong answer is caught, and changes by someone else get the verdicts that they deserve.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from stet_ls.engine.api.actions import OfferedWhen, spec_of
from stet_ls.engine.api.evidence import UNPROVEN, Evidence
from stet_ls.engine.api.request import Selection
from stet_ls.engine.errors import NoModelError, UsageError
from stet_ls.server.cli.command_table import did_you_mean
from stet_ls.server.cli.demo import rejected_answer, verified_changes
from stet_ls.server.cli.demo.language_client import LanguageClient, OpenDocument
from stet_ls.server.cli.inputs.file_diagnostics import diagnostics
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import StatusLine
from stet_ls.server.evidence.evidence_text import percent
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source
from stet_ls.validators.structure import is_stub, units


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One action on one function of the sample. `about` says what is wrong with it."""

    action: str
    file: str
    unit: str
    about: str


BUG = DemoStep("debug", "stock.py", "total_value", "returns a name that does not exist")
"""The planted bug: the demo fails if it is still there afterwards. A search fixes it, without a model."""
STEPS = (
    BUG,
    DemoStep("generate", "stock.py", "names_below", "has a docstring and no body"),
    DemoStep("refactor", "prices.py", "discount", "is a tree of nested ifs"),
    DemoStep("optimize", "stock.py", "find_duplicates", "compares every name with every other"),
    DemoStep("test", "prices.py", "split_bill", "has no test"),
    DemoStep("explain", "prices.py", "split_bill", "needs a second look"),
    DemoStep("analyze", "stock.py", "add_item", "hides a classic trap"),
)
SERVING = ("ready", "asleep")
"""The states in `stet.health` of a model that can answer; one that is asleep starts with the first job."""
WRONG = "wrong"
"""The step that needs no model: a recorded answer that must be rejected."""
VERIFY = "verify"
"""The step that shows `stet verify`; it needs no model either."""
ACTIONS = (*(step.action for step in STEPS), WRONG, VERIFY)


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The outcome of a step."""

    step: DemoStep
    status: str
    seconds: float


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "actions", nargs="*", metavar="ACTION", help=(f"actions to run [default: all]: {', '.join(ACTIONS)}")
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the demo. Returns 0 only if everything that it guarantees holds."""
    for action in arguments.actions:
        if action not in ACTIONS:
            raise UsageError(f"the demo has no action `{action}`: {did_you_mean(action, ACTIONS)}")
    steps = [step for step in STEPS if not arguments.actions or step.action in arguments.actions]
    without_model = [each for each in (WRONG, VERIFY) if not arguments.actions or each in arguments.actions]
    with tempfile.TemporaryDirectory(prefix="stet-demo-") as folder:
        root = Path(folder).resolve() / "shop"
        with resources.as_file(resources.files("stet_ls.server.cli.demo") / "sample") as sample:
            shutil.copytree(sample, root, ignore=shutil.ignore_patterns("__pycache__"))
        return asyncio.run(_play(root, steps, without_model))


async def _play(root: Path, steps: Sequence[DemoStep], without_model: Sequence[str]) -> int:
    caught = await rejected_answer.show(root) if WRONG in without_model else True
    judged = await verified_changes.show(root, root.parent) if VERIFY in without_model else True
    fixed = await _act(root, steps) if steps else True
    return 0 if fixed and caught and judged else 1


async def _act(root: Path, steps: Sequence[DemoStep]) -> bool:
    """Runs the steps; False if the planted bug is still there afterwards."""
    client = await LanguageClient.start([sys.executable, "-m", "stet_ls.server", "--stdio"], root)
    try:
        render.print_line(f"model: {await _model(client, needed=steps != [BUG])}", "bold")
        outcomes = [await _step(client, root, step) for step in steps]
        fixed = _bug_is_gone(client, root) if BUG in steps else True
    finally:
        await client.close()
    _summary(outcomes)
    if BUG in steps:
        verdict = "the planted bug is gone" if fixed else "the planted bug is still there"
        render.print_line(verdict, "green" if fixed else "red")
    return fixed


async def _model(client: LanguageClient, *, needed: bool) -> str:
    """The name and address of the model that serves. NoModelError if none can and one is needed."""
    health = await client.command("stet.health")
    if health["status"] not in SERVING and not needed:
        return "none, the bug is found by search"
    if health["status"] not in SERVING:
        raise NoModelError(f"the demo needs a model: {health['last_fault'] or health['status']}")
    return f"{health['model']} ({health['base_url'] or health['endpoint']})"


async def _step(client: LanguageClient, root: Path, step: DemoStep) -> DemoResult:
    render.print_line(f"\n{step.action}: {step.unit} in {step.file} {step.about}", "bold")
    path = root / step.file
    uri = path.as_uri()
    if uri not in client.documents:
        client.open(path, language_of(path))
    before = dict(client.documents)
    files = _texts(root)
    client.created.clear()
    line = StatusLine()
    client.on_progress = lambda text: line.show(text[:78])
    started = time.monotonic()
    job = await client.command(f"stet.{step.action}", _argument(uri, before[uri].source, path, step))
    result = await client.command("stet.result", {"job": job["job"], "wait": True})
    seconds = time.monotonic() - started
    line.clear()
    _print_result(client, root, before, files, result)
    render.print_line(f"{result['status']} in {seconds:.1f} s", "dim")
    return DemoResult(step, result["status"], seconds)


def _texts(root: Path) -> Mapping[Path, str]:
    return {file: file.read_text("utf-8") for file in root.rglob("*.py")}


def _argument(uri: str, source: Source, path: Path, step: DemoStep) -> dict[str, Any]:
    """The argument that an editor sends: the cursor, and for a quick fix the diagnostics of its servers there."""
    unit = next(each for each in units(source, language_of(path)) if each.name == step.unit)
    at = unit.span.start if unit.body is None else unit.body.start
    line, character = source.position(at, "utf-8")
    # There is no user to ask: an edit that failed a check is refused.
    argument: dict[str, Any] = {"uri": uri, "position": {"line": line, "character": character}, "preview": "never"}
    if spec_of(step.action).offered is OfferedWhen.PROBLEM:
        found = diagnostics(source, language_of(path), path, Selection(unit.span))
        argument["diagnostics"] = [
            {"range": _range(source, each.span.start, each.span.end), "message": each.message, "source": each.source}
            for each in found
        ]
    return argument


def _range(source: Source, start: int, end: int) -> Mapping[str, Any]:
    names = ("line", "character")
    places = (dict(zip(names, source.position(at, "utf-8"), strict=True)) for at in (start, end))
    return dict(zip(("start", "end"), places, strict=True))


def confidence_line(answer: Mapping[str, Any]) -> str:
    """How sure an answer is; it has an interval only where too few like it were counted."""
    return f"{percent(answer['confidence'], answer['metadata'].get('confidence_interval'))} % sure"


def _print_result(
    client: LanguageClient,
    root: Path,
    before: Mapping[str, OpenDocument],
    files: Mapping[Path, str],
    result: Mapping[str, Any],
) -> None:
    """Prints the diffs against the open documents and the former files, the report, and the evidence."""
    for uri, document in client.documents.items():
        if uri in before and document.source != before[uri].source:
            name = _relative(uri, root)
            render.print_diff(render.unified_diff(before[uri].source.text, document.source.text, name))
    for uri, text in client.created.items():
        name = _relative(uri, root)
        render.print_diff(render.unified_diff(files.get(root / name), text, name))
    if result.get("markdown"):
        render.print_markdown(result["markdown"])
    answer = result.get("answer") or {}
    render.print_evidence(map(Evidence.from_json, answer.get("evidence", ())))
    metadata = answer.get("metadata") or {}
    done = result["status"] == "done"
    if not done:
        render.print_line(result["message"], "yellow")
    elif answer.get("edits"):
        render.print_line(confidence_line(answer), "bold")
    if done and answer.get("edits") and metadata.get("raised_by") and metadata.get("evidence_tier") in UNPROVEN:
        asked = f"No check ran this edit, so an editor asks before it applies it; {metadata['raised_by']}"
        render.print_line(asked, "yellow")


def _relative(uri: str, root: Path) -> str:
    return uri.removeprefix(f"{root.as_uri()}/")


def _bug_is_gone(client: LanguageClient, root: Path) -> bool:
    """Whether the linter that found the bug finds nothing there now, and the function still works."""
    path = root / BUG.file
    source = client.documents[path.as_uri()].source
    unit = next((each for each in units(source, "python") if each.name == BUG.unit), None)
    if unit is None or is_stub(source, "python", unit):
        return False
    body = source.slice(unit.span)
    works = all(name in body for name in ("price", "quantity", "return"))
    return works and not diagnostics(source, "python", path, Selection(unit.span))


def _summary(outcomes: Sequence[DemoResult]) -> None:
    render.print_line("")
    rows = [(each.step.action, f"{each.seconds:.1f} s", each.status) for each in outcomes]
    render.print_table(rows)
