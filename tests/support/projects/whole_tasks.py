"""Eight whole tasks of four kinds on code and data that are not ours, with the model's part of each.

A feature over several files of a package, the analysis of a table with a plot, a port from JavaScript to Python with
its tests, and a rename or move through a package; each is done from the command line and from an editor.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.engine import asks_for_tests
from support.projects import real_package
from support.servers.scripted import Body, ScriptedModel

TABLES = Path(__file__).parents[2] / "fixtures" / "tables"


@dataclass(frozen=True)
class WholeTask:
    """One task.

    `make` fills a folder, `play` is the model's part. `target` is what the command line is given, `document` and
    `files` what an editor has open. `holds` says what each changed or new file contains then, "" for any content.
    """

    name: str
    make: Callable[[Path], None]
    target: str
    document: str
    words: str
    play: Callable[[ScriptedModel], None]
    holds: Mapping[str, str]
    files: tuple[str, ...] = field(default=())


def does(number: int) -> Callable[[Body], bool]:
    """Whether a request is for one step of a plan."""
    return lambda body: f"Now do step {number} alone" in str(body["messages"])


def block(code: str, language: str = "python") -> str:
    """A reply with code."""
    return f"PLAN: as asked\nCODE:\n```{language}\n{code}```\n"


def program(name: str, code: str) -> str:
    """A reply with a program of a task that computes."""
    return f"PLAN: as asked\nFILE: {name}\nCODE:\n```python\n{code}```\n"


SIGNING = """\
import pytest
from itsdangerous import BadSignature, Signer
from itsdangerous.encoding import base64_decode, base64_encode, want_bytes


def test_bytes_come_back():
    assert base64_decode(base64_encode("abc")) == b"abc"
    assert want_bytes("abc") == b"abc"


def test_signatures_are_checked():
    signer = Signer("secret")
    assert signer.unsign(signer.sign("hello")) == b"hello"
    with pytest.raises(BadSignature):
        signer.unsign(b"hello.xyz")
"""


def _signing_package(folder: Path) -> None:
    """A copy of `itsdangerous`, with tests."""
    spec = find_spec("itsdangerous")
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, folder / "itsdangerous", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    (folder / "tests" / "test_signing.py").write_text(SIGNING)
    (folder / "pyproject.toml").write_text('[project]\nname = "itsdangerous"\nversion = "0"\n')


def _ini_package(folder: Path) -> None:
    real_package.copy_package(folder)


def _table(name: str) -> Callable[[Path], None]:
    return lambda folder: shutil.copyfile(TABLES / name, folder / name) and None


SIZES = """\
generate | encoding.py | is_base64 | whether a text has only letters of the alphabet
   accept: example is_base64("ab-_") == True
generate | url_safe.py | payload_size | the bytes of a signed text before its first dot
test | encoding.py | is_base64 | the alphabet, others, and the empty text
check | - | - | the tests of the package
"""
IS_BASE64 = '''\
def is_base64(text: str) -> bool:
    """Whether a text has only letters of the URL-safe alphabet."""
    return all(letter in _base64_alphabet.decode("ascii") for letter in text)
'''
PAYLOAD = '''\
def payload_size(signed: str) -> int:
    """The bytes of a signed text before its first dot."""
    return len(signed.partition(".")[0].encode())
'''
ALPHABET = """\
TESTS:
```python
from itsdangerous.encoding import is_base64


def test_letters_of_the_alphabet():
    assert is_base64("ab-_09")


def test_other_letters():
    assert not is_base64("a+b")


def test_the_empty_text():
    assert is_base64("")
```
"""


def _sizes(scripted: ScriptedModel) -> None:
    scripted.on(does(3), ALPHABET).on(asks_for_tests, "none")
    scripted.on(does(1), block(IS_BASE64)).on(does(2), block(PAYLOAD))
    scripted.reply(SIZES)


SUPPORT = """\
import matplotlib.pyplot as plt
import pandas as pd

table = pd.read_csv("ubuntu.csv", parse_dates=["release", "eol"], dtype={"version": str})
table["days"] = (table["eol"] - table["release"]).dt.days
print(table.loc[table["days"].idxmax(), ["version", "codename", "days"]].to_string())
table[["version", "codename", "days"]].to_csv("support.csv", index=False)
table.plot.bar(x="codename", y="days", figsize=(9, 5))
plt.tight_layout()
plt.savefig("support.png", dpi=80)
"""
GAPS = """\
import csv
from datetime import date

import matplotlib.pyplot as plt

with open("debian.csv", newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["release"]]
days = [date.fromisoformat(row["release"]) for row in rows]
gaps = [(row["codename"], (after - before).days) for row, before, after in zip(rows[1:], days, days[1:])]
print("average:", round(sum(gap for _, gap in gaps) / len(gaps), 1))
with open("gaps.csv", "w", newline="") as file:
    csv.writer(file).writerows([("codename", "days"), *gaps])
plt.bar([name for name, _ in gaps], [gap for _, gap in gaps])
plt.savefig("gaps.png", dpi=60)
"""


def _plots(name: str, code: str, about: str) -> Callable[[ScriptedModel], None]:
    def play(scripted: ScriptedModel) -> None:
        scripted.replies([program(name, code), f"DONE\nSee the table.\n{about}\n"])

    return play


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
PRICES_TESTS = """\
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
PRICES_PORT = """\
import math

RATE = 1.2


def gross_price(cents, rate=RATE):
    return math.floor(cents * rate + 0.5)


def cart_total(lines):
    return sum(line["cents"] * line["count"] for line in lines if not line.get("gift"))
"""
PRICES_PORTED_TESTS = """\
from prices import cart_total, gross_price


def test_tax_is_added():
    assert gross_price(100) == 120
    assert gross_price(105, 1.1) == 116


def test_gifts_are_free():
    assert cart_total([{"cents": 250, "count": 2}, {"cents": 100, "count": 1, "gift": True}]) == 500
    assert cart_total([]) == 0
"""
DISTANCE_PORT = """\
def distance(a, b):
    row = list(range(len(a) + 1))
    for at, letter in enumerate(b, 1):
        before, row[0] = row[0], at
        for i, other in enumerate(a, 1):
            before, row[i] = row[i], min(before + (letter != other), row[i] + 1, row[i - 1] + 1)
    return row[-1]


def closest(text, texts):
    return min(texts, key=lambda each: distance(text, each)) if texts else None
"""
DISTANCE_PORTED_TESTS = """\
from mod import closest, distance


def test_compare():
    assert distance("kitten", "sitting") == 3
    assert distance("", "abc") == 3


def test_find():
    assert closest("fast", ["slow", "faster", "fastest"]) == "faster"
"""


def _prices(folder: Path) -> None:
    (folder / "prices.js").write_text(PRICES)
    (folder / "prices.test.js").write_text(PRICES_TESTS)


def _levenshtein(folder: Path) -> None:
    """The package `fastest-levenshtein`, which npm brings along."""
    npm = shutil.which("npm")
    found = npm and subprocess.run([npm, "root", "-g"], capture_output=True, text=True).stdout.strip()
    package = Path(found or "/") / "npm" / "node_modules" / "fastest-levenshtein"
    if not (package / "test.js").is_file():
        pytest.skip("npm does not bring fastest-levenshtein along")
    shutil.copyfile(package / "mod.js", folder / "mod.js")
    shutil.copyfile(package / "test.js", folder / "mod.test.js")


def _ports(code: str, tests: str) -> Callable[[ScriptedModel], None]:
    return lambda scripted: scripted.replies([f"```python\n{code}```\n", f"```python\n{tests}```\n"]) and None


def _asks_nothing(scripted: ScriptedModel) -> None:
    """A task that is done by rule."""


WHOLE_TASKS = (
    WholeTask(
        "feature-iniconfig", _ini_package, "iniconfig", "iniconfig/__init__.py", real_package.WORDS, real_package.play,
        {"iniconfig/__init__.py": "def section_names", "iniconfig/exceptions.py": "def describe"},
        ("iniconfig/exceptions.py",),
    ),
    WholeTask(
        "feature-itsdangerous", _signing_package, "itsdangerous", "itsdangerous/encoding.py",
        "add is_base64 to encoding.py and test it, and payload_size to url_safe.py", _sizes,
        {"itsdangerous/encoding.py": "def is_base64", "itsdangerous/url_safe.py": "def payload_size",
         "tests/test_encoding.py": "def test_letters_of_the_alphabet"},
        ("itsdangerous/url_safe.py",),
    ),
    WholeTask(
        "analysis-ubuntu", _table("ubuntu.csv"), "ubuntu.csv", "ubuntu.csv",
        "plot how many days each release was supported, from release to eol, and say which was supported longest",
        _plots("support_days.py", SUPPORT, "support.png: a bar for each release"),
        {"support_days.py": "idxmax", "support.csv": "4.10,Warty Warthog,557", "support.png": ""},
    ),
    WholeTask(
        "analysis-debian", _table("debian.csv"), "debian.csv", "debian.csv",
        "plot the days between each release and the one before it as bars, and say how many they are on average",
        _plots("gaps.py", GAPS, "gaps.png: a bar for each release"),
        {"gaps.py": "fromisoformat", "gaps.csv": "Rex,178", "gaps.png": ""},
    ),
    WholeTask(
        "port-prices", _prices, "prices.js", "prices.js", "port prices.js to Python with its tests",
        _ports(PRICES_PORT, PRICES_PORTED_TESTS),
        {"prices.py": "def gross_price", "test_prices.py": "def test_gifts_are_free"},
    ),
    WholeTask(
        "port-levenshtein", _levenshtein, "mod.js", "mod.js", "port mod.js to Python with its tests",
        _ports(DISTANCE_PORT, DISTANCE_PORTED_TESTS), {"mod.py": "def closest", "test_mod.py": "def test_find"},
    ),
    WholeTask(
        "rename-itsdangerous", _signing_package, "itsdangerous/encoding.py", "itsdangerous/encoding.py",
        "rename want_bytes to as_bytes", _asks_nothing,
        {"itsdangerous/encoding.py": "def as_bytes", "itsdangerous/__init__.py": "as_bytes as as_bytes",
         "itsdangerous/timed.py": "value = as_bytes(value)", "tests/test_signing.py": 'as_bytes("abc")'},
        ("itsdangerous/__init__.py", "itsdangerous/timed.py", "tests/test_signing.py"),
    ),
    WholeTask(
        "move-itsdangerous", _signing_package, "itsdangerous/encoding.py", "itsdangerous/encoding.py",
        "move itsdangerous/encoding.py to itsdangerous/base64_text.py", _asks_nothing,
        {"itsdangerous/timed.py": "from .base64_text import want_bytes",
         "tests/test_signing.py": "from itsdangerous.base64_text import"},
        ("itsdangerous/timed.py", "tests/test_signing.py"),
    ),
)  # fmt: skip
