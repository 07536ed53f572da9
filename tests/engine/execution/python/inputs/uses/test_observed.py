"""Inputs of the shape that a run with stand-ins shows."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import CallOutcome
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.execution.python.inputs.uses.observed import observed_calls, uses_of

_NAMES_IN = """
def names_in(node):
    names = [node.name]
    for child in node.children:
        names.extend(names_in(child))
    return names
"""


def test_a_tree_does_not_get_thousands_of_nodes() -> None:
    uses = {}
    for levels in range(7):
        node = "node" + ".children[]" * levels
        uses |= {f"{node}.name": ("",), f"{node}.children": ("iter",)}
    module = known_module(_NAMES_IN)
    assert module is not None
    subject = subject_of(module, "names_in")
    assert subject is not None
    calls = observed_calls(module, subject, uses_of([CallOutcome("ok", "", uses=uses)], ()), ())
    assert len(calls) > 40
    nodes = [each.setup.count("SimpleNamespace") for each in calls]
    assert 3 < max(nodes) < 200
