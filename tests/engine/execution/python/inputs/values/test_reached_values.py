"""Inputs reach what code asks of them: patterns, keys of two arguments, parts of several kinds, days of a calendar."""

from __future__ import annotations

import ast
import re
from datetime import date, timedelta

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for

ENOUGH = 12


def given(text: str, unit: str) -> list[dict[str, str]]:
    """The texts of the arguments of each call, by name."""
    rows = (call.setup.splitlines() for call in calls_for(text, unit))
    return [dict(line.split(" = ", 1) for line in lines if " = " in line) for lines in rows]


def values(text: str, unit: str, name: str) -> list[object]:
    """The literals among the values of an argument."""
    found = []
    for row in given(text, unit):
        try:
            found.append(ast.literal_eval(row[name]))
        except (KeyError, ValueError):
            continue
    return found


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        (r"v(\d+)\.(\d+)(?:\.(\d+))?$", ""),
        (r"([a-z_]+)=(?:'[^']*'|\"[^\"]*\")", ""),
        (r"(?P<word>[A-F]{2,})-(?P=word)", ""),
        ("k  # spaces do not count\n \\d", "re.VERBOSE"),
        (r"^\s*(?:yes|no)\b", "re.I"),
    ],
)
def test_texts_match_the_patterns_of_the_module(pattern: str, flags: str) -> None:
    text = f"import re\nTAG = re.compile({pattern!r}, {flags})\ndef f(tag):\n    return TAG.match(tag).groups()\n"
    compiled = re.compile(pattern, eval(flags) if flags else 0)
    found = {each for each in values(text, "f", "tag") if isinstance(each, str) and compiled.match(each)}
    assert len(found) >= ENOUGH or len(found) == len({each.lower() for each in found}) >= 2


def test_a_pattern_that_is_wrong_is_left_alone() -> None:
    assert calls_for("import re\ndef f(tag):\n    return re.match('(', tag)\n", "f")


def test_two_dictionaries_have_keys_in_common_at_all_levels() -> None:
    text = (
        "def merged(base, changes):\n    result = dict(base)\n    for key, value in changes.items():\n"
        "        if isinstance(value, dict) and isinstance(result.get(key), dict):\n"
        "            result[key] = merged(result[key], value)\n        else:\n            result[key] = value\n"
        "    return result\n"
    )
    met = [
        (base, changes) for row in given(text, "merged") if {"base", "changes"} <= row.keys()
        if isinstance(base := _literal(row["base"]), dict) and isinstance(changes := _literal(row["changes"]), dict)
    ]  # fmt: skip
    assert sum(bool(base.keys() & changes.keys()) for base, changes in met) >= ENOUGH
    assert sum(any(isinstance(base.get(key), dict) and isinstance(value, dict) for key, value in changes.items())
               for base, changes in met) >= 3  # fmt: skip


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except ValueError:
        return None


def test_parts_are_of_the_kinds_that_the_code_tells_apart() -> None:
    text = (
        "def query(params):\n    for key in params.keys():\n        value = params[key]\n"
        "        if value is None:\n            continue\n        if value is True:\n            value = 'true'\n"
    )
    kinds = {type(part) for each in values(text, "query", "params") if isinstance(each, dict) for part in each.values()}
    assert {int, bool, type(None)} <= kinds


def test_items_that_are_taken_apart_have_parts_that_come_again() -> None:
    text = "def totals(bookings):\n    found = {}\n    for who, amount in bookings:\n        found[who] = amount\n"
    pairs = [each for each in values(text, "totals", "bookings") if isinstance(each, list) and len(each) > 2]
    again = [each for each in pairs if all(isinstance(item, tuple) and len(item) == 2 for item in each)
             and 1 < len({who for who, _ in each}) < len(each)]  # fmt: skip
    assert len(again) >= ENOUGH


def test_a_day_is_near_those_that_it_is_looked_for_among() -> None:
    text = "from datetime import date\ndef f(day: date, holidays: set[date]) -> bool:\n    return day in holidays\n"
    near = 0
    for row in given(text, "f"):
        day, *others = [
            date(*map(int, each)) for each in re.findall(r"\.date\((\d+), (\d+), (\d+)\)", " ".join(row.values()))
        ]
        near += any(abs(day - each) <= timedelta(days=3) for each in others)
    assert near >= ENOUGH


def test_a_function_fails_with_the_errors_that_the_code_handles() -> None:
    text = (
        "def f(rows, save):\n    for row in rows:\n        try:\n            save(int(row))\n"
        "        except (ValueError, LookupError):\n            pass\n"
    )
    saves = {row.get("save", "") for row in given(text, "f")}
    assert all(any(f"throw({error}(" in each for each in saves) for error in ("ValueError", "LookupError", "OSError"))


def test_each_handler_is_a_function_of_its_own() -> None:
    text = (
        "class Hooks:\n    def __init__(self):\n        self.handlers = []\n\n"
        "    def add(self, handler, priority=0):\n        self.handlers.append((priority, handler))\n\n"
        "    def fire(self, event):\n        return [each(event) for _, each in self.handlers]\n"
    )
    setups = [call.setup for call in calls_for(text, "Hooks.fire")]
    assert sum(len(set(re.findall(r"lambda \*given, \*\*named: \('(\w)'", each))) > 1 for each in setups) >= ENOUGH


def test_objects_of_a_subclass_are_made_too() -> None:
    text = (
        "class Ticket:\n    issued = 0\n\n    def __init__(self, holder):\n        self.holder = holder\n\n"
        "    def label(self):\n        return self.holder\n\n\nclass DayTicket(Ticket):\n    pass\n"
    )
    setups = [call.setup for call in calls_for(text, "Ticket.label")]
    assert sum("obj = DayTicket(" in each for each in setups) >= ENOUGH
    assert sum("obj = Ticket(" in each for each in setups) >= ENOUGH


def test_a_record_has_the_keys_that_the_code_reads() -> None:
    text = "def send(user):\n    return user['address'] if 'mail' in user['channels'] else user['phone']\n"
    records = [each for each in values(text, "send", "user") if isinstance(each, dict)]
    assert sum({"channels", "address", "phone"} <= each.keys() for each in records) >= ENOUGH
    assert any("mail" in each["channels"] for each in records if isinstance(each.get("channels"), list))
