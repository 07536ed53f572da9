"""Runs old and new on the same inputs, and tells the first on which they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.judges.attached import comparison
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.compare import Likeness, likeness
from stet_ls.engine.judges.harness.place import Place, alone, place_of
from stet_ls.engine.judges.harness.run import run
from stet_ls.engine.judges.harness.trial import Call, Impossible, Outcome, Report, Trial
from stet_ls.engine.judges.inputs.draw import GUESSED, calls_for
from stet_ls.engine.judges.inputs.examples import test_texts
from stet_ls.engine.judges.inputs.subject import changed_units, read_module
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Attachment, Check, Evidence, Ruling

LEAST_VALID = 20
"""With fewer valid inputs equality says too little to pass."""
_MOST_UNITS = 3
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Difference:
    """A call on which two texts differ, and what each made of it."""

    call: Call
    old: Outcome
    new: Outcome

    @property
    def is_telling(self) -> bool:
        """False where the old code was hardly meant for the input: a TypeError may become another, and a kind that was
        only guessed may be taken no more.
        """
        return self.old.valid and not (
            self.call.origin == GUESSED and self.new.error in ("TypeError", "AttributeError")
        )

    def __str__(self) -> str:
        call = self.call.snippet.replace("\n", "; ") if "try:" not in self.call.snippet else self.call.snippet
        if str(self.old) == str(self.new):
            return f"after `{_cut(call)}` before: {_cut(self.old.variables)}, now: {_cut(self.new.variables)}"
        return f"`{_cut(call)}` was: {_cut(str(self.old))}, now: {_cut(str(self.new))}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What running a unit twice came to: inputs that were compared, valid ones among them, differences."""

    unit: str
    compared: int
    valid: int
    rounded: int
    differences: tuple[Difference, ...]
    left_out: dict[str, int]
    opaque: bool = False
    is_alone: bool = False
    module: str = ""
    texts: tuple[str, str] = ("", "")
    calls: tuple[Call, ...] = ()

    def attachments(self) -> tuple[Attachment, ...]:
        """Runnable files: the counter-example, if there is one, and all inputs that were compared."""
        files = [("inputs", f"The inputs on which old and new `{self.unit}` were compared", self.calls)]
        if self.differences and self.differences[0].call.body:
            title = f"Counter-example: an input on which the new `{self.unit}` behaves otherwise than the old"
            files.insert(0, ("counter_example", title, (self.differences[0].call,)))
        made = (
            comparison(f"{name}_{self.unit.replace('.', '_')}.py", title, self.module, self.texts, calls)
            for name, title, calls in files
            if calls
        )
        return tuple(each for each in made if each is not None)


async def judge(case: Case) -> Evidence:
    """Fails on a counter-example. Passes on enough valid inputs without one; otherwise says what was not possible."""
    if case.language != "python":
        return _skipped(f"behaviour in {case.language} cannot be compared yet")
    if case.runtime is None:
        return _skipped("no code was run")
    units = [case.unit] if case.unit else await asyncio.to_thread(_changed, case)
    if not units:
        return _skipped("the change touches no function or class that could be called")
    done: list[Comparison] = []
    for unit in units[:_MOST_UNITS]:
        found = await compare(case, case.runtime, unit)
        if isinstance(found, Impossible):
            return Evidence(Check.DIFFERENTIAL, Ruling.UNKNOWN, f"`{unit}` was not compared: {found.reason}")
        done.append(found)
    attachments = tuple(file for each in done for file in each.attachments())
    return replace(_evidence(done), attachments=attachments)


async def compare(case: Case, runtime: Runtime, unit: str) -> Comparison | Impossible:
    """Old against new of one unit; where the file cannot be imported, the unit with what it needs of it."""
    before, after = case.before.text, case.after.text
    place, calls = await asyncio.to_thread(_prepare, case, runtime, unit)
    if not calls:
        return Impossible("it is nothing that could be called")
    report = await run(runtime, _trial((before, after), unit, calls, place), place.overlay)
    texts, is_alone = (before, after), False
    if isinstance(report, Report) and report.texts[0].problem:
        single = alone(before, unit), alone(after, unit)
        if single[0] is None or single[1] is None:
            return Impossible(f"the file cannot be imported ({report.texts[0].problem})")
        again = await run(runtime, _trial((single[0], single[1]), unit, calls, place), place.overlay)
        if isinstance(again, Impossible) or again.texts[0].problem:
            return Impossible(f"the file cannot be imported ({report.texts[0].problem})")
        report, texts, is_alone = again, (single[0], single[1]), True
    if isinstance(report, Impossible):
        return report
    return replace(_compared(unit, calls, report), is_alone=is_alone, module=place.name, texts=texts)


def _prepare(case: Case, runtime: Runtime, unit: str) -> tuple[Place, tuple[Call, ...]]:
    place = place_of(case.path, (case.before.text, case.after.text), runtime)
    tests = test_texts(case.path, runtime.root_of(case.path))
    return place, calls_for(case.before.text, unit, tests)


def _trial(texts: tuple[str, ...], unit: str, calls: tuple[Call, ...], place: Place) -> Trial:
    return Trial(
        texts, calls, unit, place.path, place.name, place.roots, place.warm,
        private="." in unit or not unit[:1].isupper(), reads=place.overlay is not None,
    )  # fmt: skip


def _compared(unit: str, calls: Sequence[Call], report: Report) -> Comparison:
    old, new = report.texts[0], report.texts[1] if len(report.texts) > 1 else report.texts[0]
    if new.problem:
        broken = Outcome("raised", "", "import", new.problem)
        differences = [Difference(Call("", "", origin="import"), Outcome("ok", "", results=("loads",)), broken)]
        return Comparison(unit, 0, 0, 0, tuple(differences), dict(report.left_out))
    pairs = [(calls[n], outcome, new.outcomes[n]) for n, outcome in old.outcomes.items() if n in new.outcomes]
    alike = [likeness(before, after) for _, before, after in pairs]
    differences = [Difference(*pair) for pair, how in zip(pairs, alike, strict=True) if how is Likeness.DIFFERENT]
    # A person understands a short call that used to work best.
    differences.sort(key=lambda each: (not each.is_telling, each.old.kind != "ok", len(each.call.snippet)))
    valid = sum(before.valid for _, before, _ in pairs)
    return Comparison(
        unit, len(pairs), valid, alike.count(Likeness.ROUNDED), tuple(differences), dict(report.left_out),
        opaque=bool(pairs) and all(before.opaque for _, before, _ in pairs if before.valid),
        calls=tuple(call for call, _, _ in pairs),
    )  # fmt: skip


def _evidence(done: Sequence[Comparison]) -> Evidence:
    for each in done:
        if each.differences:
            first = each.differences[0]
            if not first.call.body:
                return _ruled(Ruling.FAIL, f"the new code cannot be loaded: {first.new.message}", trusted=True)
            if first.is_telling:
                return _ruled(Ruling.FAIL, str(first), trusted=True)
            return _ruled(Ruling.UNKNOWN, f"differs only on inputs that it may not be meant for: {first}")
    weakest = min(done, key=lambda each: each.valid)
    if weakest.opaque:
        return _ruled(Ruling.UNKNOWN, f"what `{weakest.unit}` returns cannot be compared")
    if weakest.valid < LEAST_VALID and not _is_small(weakest):
        return _ruled(Ruling.UNKNOWN, _too_few(weakest))
    inputs = sum(each.compared for each in done)
    valid = sum(each.valid for each in done)
    said = f"behaves alike on {inputs} inputs ({valid} valid)"
    if any(each.rounded for each in done):
        said += ", but for rounding"
    if any(each.is_alone for each in done):
        said += ", tried without the rest of its file"
    # An answer is as sure as the unit that was compared least.
    return replace(_ruled(Ruling.PASS, said, trusted=True), count=weakest.valid)


def _is_small(each: Comparison) -> bool:
    """Something without parameters has one input, and one is all there is."""
    return each.compared > 0 and each.valid == each.compared and not each.left_out and each.compared < 4


def _too_few(each: Comparison) -> str:
    if each.left_out:
        reason = max(each.left_out, key=lambda why: each.left_out[why])
        return f"`{each.unit}` was not compared: {reason}"
    return f"only {each.valid} of {each.compared} inputs were such as `{each.unit}` takes"


def _changed(case: Case) -> list[str]:
    before, after = read_module(case.before.text), read_module(case.after.text)
    return changed_units(before, after) if before and after else []


def _ruled(verdict: Ruling, detail: str, *, trusted: bool = False) -> Evidence:
    return Evidence(Check.DIFFERENTIAL, verdict, detail, trusted=trusted)


def _skipped(reason: str) -> Evidence:
    return Evidence(Check.DIFFERENTIAL, Ruling.SKIPPED, reason)


def _cut(text: str) -> str:
    text = text.replace("\x01", "")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
