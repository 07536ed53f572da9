"""A private function is compared through what calls it, too."""

from __future__ import annotations

from support.judging import MakeCase, judge_script
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge, judge_unit

MIDDLE = """\
def middle(values: list[int]) -> int | None:
    return _half(sorted(values))


def _half(values):
    return values[len(values) // 2] if values else None
"""
SHOWN = """\
class Shown:
    def __init__(self, width: int = 8) -> None:
        self.width = width

    def lines(self, text: str) -> list[str]:
        return self._filled([("word", part) for part in text.split()])

    def _filled(self, parts):
        lines, line = [], ""
        for kind, part in parts:
            if line and len(line) + len(part) >= self.width:
                lines.append(line)
                line = ""
            line += part + " "
        return [each.rstrip() for each in (*lines, line) if each]
"""


async def test_a_difference_that_no_caller_brings_about_is_a_question(make: MakeCase) -> None:
    after = MIDDLE.replace("return values[len(values) // 2]", "return sorted(values)[len(values) // 2]")
    for evidence in (
        await judge(make(MIDDLE, after, "_half")),
        await judge_unit(make(MIDDLE, after, "_half"), "_half"),
    ):
        assert evidence.verdict is Ruling.UNKNOWN, evidence
        assert evidence.trusted, "the user is asked"
        assert "only if `_half` is called directly" in evidence.detail, evidence


async def test_what_no_run_can_compare_is_still_asked_about(make: MakeCase) -> None:
    locked = "import threading\n\n_LOCK = threading.Lock()\n\n\n" + MIDDLE.replace(
        "    return values[", "    with _LOCK:\n        return values["
    )
    evidence = await judge(make(locked, locked.replace("    with _LOCK:\n        return", "    return"), "_half"))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert evidence.trusted


async def test_without_the_caller_it_is_refuted(make: MakeCase) -> None:
    alone = MIDDLE.partition("\n\n\n")[2]
    after = alone.replace("return values[len(values) // 2]", "return sorted(values)[len(values) // 2]")
    evidence = await judge(make(alone, after, "_half"))
    assert evidence.verdict is Ruling.FAIL, evidence


async def test_a_caller_shows_a_difference(make: MakeCase) -> None:
    evidence = await judge(make(SHOWN, SHOWN.replace(">= self.width", "> self.width"), "Shown._filled"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert ".lines(" in evidence.detail, evidence


async def test_a_caller_proves_what_its_own_inputs_cannot(make: MakeCase) -> None:
    after = SHOWN.replace("return [each.rstrip() for each in (*lines, line) if each]",
                          "lines.append(line)\n        return [each.rstrip() for each in lines if each]")  # fmt: skip
    evidence = await judge(make(SHOWN, after, "Shown._filled"))
    assert evidence.verdict is Ruling.PASS, evidence


SCRIPT = """\
/** @param {number[]} values */
export function middle(values) {
  return half([...values].sort((a, b) => a - b));
}

function half(values) {
  return values.length ? values[Math.floor(values.length / 2)] : null;
}
"""


@needs("node")
async def test_a_function_that_its_module_keeps_to_itself(make: MakeCase) -> None:
    after = SCRIPT.replace("values[Math.floor(", "[...values].sort((a, b) => a - b)[Math.floor(")
    evidence = await judge_script(make, SCRIPT, after, "half")
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert "only if `half` is called directly" in evidence.detail, evidence


@needs("node")
async def test_an_exported_caller_shows_a_difference(make: MakeCase) -> None:
    evidence = await judge_script(make, SCRIPT, SCRIPT.replace("length / 2)", "length / 3)"), "half")
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "middle(" in evidence.detail, evidence
