"""Trees and linked lists for parameters of JavaScript whose fields lead to more of their kind."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.javascript.inputs.calls import calls_for

_CASES = {
    "a list of nodes": (
        "export function depth(node) { return 1 + Math.max(0, ...node.children.map(depth)); }", "depth", "children: [{"
    ),
    "a loop over nodes": (
        "export function walk(node) { let n = 1; for (const child of node.parts) n += walk(child); return n; }",
        "walk", "parts: [{",
    ),
    "two nodes": (
        "export function size(tree) { return tree === null ? 0 : 1 + size(tree.left) + size(tree.right); }",
        "size", "left: {left:",
    ),
    "a chain": (
        "export function sum(head) { let n = 0; for (let at = head; at; at = at.next) n += at.value; return n; }",
        "sum", "next: {",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
def test_nodes_hold_nodes(name: str) -> None:
    code, unit, part = _CASES[name]
    setups = [call.setup for call in calls_for(code, "javascript", unit)]
    assert any(part in each for each in setups), setups[:5]
