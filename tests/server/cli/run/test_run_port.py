"""`stet run task` with a port from JavaScript to Python: compared on the same inputs, with its tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes.command import Stet
from support.processes.tools import needs
from support.servers.scripted import ScriptedModel

PRICES = """\
const RATE = 1.2;

/** The price with tax, in whole cents. */
function grossPrice(cents, rate = RATE) {
  return Math.round(cents * rate);
}

/** The sum of the lines of a cart; gifts are free. */
function cartTotal(lines) {
  return lines.filter((line) => !line.gift).reduce((sum, line) => sum + line.cents * line.count, 0);
}

module.exports = { grossPrice, cartTotal };
"""
TESTS = """\
const test = require("node:test");
const assert = require("node:assert");
const { grossPrice, cartTotal } = require("./prices.js");

test("tax is added", () => {
  assert.equal(grossPrice(100), 120);
  assert.equal(grossPrice(105, 1.1), 116);
});

test("gifts are free", () => {
  assert.equal(cartTotal([{ cents: 250, count: 2 }, { cents: 100, count: 1, gift: true }]), 500);
  assert.equal(cartTotal([]), 0);
});
"""
WRONG = """\
```python
RATE = 1.2


def gross_price(cents, rate=RATE):
    \"\"\"The price with tax, in whole cents.\"\"\"
    return round(cents * rate)


def cart_total(lines):
    \"\"\"The sum of the lines of a cart; gifts are free.\"\"\"
    return sum(line["cents"] for line in lines if not line.get("gift"))
```
"""
RIGHT = WRONG.replace("round(cents * rate)", "math.floor(cents * rate + 0.5)").replace(
    'line["cents"] for', 'line["cents"] * line["count"] for'
).replace("RATE = 1.2\n", "import math\n\nRATE = 1.2\n", 1)  # fmt: skip
PORTED = """\
```python
from prices import cart_total, gross_price


def test_tax_is_added():
    assert gross_price(100) == 120
    assert gross_price(105, 1.1) == 116


def test_gifts_are_free():
    assert cart_total([{"cents": 250, "count": 2}, {"cents": 100, "count": 1, "gift": True}]) == 500
    assert cart_total([]) == 0
```
"""
ASKED = ("run", "task", "prices.js", "--instruction", "port prices.js to Python with its tests")

pytestmark = needs("node")


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "prices.js").write_text(PRICES)
    (folder / "prices.test.js").write_text(TESTS)
    return folder


def test_a_module_is_ported_with_its_tests(stet: Stet, shop: Path, scripted: ScriptedModel) -> None:
    scripted.replies([WRONG, RIGHT, PORTED])
    ran = stet(*ASKED, "--apply")
    if "not compared" in ran.err:
        pytest.skip(ran.err)
    assert ran.status == 0, ran.err
    _, repair, tests = scripted.requests
    assert "`grossPrice(105, 2.1)` returns 221 there, and returns 220 in prices.py" in repair.prompt
    assert "`cartTotal([" in repair.prompt, "the first call of each function that differs"
    assert "def cart_total" in tests.prompt
    assert "calls of 2 functions agree with prices.js" in ran.out
    assert "2 ported tests pass" in ran.out
    assert "math.floor" in (shop / "prices.py").read_text()
    assert "def test_gifts_are_free" in (shop / "test_prices.py").read_text()
    assert (shop / "prices.js").read_text() == PRICES


def test_a_port_that_still_differs_is_refuted_by_a_call(stet: Stet, shop: Path, scripted: ScriptedModel) -> None:
    scripted.default = WRONG
    ran = stet(*ASKED, "--apply")
    if "not compared" in ran.err:
        pytest.skip(ran.err)
    assert ran.status == 1
    assert "there, and returns" in ran.err
    assert "nothing was written: a check refuted the edit" in ran.err
    assert not (shop / "prices.py").exists()


def test_a_module_of_exports_without_tests_is_compared_by_its_documented_types(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    (folder / "clamp.mjs").write_text(
        "/**\n * @param {number} value\n * @param {number} most\n */\n"
        "export function clampTo(value, most) {\n  return value > most ? most : value;\n}\n"
    )
    scripted.default = "```python\ndef clamp_to(value, most):\n    return min(value, most)\n```\n"
    ran = stet("run", "task", "clamp.mjs", "--instruction", "convert this module to Python", "--apply")
    if "not compared" in ran.err:
        pytest.skip(ran.err)
    assert ran.status == 0, ran.err
    assert "81 calls of 1 function agree with clamp.mjs" in ran.out
    assert "no tests of clamp.mjs were found" in ran.err

    again = stet("run", "task", "clamp.mjs", "--instruction", "convert this module to Python")
    assert again.status == 1
    assert "clamp.py exists already" in again.err
