"""What a text says of its parameters: the keys that it reads, at any depth, whichever branch they are in."""

from __future__ import annotations

from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.execution.python.inputs.uses.observed import LATER, MATCHED, OPTIONAL, ValueUses
from stet_ls.engine.execution.python.inputs.uses.written import written_uses


def uses(text: str) -> ValueUses:
    module = known_module(text)
    subject = subject_of(module, "f") if module else None
    assert subject is not None
    return written_uses(subject)


def test_keys_are_found_in_each_branch() -> None:
    text = "def f(order, level):\n    if level > 9:\n        return order['lines'][0]['price']\n"
    found = uses(text + "    return order.get('note')\n")
    assert found.parts.keys() == {"order"}, "no key of the other one is read"
    assert found.parts["order"].items.keys() == {"'lines'", "'note'"}
    assert OPTIONAL in found.parts["order"].items["'note'"].kinds
    assert OPTIONAL not in found.parts["order"].items["'lines'"].kinds


def test_a_name_bound_to_an_item_stands_for_it() -> None:
    found = uses(
        "def f(users):\n    for user in users:\n        if user['age'] > 3:\n            yield user['name'].upper()\n"
    )
    item = found.parts["users"].items[""]
    assert "iter" in found.parts["users"].kinds
    assert "number" in item.items["'age'"].kinds
    assert "text" in item.items["'name'"].kinds


def test_the_key_of_a_sort_reads_its_items() -> None:
    found = uses("def f(rows):\n    return sorted(rows, key=lambda row: row['rank'])\n")
    assert found.parts["rows"].items[""].items.keys() == {"'rank'"}


def test_what_is_compared_with_each_other_is_matched() -> None:
    found = uses("def f(rows, name):\n    return [row for row in rows if row['name'] == name]\n")
    assert {MATCHED, "text"} <= found.parts["rows"].items[""].items["'name'"].kinds


def test_what_is_iterated_over_asynchronously_comes_later() -> None:
    found = uses("async def f(pages):\n    return [page['title'] async for page in pages]\n")
    assert LATER in found.parts["pages"].kinds


def test_a_text_that_reads_no_key_says_nothing() -> None:
    assert uses("def f(rows):\n    return len(rows) + rows[0]\n").parts == {}
