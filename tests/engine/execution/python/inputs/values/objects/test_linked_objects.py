"""Trees and linked lists for parameters whose attributes lead to more of their kind."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for

_NODE = "class Node:\n    def __init__(self, value, left=None, right=None):\n        self.value = value\n\n\n"
_TOTAL = """def total(node):
    if node is None:
        return 0
    return node.value + total(node.left) + total(node.right)
"""


def test_objects_of_the_class_with_the_parameters_name_are_nested() -> None:
    setups = [call.setup for call in calls_for(_NODE + _TOTAL, "total")]
    assert any(each.count("Node(") > 3 for each in setups)
    assert any(each == "node = None" for each in setups)


def test_without_a_class_plain_objects_are_nested_with_the_attributes_that_are_read() -> None:
    setups = [call.setup for call in calls_for(_TOTAL, "total")]
    deep = next(each for each in setups if each.count("SimpleNamespace(") > 3)
    assert "value=" in deep
    assert "left=" in deep


@pytest.mark.parametrize("loop", ["current = current.next", "current, n = current.next, 1"])
def test_a_linked_list_is_found_by_its_loop(loop: str) -> None:
    code = f"def last(head):\n    current = head\n    while current.next:\n        {loop}\n    return current.value\n"
    setups = [call.setup for call in calls_for(code, "last")]
    assert any(each.count("next=") > 2 for each in setups) is ("," not in loop)


def test_a_method_that_is_called_leads_to_no_other_object() -> None:
    code = "def vowels(text):\n    text = text.lower()\n    return [each for each in text if each in 'aeiou']\n"
    setups = [call.setup for call in calls_for(code, "vowels")]
    assert not any("SimpleNamespace" in each for each in setups)
    assert any(each.startswith("text = '") for each in setups)
