"""What is a port, and which calls of a module are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench
from support.servers.scripted import ScriptedModel

from stet_ls.engine.actions.porting.javascript_calls import shown_calls, typed_parameters
from stet_ls.engine.actions.porting.requested import port_request
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.validators.source import Source


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "src" / "__tests__").mkdir(parents=True)
    for name in ("src/cartTotal.js", "src/__tests__/cartTotal.test.js", "plain.js"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "target", "tests"),
    [
        ("port src/cartTotal.js to Python with its tests", "src/cart_total.py", "src/__tests__/cartTotal.test.js"),
        ("Please translate cartTotal.js into python", "src/cart_total.py", "src/__tests__/cartTotal.test.js"),
        ("convert this module to Python", "src/cart_total.py", "src/__tests__/cartTotal.test.js"),
        ("rewrite it in Python as carts.py", "src/carts.py", "src/__tests__/cartTotal.test.js"),
        ("port plain.js to Python as shop/plain.py", "shop/plain.py", ""),
    ],
)
def test_a_request_for_a_port_is_known_by_rule(shop: Path, words: str, target: str, tests: str) -> None:
    request = Request("task", "javascript", Source(""), path=shop / "src/cartTotal.js", workspace=Workspace((shop,)))
    found = port_request(request, words)
    assert found is not None
    assert found.target == shop / target
    assert found.tests == (shop / tests if tests else None)


@pytest.mark.parametrize(
    "words",
    ["port nothing.js to Python", "translate the comments to Python style", "convert sales.csv to sales.json",
     "write a function in Python", "report the total to Python users"],
)  # fmt: skip
def test_anything_else_is_none(shop: Path, words: str) -> None:
    request = Request("task", "javascript", Source(""), path=shop / "src/cartTotal.js", workspace=Workspace((shop,)))
    assert port_request(request, words) is None


async def test_a_port_leaves_the_workspace_alone_that_it_is_not_asked_about(
    shop: Path, scripted: ScriptedModel, stet_home: Path
) -> None:
    async with Bench(scripted) as bench:
        answer = await bench.run(
            "task", "$0let x = 1;\n", language="javascript", path=shop / "plain.js", workspace=Workspace((shop,)),
            instruction="port plain.js to Python as ../../evil.py",
        )  # fmt: skip
    assert not answer.success
    assert "is outside of" in answer.message
    assert not scripted.requests


def test_calls_that_a_text_writes_out_are_known() -> None:
    text = 'assert.equal(total([{ a: ")" }], (1 + 2)), 3); // total(2)\ntotal(unclosed'
    assert ("total", '[{ a: ")" }], (1 + 2)') in shown_calls(text)
    assert ("total", "2") in shown_calls(text)
    assert len([name for name, _ in shown_calls(text) if name == "total"]) == 2


def test_the_types_of_parameters_are_those_of_the_documentation() -> None:
    text = "/** Adds.\n * @param {number} a\n * @param {String} b\n */\nexport const add = (a, b) => a + b;\n"
    assert typed_parameters(text + "/** Nothing. */\nfunction other(x) {}\n") == {"add": ["number", "string"]}
