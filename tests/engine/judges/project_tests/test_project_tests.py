"""The project's own tests as a judge: which are found, and what before and after make of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import in_each_box
from support.processes.busy import too_busy_for

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.discovery import TouchingTests, is_test, touching_tests
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.engine.judges.project_tests.reachability import names_leading_to
from stet_ls.engine.sandbox.environments.interpreter import Environment, Interpreter, bare_environment
from stet_ls.engine.sandbox.files.mounts import interpreter as binds
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

PRICES = """def discount(price, rate):
    return price * (1 - rate)


def total(prices):
    return sum(prices)
"""
TESTS = """from shop.prices import discount, total


def test_discount():
    assert discount(100, 0.25) == 75


def test_total():
    assert total([1, 2]) == 3
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {
        "shop/__init__.py": "",
        "shop/prices.py": PRICES,
        "shop/cart.py": "from shop.prices import total\n\n\ndef pay(cart):\n    return total(cart)\n",
        "shop/other.py": "def alone():\n    return 1\n",
        "tests/test_prices.py": TESTS,
        "tests/test_cart.py": "from shop.cart import pay\n\n\ndef test_pay():\n    assert pay([2, 2]) == 4\n",
        "tests/test_other.py": "from shop.other import alone\n\n\ndef test_alone():\n    assert alone() == 1\n",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def python() -> Environment:
    """This interpreter, without the plugins of this repository's own tests: they take seconds to load."""
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return bare_environment(
        Interpreter(Path(sys.executable), sys.version_info[:3], binds(), bare, modules=frozenset({"pytest"}))
    )


Judged = Callable[..., Awaitable[Evidence]]


@pytest.fixture
async def judged(shop: Path, probes: Path, backend: str) -> AsyncIterator[Judged]:
    """Judges a text of `prices.py`."""
    sandbox = Sandbox(IsolationLevel.STRONG, probes, backend=backend)

    async def ask(
        after: str,
        *,
        before: str = PRICES,
        unit: str = "discount",
        action: str = "refactor",
        buffers: tuple[Buffer, ...] = (),
    ) -> Evidence:
        runtime = Runtime(sandbox, python(), Workspace((shop,), buffers))
        case = Case(action, "python", shop / "shop/prices.py", Source(before), Source(after), unit, runtime=runtime)
        return await judge(case)

    yield ask
    await sandbox.close()


def test_tests_are_found_by_what_they_import_and_name(shop: Path) -> None:
    def found(path: str, unit: str) -> tuple[str, ...]:
        return touching_tests(shop, shop / path, unit, "python", {}).tests

    assert found("shop/prices.py", "discount") == ("tests/test_prices.py",)
    assert found("shop/cart.py", "pay") == ("tests/test_cart.py",)
    assert found("shop/other.py", "") == ("tests/test_other.py",)
    (shop / "tests/test_prices.py").unlink()
    assert found("shop/prices.py", "total") == ("tests/test_cart.py",), "by way of the module between"


GO = {
    "a/x.go": "package a\nfunc Sum() int { return 1 }\n",
    "a/x_test.go": "package a\nfunc TestSum(t *testing.T) { Sum() }\n",
    "a/y_test.go": "package a\nfunc TestY(t *testing.T) {}\n",
}
SCRIPT = {
    "src/sum.ts": "export function sum() {}\n",
    "src/sum.test.ts": 'import { sum } from "./sum";\nsum();\n',
    "src/b.test.ts": 'import { b } from "./b";\n',
}
JAVA = {
    "src/main/java/p/Sum.java": "package p; class Sum {}",
    "src/test/java/p/SumTest.java": "package p; class SumTest { Sum s; }",
}


@pytest.mark.parametrize(
    ("language", "files", "target", "unit", "expected"),
    [
        ("go", GO, "a/x.go", "Sum", "a/x_test.go"),
        ("typescript", SCRIPT, "src/sum.ts", "sum", "src/sum.test.ts"),
        ("java", JAVA, "src/main/java/p/Sum.java", "Sum", "src/test/java/p/SumTest.java"),
    ],
)
def test_tests_of_other_languages_are_found(
    tmp_path: Path, language: str, files: dict[str, str], target: str, unit: str, expected: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert touching_tests(tmp_path, tmp_path / target, unit, language, {}) == TouchingTests((expected,))


def test_an_unsaved_test_is_found(shop: Path) -> None:
    path = shop / "tests/test_new.py"
    assert (
        touching_tests(shop, shop / "shop/prices.py", "discount", "python", {path: TESTS}).tests[0]
        == "tests/test_new.py"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/test_a.py", True),
        ("a_test.go", True),
        ("tests/conftest.py", False),
        ("latest.py", False),
        ("src/contest.py", False),
    ],
)
def test_test_files_are_recognized_by_name(path: str, expected: bool) -> None:
    assert is_test(path) is expected


COLOURS = """def hsv(colour):
    return colour


def hls(colour):
    return _parts(colour)


def _parts(colour):
    return colour


class Mixer:
    def __init__(self, base):
        self.base = self._clean(base)

    def _clean(self, base):
        return base

    def mix(self, other):
        return other
"""


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("hsv", {"hsv"}),
        ("_parts", {"_parts", "hls"}),
        ("Mixer.mix", {"mix"}),
        ("Mixer._clean", {"_clean", "__init__", "Mixer"}),
    ],
)
def test_the_names_of_a_unit_are_collected(unit: str, expected: set[str]) -> None:
    assert names_leading_to(COLOURS, unit, "python") == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (COLOURS + "\nTABLE = {'a': hls}\n", "python"),
        (COLOURS.replace("def hls", "@app.route('/')\ndef hls"), "python"),
        ("function hls() {}\nmodule.exports = hls;\n", "javascript"),
    ],
)
def test_a_unit_passed_to_other_code_may_run_under_any_name(text: str, language: str) -> None:
    assert names_leading_to(text, "hls", language) is None


def test_a_list_of_public_names_is_not_a_use() -> None:
    text = f"__all__ = [\n    'hls',\n]\n{COLOURS}\n\nif __name__ == '__main__':\n    print(hls(1))\n"
    assert names_leading_to(text, "hls", "python") == {"hls"}


async def test_tests_that_never_name_the_unit_prove_nothing_about_it(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").write_text(TESTS.partition("def test_total")[0].replace(", total", ""))
    evidence = await judged(PRICES.replace("sum(prices)", "max(prices)"), unit="total")
    assert evidence.verdict is Ruling.FAIL, "the test of what calls it does"
    (shop / "tests/test_cart.py").unlink()
    evidence = await judged(PRICES.replace("sum(prices)", "max(prices)"), unit="total")
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False)
    assert evidence.detail == "1 test passes, but it does not execute `total`"


def test_a_source_file_named_like_a_test_helper_is_not_one(shop: Path) -> None:
    (shop / "shop/utils.py").write_text("def first(xs):\n    return xs[0]\n\n\ndef last(xs):\n    return xs[-1]\n")
    (shop / "tests/test_utils.py").write_text("from shop.utils import last\n\n\ndef test_last():\n    last([1])\n")
    (shop / "shop/more.py").write_text("from shop.utils import first\n\n\ndef head(xs):\n    return first(xs)\n")
    (shop / "tests/test_more.py").write_text("from shop.more import head\n\n\ndef test_head():\n    head([1])\n")
    for unit, further in (("last", ()), ("first", ("tests/test_more.py",))):
        found = touching_tests(shop, shop / "shop/utils.py", unit, "python", {})
        assert found.tests == ("tests/test_utils.py", *further)


async def test_equal_code_passes(shop: Path, judged: Judged) -> None:
    evidence = await judged(PRICES.replace("price * (1 - rate)", "price - price * rate"))
    assert (evidence.verdict, evidence.detail, evidence.trusted) == (
        Ruling.PASS, "1 test passes; 1 more do not execute the change", True
    )  # fmt: skip


@in_each_box
async def test_a_test_that_passed_must_still_pass(shop: Path, judged: Judged) -> None:
    evidence = await judged(PRICES.replace("1 - rate", "1 + rate"))
    assert evidence.verdict is Ruling.FAIL
    assert evidence.detail == "test_discount fails: 125.0 == 75 is false (passed before)"
    assert evidence.trusted
    assert (shop / "shop/prices.py").read_text() == PRICES


async def test_the_output_of_a_failure_shows_only_frames_of_the_user(shop: Path, judged: Judged) -> None:
    """Two dozen frames of pytest lie between its start and the test."""
    evidence = await judged(PRICES.replace("1 - rate", "1 + rate"), unit="discount")
    (output,) = evidence.attachments
    assert "tests/test_prices.py:5 in test_discount" in output.text
    assert "pytest" not in output.text, output.text
    assert "runpy" not in output.text


async def test_a_failure_without_a_message_shows_its_line(shop: Path, judged: Judged) -> None:
    """As a plain `assert` where there is no pytest."""
    (shop / "tests/test_prices.py").write_text(
        TESTS.replace("assert total([1, 2]) == 3", "if total([2]) != 2: raise OSError")
    )
    evidence = await judged(PRICES.replace("sum(prices)", "0"))
    assert "test_total fails: OSError: `if total([2]) != 2: raise OSError` (passed before)" in evidence.detail


async def test_a_module_that_no_longer_imports_fails(shop: Path, judged: Judged) -> None:
    evidence = await judged("import nonesuch\n" + PRICES)
    assert evidence.verdict is Ruling.FAIL
    assert "nonesuch" in evidence.detail


@in_each_box
async def test_code_that_exits_the_process_does_not_pass(shop: Path, judged: Judged) -> None:
    evidence = await judged("import os\nos._exit(0)\n" + PRICES)
    assert evidence.verdict is Ruling.FAIL


@in_each_box
async def test_a_fix_must_make_the_failing_test_pass(shop: Path, judged: Judged) -> None:
    broken = PRICES.replace("1 - rate", "1 + rate")
    (shop / "shop/prices.py").write_text(broken)
    evidence = await judged(PRICES, before=broken, action="debug")
    said = "1 test passes, 1 of them failed before; 1 more do not execute the change"
    assert (evidence.verdict, evidence.detail) == (Ruling.PASS, said)
    still = await judged(broken.replace("rate):", "rate=0):"), before=broken, action="debug")
    assert still.verdict is Ruling.FAIL
    assert still.detail == "test_discount fails: 125.0 == 75 is false (as before)"


async def test_an_old_failure_of_another_function_does_not_count(shop: Path, judged: Judged) -> None:
    """To the one that is fixed, and to one that is written again."""
    broken = PRICES.replace("1 - rate", "1 + rate")
    (shop / "shop/prices.py").write_text(broken)
    mended = await judged(
        broken.replace("sum(prices)", "sum(list(prices))"), before=broken, action="debug", unit="total"
    )
    assert (mended.verdict, mended.detail) == (Ruling.PASS, "1 test passes; 1 fail as before")
    new = f"{broken}\n\ndef largest(prices):\n    return max(prices)\n"
    written = await judged(new, before=broken, action="generate", unit="")
    assert written.verdict is not Ruling.FAIL, written
    assert "1 fail as before" in written.detail


async def test_a_target_used_through_a_test_helper_is_found(shop: Path, judged: Judged) -> None:
    broken = PRICES.replace("1 - rate", "1 + rate")
    (shop / "shop/prices.py").write_text(broken)
    (shop / "tests/conftest.py").write_text(
        "import pytest\nfrom shop.prices import discount\n\n\n@pytest.fixture\ndef cheap():\n"
        "    return discount(100, 0.25)\n"
    )
    (shop / "tests/test_prices.py").write_text(
        f"{TESTS.replace('discount(100, 0.25)', 'cheap').replace('test_discount()', 'test_discount(cheap)')}"
    )
    evidence = await judged(broken.replace("rate):", "rate=0):"), before=broken, action="debug")
    assert evidence.verdict is Ruling.FAIL, evidence


async def test_a_test_that_failed_before_does_not_count_against_a_refactoring(shop: Path, judged: Judged) -> None:
    broken = PRICES.replace("1 - rate", "1 + rate")
    after = broken.replace("price *", "1 * price *").replace("sum(prices)", "sum([*prices])")
    evidence = await judged(after, before=broken)
    assert evidence.verdict is Ruling.UNKNOWN, "what is left runs `total` alone"
    assert evidence.detail == "1 test passes; 1 fail as before, but it does not execute `discount`"


# What counts is what ran ----------------------------------------------------------------------------------------------

LOST = "\n\ndef largest(prices):\n    return 7\n"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (PRICES + LOST, "2 tests pass, but none of them executes `largest`"),
        (PRICES.replace("sum(prices)", "sum([*prices])") + LOST, "2 tests pass, but none of them executes `largest`"),
        (PRICES + "\n\nclass Till:\n    size = 1\n", "2 tests pass, but none of them executes `Till`"),
        (
            PRICES + "\n\nclass Till:\n    def open(self):\n        return 1\n",
            "2 tests pass, but none of them executes `Till`",
        ),
        (PRICES + "\n\nRATE = 3\n", "2 tests pass, but none of them executes `RATE`"),
        (PRICES + "# a comment\n", "2 tests pass, but the edit changes no executable code"),
    ],
    ids=["a function", "a function next to a change", "fields", "a class", "a constant", "a comment"],
)
@pytest.mark.parametrize("unit", ["", "total"])
async def test_an_uncalled_function_is_not_proven(judged: Judged, text: str, detail: str, unit: str) -> None:
    evidence = await judged(text, unit=unit, action="generate")
    assert (evidence.verdict, evidence.trusted, evidence.count) == (Ruling.UNKNOWN, False, 0)
    assert evidence.detail == detail


USES = {
    "a function": (LOST, "from shop.prices import largest\n\ndef test_new():\n    assert largest([1]) == 7\n"),
    "a class": (
        "\n\nclass Till:\n    def open(self):\n        return 1\n",
        "from shop import prices\n\ndef test_new():\n    assert prices.Till().open() == 1\n",
    ),
    "a constant": ("\n\nRATE = 3\n", "from shop.prices import RATE\n\ndef test_new():\n    assert RATE == 3\n"),
    "at load": (
        LOST, "from shop.prices import largest\n\nFOUND = largest([])\n\ndef test_new():\n    assert FOUND == 7\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "test"), USES.values(), ids=USES)
async def test_a_change_that_a_test_runs_is_proven(shop: Path, judged: Judged, code: str, test: str) -> None:
    """The test was there before the code, or the code would pass whatever is written."""
    (shop / "tests/test_new.py").write_text(test)
    evidence = await judged(PRICES + code, unit="", action="generate")
    assert (evidence.verdict, evidence.trusted, evidence.count) == (Ruling.PASS, True, 1), evidence
    assert evidence.detail.startswith("1 test passes")
    assert evidence.detail.endswith("; 2 more do not execute the change")
    same = await judged(PRICES + code, before=PRICES + re.sub("[137]", "8", code), unit="", action="debug")
    assert same.verdict is Ruling.PASS, same


async def test_code_run_in_another_process_is_proven_by_the_test_it_fixes(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").write_text(
        "import subprocess, sys\nimport shop.prices\n\n\ndef test_total():\n"
        "    run = [sys.executable, '-c', 'from shop.prices import total; print(total([1, 2]))']\n"
        "    assert subprocess.run(run, capture_output=True, text=True).stdout == '3\\n'\n"
    )
    broken = PRICES.replace("sum(prices)", "max(prices)")
    mended = await judged(PRICES, before=broken, unit="total", action="debug")
    assert (mended.verdict, mended.detail) == (Ruling.PASS, "1 test passes, 1 of them failed before"), mended
    unseen = await judged(PRICES.replace("sum(prices)", "sum([*prices])"), unit="total")
    assert unseen.verdict is Ruling.UNKNOWN


BESIDE = {
    "what another part of the edit fixes": (
        ("RATE = 1", "RATE = 2\n\n\ndef lost():\n    return 7"),
        "assert prices.RATE == 2",
        "`lost`",
    ),
    "a generator that no one asks": (("RATE = 1", "def lost():\n    yield 7"), "assert prices.lost()", "`lost`"),
    "a lambda that no one calls": (("RATE = 1", "lost = lambda: 7"), "assert prices.lost", "`lost`"),
    "a branch on the line of its condition": (("return 0", "return 7"), "assert prices.half(2) == 1", "`half`"),
    "the other branch of an expression": (("else 0", "else 7"), "assert prices.part(2) == 1", "`part`"),
    "a field, where its class is used": (("wait = 1", "wait = 9"), "assert prices.Till().open()", "`Till.wait`"),
    "a constant that is named in a comment": (("RATE = 1", "RATE = 2"), "pass  # RATE", "`RATE`"),
    "a constant in a branch that does not run": (("SIZE = 1", "SIZE = 9"), "assert prices.SIZE == 3", "`SIZE`"),
    "another import for who does not run": (("import ceil as", "import floor as"), "assert prices.RATE", "`up`"),
}
OTHERS = """import sys
RATE = 1
SIZE = 3
if sys.platform == "nowhere":
    SIZE = 1


from math import ceil as up


def half(n):
    if n < 0: return 0
    return up(n / 2)


def part(n):
    return 1 if n else 0


class Till:
    wait = 1

    def open(self):
        return True

    def shut(self):
        return self.wait
"""


@pytest.mark.parametrize(("change", "test", "missed"), BESIDE.values(), ids=BESIDE)
async def test_a_test_that_does_not_run_the_change_proves_nothing(
    shop: Path, judged: Judged, change: tuple[str, str], test: str, missed: str
) -> None:
    (shop / "tests/test_prices.py").write_text(f"from shop import prices\n\n\ndef test_it():\n    {test}\n")
    evidence = await judged(OTHERS.replace(*change), before=OTHERS, unit="", action="generate")
    assert (evidence.verdict, evidence.count) == (Ruling.UNKNOWN, 0), evidence
    assert evidence.detail.endswith(f"but it does not execute {missed}")


@pytest.mark.parametrize(
    ("change", "test"),
    [(("return 0", "return 7"), "assert prices.half(-2) == 7"), (("else 0", "else 7"), "assert prices.part(0) == 7")],
    ids=["a branch on the line of its condition", "the other branch of an expression"],
)
async def test_a_change_without_own_lines_is_proven_if_tests_detect_a_planted_error(
    shop: Path, judged: Judged, change: tuple[str, str], test: str
) -> None:
    (shop / "tests/test_prices.py").write_text(f"from shop import prices\n\n\ndef test_it():\n    {test}\n")
    evidence = await judged(OTHERS.replace(*change), before=OTHERS, unit="", action="debug")
    assert (evidence.verdict, evidence.count) == (Ruling.PASS, 1), evidence


async def test_tests_in_the_file_that_the_edit_changes_prove_nothing(runtime: Runtime, shop: Path) -> None:
    old = "from shop.prices import total\n\n\ndef test_total():\n    assert total([1]) == 2\n"
    path = shop / "tests/test_prices.py"
    path.write_text(old)
    here = replace(runtime, workspace=Workspace((shop,)))
    new = Source(old.replace("total([1]) == 2", "True"))
    evidence = await judge(Case("debug", "python", path, Source(old), new, "test_total", runtime=here))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert evidence.detail.endswith("but it stands in the file that the edit changes")


async def test_parts_of_the_change_that_did_not_run_are_reported(judged: Judged) -> None:
    after = PRICES.replace("    return price", "    if rate > 1:\n        raise ValueError(rate)\n    return price")
    evidence = await judged(after)
    assert evidence.verdict is Ruling.PASS
    assert "; no test runs line 3: `raise ValueError(rate)`" in evidence.detail


# Tests that pass now and then -----------------------------------------------------------------------------------------

STEADY = PRICES.replace("1 - rate", "1.0 - rate").replace("sum(prices)", "sum([*prices])") + "# new\n"
LUCK = """

def test_luck():
    assert hash(WORD + str('# new' in open('shop/prices.py').read())) % 2
"""


def luck(before: str, after: str) -> str:
    """Tests with one that rests on the order of hashes, as "+-" or "--" says of its first and second run.

    Which word ends how is decided by the interpreter that runs the tests: the same one, with the same seeds.
    """
    code = "for w in range(2000): print(w, *('-+'[hash(f'{w}{new}') % 2] for new in (False, True)))"
    ends = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout.split()
        for seed in ("0", "1")
    ]
    words = iter(zip(*ends, strict=True))
    for (word, _), old, new in zip(words, words, words, strict=True):
        if ("".join(old), "".join(new)) == (before, after):
            return f"WORD = '{word}'\n{TESTS}{LUCK}"
    raise AssertionError("one word of sixteen does")


@pytest.mark.parametrize("after", ["-+", "--"])
async def test_a_test_that_is_flaky_without_the_change_is_ignored(shop: Path, judged: Judged, after: str) -> None:
    """Also if it failed each time with the change: one that fails half of the time does so often enough."""
    (shop / "tests/test_prices.py").write_text(luck("+-", after))
    evidence = await judged(STEADY)
    said = "2 tests pass; ignored as flaky before the change: test_luck"
    assert (evidence.verdict, evidence.detail, evidence.count) == (Ruling.PASS, said, 2)


async def test_a_test_that_is_flaky_only_with_the_change_is_undecided(
    shop: Path, judged: Judged
) -> None:  # fmt: skip
    (shop / "tests/test_prices.py").write_text(luck("++", "-+"))
    evidence = await judged(STEADY)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False)
    assert evidence.detail == "1 test had varying results: test_luck"


async def test_a_test_that_always_fails_only_with_the_change_refutes_it(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").write_text(luck("++", "--"))
    evidence = await judged(STEADY)
    assert evidence.verdict is Ruling.FAIL
    assert "test_luck fails" in evidence.detail


@pytest.mark.parametrize("text", [PRICES, PRICES.replace("1 - rate", "1.0 - rate")], ids=["before", "after"])
async def test_a_test_that_got_no_processor_time_does_not_refute(
    shop: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    too_busy_for(monkeypatch, lambda spec: text.encode() in (spec.overlay.buffers.values() if spec.overlay else ()))

    told = await judged(PRICES.replace("1 - rate", "1.0 - rate"))

    assert told.verdict is Ruling.UNKNOWN
    assert "the machine was too busy" in told.detail


@pytest.mark.parametrize("text", [PRICES, PRICES.replace("1 -", "2 -")], ids=["before", "after"])
async def test_a_second_run_without_processor_time_proves_nothing(
    shop: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Whether the test that failed is a flaky one is then open: a person is asked."""
    too_busy_for(
        monkeypatch,
        lambda spec: (
            spec.env.get("PYTHONHASHSEED") == "1"
            and text.encode() in (spec.overlay.buffers.values() if spec.overlay else ())
        ),
    )

    told = await judged(PRICES.replace("1 -", "2 -"))

    assert (told.verdict, told.trusted) == (Ruling.UNKNOWN, True)
    assert told.detail.startswith("test_discount fails: ")
    assert "but not confirmed by a second run: stopped: the machine was too busy" in told.detail
    assert [each.name for each in told.attachments] == ["failing_tests.txt"]


async def test_a_test_that_passes_by_chance_is_not_fixed(shop: Path, judged: Judged) -> None:
    """A test that failed before and passes now has shown nothing if it passes without the change, too."""
    (shop / "tests/test_prices.py").write_text(luck("-+", "++"))
    evidence = await judged(STEADY, action="debug")
    assert evidence.detail == "2 tests pass; ignored as flaky before the change: test_luck"


@in_each_box
async def test_unsaved_buffers_are_tested(shop: Path, judged: Judged) -> None:
    cart = Buffer(
        shop / "shop/cart.py", 3, "from shop.prices import total\n\n\ndef pay(cart):\n    return total(cart) + 1\n"
    )
    (shop / "tests/test_prices.py").unlink()
    evidence = await judged(PRICES + "\n", unit="total", buffers=(cart,))
    assert evidence.verdict is Ruling.UNKNOWN
    assert "no test passed before or after" in evidence.detail


async def test_tests_that_could_not_run_are_reported(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").unlink()
    (shop / "tests/test_cart.py").unlink()
    nothing = await judged(PRICES + "\n")
    assert (nothing.verdict, nothing.detail) == (Ruling.SKIPPED, "no project test uses `discount`")
    unsaved = Case("refactor", "python", None, Source(PRICES), Source(PRICES + "\n"), "discount")
    assert "save the document to run its project's tests" in (await judge(unsaved)).detail
