"""Inputs that a model named: where no other source reaches the code they find what differs, and prove nothing alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.judging import MakeCase, in_each_box

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.judge import judge, judge_unit

BEFORE = '''
import json


def weight(parcel):
    """The weight of what a parcel, as text, sends by air, and one for what goes by sea."""
    total = 0
    for box in json.loads(parcel)["boxes"]:
        if box["by"] == "air":
            total += box["kilos"] * box["count"]
        elif box["by"] == "sea":
            total += 1
    return total
'''
RIGHT = BEFORE.replace('box["kilos"] * box["count"]', 'box["count"] * box["kilos"]')
WRONG = BEFORE.replace(' * box["count"]', "")
CALLS = """\
weight('{"boxes": [{"by": "air", "kilos": 2, "count": 3}, {"by": "sea"}]}')
weight('{"boxes": [{"by": "road"}]}')
weight('{"boxes": []}')
"""
SCRIPT = """
export function weight(parcel) {
  let total = 0;
  for (const box of JSON.parse(parcel).boxes) {
    if (box.by === "air") total += box.kilos * box.count;
    else if (box.by === "sea") total += 1;
  }
  return total;
}
"""
SHELF = '''
class Shelf:
    """Boxes by their codes, as `row/place`."""

    def __init__(self, rows):
        self.rows = {row: {} for row in rows.split(";")}

    def put(self, code, kilos):
        row, place = code.split("/")
        if not place.startswith("p-"):
            raise LookupError(place)
        if kilos > 50:
            kilos = 50
        self.rows[row][int(place.removeprefix("p-"))] = kilos
        return sum(self.rows[row].values())
'''
SCALE = """
import json


class Scale:
    def __init__(self):
        self.total = 0

    def add(self, parcel):
        for box in json.loads(parcel)["boxes"]:
            if box["by"] == "air":
                self.total += box["kilos"] * box["count"]
            elif box["by"] == "sea":
                self.total += 1
        return self.total
"""


async def judged(case: Case, suggested: str) -> tuple[Evidence, Evidence]:
    """The evidence without these calls, and with them."""
    return await judge(case), await judge(replace(case, suggested=suggested))


@in_each_box
async def test_a_difference_that_no_other_input_shows_is_found(make: MakeCase) -> None:
    without, found = await judged(make(BEFORE, WRONG, "weight"), CALLS)
    assert without.verdict is Ruling.UNKNOWN
    assert found.verdict is Ruling.FAIL
    assert found.trusted
    assert "(suggested by the model) was: 7, now: 3" in found.detail


async def test_sameness_on_them_is_counted_and_proves_nothing(make: MakeCase) -> None:
    without, found = await judged(make(BEFORE, RIGHT, "weight"), CALLS)
    assert without.verdict is Ruling.UNKNOWN
    assert found.verdict is Ruling.UNKNOWN, found
    assert ", 3 suggested by the model), but only inputs that the model suggested execute the change" in found.detail
    assert found.count >= 20, "near misses of the calls count, too"


async def test_inputs_that_reach_the_code_need_no_others(make: MakeCase) -> None:
    before = "def double(x: int) -> int:\n    return x * 2\n"
    without, found = await judged(make(before, before.replace("x * 2", "x + x"), "double"), "double(3)")
    assert without.missing is None
    assert found.detail == without.detail


async def test_the_lack_of_inputs_is_reported_with_the_code(make: MakeCase) -> None:
    found = await judge(make(BEFORE + "\n\nUNUSED = 1\n", WRONG + "\n\nUNUSED = 1\n", "weight"))
    assert found.missing is not None
    assert found.missing.unit == "weight"
    assert "as text, sends by air" in found.missing.code
    assert "UNUSED" not in found.missing.code


@pytest.mark.parametrize("line", ["return absent(parcel)", "import absent_package; return absent_package.of(parcel)"])
async def test_no_input_helps_where_a_name_is_not_there(make: MakeCase, line: str) -> None:
    before = f"def weight(parcel):\n    size = 1\n    {line}\n"
    found = await judge(make(before, before.replace("size = 1", "size = 2"), "weight"))
    assert found.verdict is Ruling.UNKNOWN
    assert found.missing is None


async def test_a_lack_is_reported_once_and_not_for_a_change_of_any_origin(make: MakeCase) -> None:
    case = make(BEFORE, RIGHT, "weight")
    assert (await judge(replace(case, suggested="nothing"))).missing is None
    assert (await judge_unit(case, "weight")).missing is None


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I am afraid that I cannot do this.",
        "weight(7)\nweight([])\nweight(None)",  # what the old code refuses
        "weight('{}')\nweight('{\"boxes\": [{}]}')",  # and what it fails on by accident
        "weight(__import__('json').dumps({'boxes': [{'by': 'air', 'kilos': 2, 'count': 3}]}))",
        'other(\'{"boxes": [{"by": "air", "kilos": 2, "count": 3}]}\')',
    ],
)
async def test_a_reply_without_usable_calls_changes_nothing(make: MakeCase, reply: str) -> None:
    without, found = await judged(make(BEFORE, WRONG, "weight"), reply)
    assert (found.verdict, found.detail) == (without.verdict, without.detail)


async def test_no_result_of_a_reply_is_believed(make: MakeCase) -> None:
    expected = "\n".join(f"assert {line} == 'no'" for line in CALLS.splitlines())
    found = (await judged(make(BEFORE, RIGHT, "weight"), expected))[1]
    assert "same behavior on" in found.detail, found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('== "air"', 'in ("air", "rail")'),
        ('box["kilos"] *', 'int(box["kilos"]) *'),
        ('box["kilos"] *', 'abs(box["kilos"]) *'),
        ('box["by"] ==', 'box["by"].lower() =='),
    ],
)
async def test_calls_that_avoid_a_difference_prove_nothing(make: MakeCase, old: str, new: str) -> None:
    """Who wrote the wrong code names the calls."""
    found = await judge(replace(make(BEFORE, BEFORE.replace(old, new, 1), "weight"), suggested=CALLS))
    assert found.verdict is not Ruling.PASS, found


async def test_what_the_documentation_excludes_is_no_input(make: MakeCase) -> None:
    before = '''
def level(reading):
    """The level of a reading like `k:3`, whose number is between 1 and 9."""
    kind, number = reading.split(":")
    if kind == "k":
        return int(number) // 10
    return {"q": 1}[kind]
'''
    found = await judge(replace(make(before, before.replace("// 10", "* 0"), "level"), suggested="level('k:3')"))
    assert found.verdict is not Ruling.FAIL, found


async def test_a_kind_that_the_model_alone_names_refutes_nothing(make: MakeCase) -> None:
    """That bytes are meant at all is its guess."""
    after = BEFORE.replace(' * box["count"]', ' * box["count"] + 0 * len(parcel + "")')
    bytes_too = CALLS + CALLS.replace("weight('", "weight(b'")
    found = await judge(replace(make(BEFORE, after, "weight"), suggested=bytes_too))
    assert found.verdict is Ruling.UNKNOWN, found
    assert "except for inputs of unusual kinds" in found.detail


async def test_a_method_is_called_on_an_object_of_the_reply(make: MakeCase) -> None:
    after = SHELF.replace("kilos = 50\n", "kilos = 51\n")
    reply = 's = Shelf("a;b")\ns.put("a/p-1", 20)\ns.put("a/p-2", 70)\n'
    without, found = await judged(make(SHELF, after, "Shelf.put"), reply)
    assert without.verdict is Ruling.UNKNOWN, without
    assert found.verdict is Ruling.FAIL, found


async def test_a_class_gets_objects_of_the_reply(make: MakeCase) -> None:
    reply = "s = Scale()\n" + 2 * CALLS.replace("weight(", "s.add(")
    without, found = await judged(make(SCALE, SCALE.replace('+= box["kilos"]', '= box["kilos"]'), "Scale"), reply)
    assert without.verdict is Ruling.UNKNOWN, without
    assert found.verdict is Ruling.FAIL, found


async def test_of_javascript_a_difference_is_found(make: MakeCase) -> None:
    case = make(SCRIPT, SCRIPT.replace(" * box.count", ""), "weight")
    without, found = await judged(replace(case, language="javascript"), CALLS)
    assert without.verdict is Ruling.UNKNOWN
    assert found.verdict is Ruling.FAIL, found


async def test_of_javascript_sameness_is_counted(make: MakeCase) -> None:
    case = make(SCRIPT, SCRIPT.replace("box.kilos * box.count", "box.count * box.kilos"), "weight")
    without, found = await judged(replace(case, language="javascript"), CALLS + "weight(process.exit(0))\n")
    assert without.verdict is Ruling.UNKNOWN
    assert "3 suggested by the model" in found.detail, found
