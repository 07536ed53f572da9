"""Changes that are wrong and were once called ok, and honest ones that were once refuted."""

from __future__ import annotations

import py_compile
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from support.repository import Repository

from stet_ls.engine.verify.report import Conclusion, Report

Verify = Callable[..., Awaitable[Report]]
SHOP = "RATE = 0.5\n\n\ndef shipping(weight):\n    return weight * RATE\n"
TEST = "from shop import shipping\n\n\ndef test_shipping():\n    assert shipping(10) == 5\n"
DEARER = SHOP.replace("0.5", "0.6")
PATCHED = (
    "import shop\n\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef rate(monkeypatch):\n"
    "    monkeypatch.setattr(shop, 'RATE', 0.5)\n"
)
LABEL = "\n\ndef label(weight, name):\n    if weight >= 9:\n        return name + ' heavy'\n    return name\n"
USED = TEST + "\n\ndef test_label():\n    import shop\n\n    assert shop.label(1, 'a') == 'a'\n"
BOX = "class Base:\n    pass\n\n\nclass Box(Base):\n    def size(self):\n        return 3\n"
BOX_TEST = "from shop import Box\n\n\ndef test_box():\n    assert Box().size() == 3\n"


def _write(repository: Repository, files: Mapping[str, str | None]) -> None:
    for path in files:
        (repository.folder / path).unlink(missing_ok=True)
    repository.write({path: text for path, text in files.items() if text is not None})


@pytest.mark.parametrize(
    ("after", "intent", "conclusion", "finding"),
    [
        ({"shop.py": DEARER, "tests/test_shop.py": TEST.replace("== 5", "== 6")}, "", "unproven", "was edited"),
        ({"shop.py": DEARER, "tests/conftest.py": PATCHED}, "", "unproven", "passes only with the new set-up of tests"),
        ({"shop.py": DEARER, "tests/conftest.py": PATCHED}, "refactor", "refuted", "passes only with the new set-up"),
        ({"shop.py": DEARER, "tests/test_shop.py": None}, "", "unproven", "was removed; it passed before and fails"),
        ({"shop.py": None, "store.py": SHOP}, "", "refuted", "passed and does not run now"),
        ({"tests/test_shop.py": None, "tests/test_rates.py": TEST}, "refactor", "ok", ""),
    ],
    ids=[
        "a constant and its expectation",
        "a set-up that hides",
        "the same, stated",
        "all tests deleted",
        "a renamed module",
        "renamed tests",
    ],
)
async def test_what_tests_say(
    repository: Repository,
    verified: Verify,
    after: Mapping[str, str | None],
    intent: str,
    conclusion: str,
    finding: str,
) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST})
    _write(repository, after)
    report = await verified(intent)
    assert report.conclusion == conclusion, report
    assert finding in str([each.detail for each in report.findings])


async def test_what_moved_and_changed_is_not_proven_by_tests(repository: Repository, verified: Verify) -> None:
    """They do not cover its edge."""
    repository.commit({"shop.py": SHOP + LABEL, "util.py": "", "tests/test_shop.py": USED})
    moved = LABEL.strip().replace(">=", ">")
    repository.write({"shop.py": f"from util import label\n\n{SHOP}", "util.py": f"{moved}\n"})
    report = await verified("refactor")
    assert report.conclusion is Conclusion.UNPROVEN
    assert "moved from `shop.py::label` and edited" in str(report.units)


async def test_a_method_that_is_inherited_now_is_not_gone(repository: Repository, verified: Verify) -> None:
    repository.commit({"shop.py": BOX, "tests/test_shop.py": BOX_TEST})
    size = "    def size(self):\n        return 3\n"
    repository.write({"shop.py": f"class Base:\n{size}\n\nclass Box(Base):\n    pass\n"})
    assert (await verified("refactor")).conclusion is Conclusion.UNPROVEN


_CHECKS = {"tests/test_shop.py": None, "tests/shop_checks.py": TEST}
_PATTERNS = {"pytest.ini": "[pytest]\npython_files =\n    test_*.py\n    *_checks.py\n"}


@pytest.mark.parametrize(
    ("files", "intent", "conclusion"),
    [
        (_CHECKS, "", "unproven"),
        (_CHECKS, "refactor", "refuted"),
        ({"tests/test_shop.py": TEST.replace("test_shipping", "check_shipping")}, "", "unproven"),
        ({"tests/test_shop.py": TEST.replace("test_shipping", "check_shipping")}, "test", "refuted"),
    ],
    ids=["a file", "a file, stated", "a function", "a function, stated"],
)
async def test_a_test_that_no_runner_finds_now_is_deleted(
    repository: Repository, verified: Verify, files: Mapping[str, str | None], intent: str, conclusion: str
) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST})
    _write(repository, files)
    report = await verified(intent)
    assert report.conclusion == conclusion, report
    assert [each.check for each in report.findings] == ["mutants"], report


async def test_a_name_that_the_project_lets_pytest_collect_is_one_of_tests(
    repository: Repository, verified: Verify
) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST, **_PATTERNS})
    _write(repository, _CHECKS)
    assert (await verified("refactor")).conclusion is Conclusion.OK


LABEL_TEST = TEST + "\n\ndef test_label():\n    import inspect\n\n    import shop\n\n    assert {}\n"
_SOURCE = "inspect.getsource(shop.label) == 'def label(name):\\n    return name\\n' and shop.label('a')"


@pytest.mark.parametrize(
    ("check", "finding"),
    [
        ("shop.label('a') == shop.label('a')", "new tests notice 0 of 1 planted error in `label`"),
        (_SOURCE, "no test that calls `label` asserts anything about its results"),
        ("shop.label('a') == 'a'", ""),
        ("[shop.label(co_name) for co_name in 'a'] == ['a']", ""),
    ],
    ids=["with itself", "its text", "its result", "a name like those of code objects"],
)
async def test_a_new_test_compares_results(repository: Repository, verified: Verify, check: str, finding: str) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST})
    code = f"{SHOP}\n\ndef label(name):\n    return name\n"
    repository.write({"shop.py": code, "tests/test_shop.py": LABEL_TEST.format(check)})
    report = await verified("feature")
    found = str([each.detail for each in report.findings])
    assert (report.conclusion == "ok", finding in found) == (not finding, True), report


_WRAPPED = "import shop\n\n_own = shop.label\nshop.label = lambda name: (_own(name), f'<{name}>')[1]\n"
_PLUGIN = {"pytest.ini": "[pytest]\naddopts = -p cheat\npythonpath = .\n", "cheat.py": _WRAPPED}


@pytest.mark.parametrize("files", [{"tests/conftest.py": _WRAPPED}, _PLUGIN], ids=["a conftest", "a plugin"])
async def test_a_set_up_that_git_ignores_proves_nothing(
    repository: Repository, verified: Verify, files: Mapping[str, str]
) -> None:
    repository.commit(
        {"shop.py": SHOP, "tests/test_shop.py": TEST, ".gitignore": "conftest.py\npytest.ini\ncheat.py\n"}
    )
    code = f"{SHOP}\n\ndef label(name):\n    return name\n"
    test = LABEL_TEST.format("shop.label('a') == '<a>'")
    repository.write({"shop.py": code, "tests/test_shop.py": test, **files})
    report = await verified("feature")
    assert report.conclusion is not Conclusion.OK, report
    assert report.notes == (f"{next(iter(files))} takes part in the tests and is not judged: git ignores it",)


async def test_compiled_code_in_the_project_is_not_run(
    repository: Repository, verified: Verify, tmp_path: Path
) -> None:
    """Python runs an `unchecked` file in `__pycache__` whatever the text says."""
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST, ".gitignore": "__pycache__\n"})
    repository.write({"shop.py": DEARER})
    good = tmp_path / "shop.py"
    good.write_text(SHOP)
    place = repository.folder / "__pycache__" / f"shop.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(good), str(place), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    report = await verified()
    assert [each.detail for each in report.tests if each.refutes] == ["passed and fails now: 6.0 == 5 is false"]


async def test_a_test_that_fails_for_another_reason_shows_no_fix(repository: Repository, verified: Verify) -> None:
    """It runs what differs, and needs something else of the change."""
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST})
    code = f"{SHOP.replace('weight * RATE', 'weight * RATE if weight < 90 else 0')}\n\nVERSION = 2\n"
    test = f"{TEST}\n\ndef test_version():\n    from shop import VERSION\n\n    assert VERSION == 2\n"
    repository.write({"shop.py": code, "tests/test_shop.py": f"{test}    assert shipping(10) == 5\n"})
    report = await verified("fix")
    assert report.conclusion is Conclusion.UNPROVEN, report
    assert "the fix passes its tests with the former `shipping`, too" in str(report.findings)


_SPARE = "\n\ndef spare(weight):\n    half = weight * 3 + 1\n    return half / 2\n"
_UTIL = _SPARE.strip() + "\n"
_SPARE_TEST = "from {} import {}\n\n\ndef test_it():\n    assert {}(1) == 2\n"


@pytest.mark.parametrize("intent", ["", "refactor", "feature"])
@pytest.mark.parametrize(
    ("files", "finding"),
    [
        (
            {
                "shop.py": SHOP + _SPARE.replace("spare", "reserve"),
                "test_it.py": _SPARE_TEST.format("shop", *["reserve"] * 2),
            },
            "`spare` is `reserve` now; code that uses the former name fails",
        ),
        (
            {
                "shop.py": SHOP,
                "util.py": _SPARE.strip() + "\n",
                "test_it.py": _SPARE_TEST.format("util", "spare", "spare"),
            },
            "`shop.py::spare` is `spare` in util.py now; code that uses the former name fails",
        ),
        (
            {"shop.py": (SHOP + _SPARE).replace("RATE = 0.5\n\n\n", "").replace("RATE", "0.5")},
            "removed: `RATE`; code that uses it fails",
        ),
    ],
    ids=["renamed", "moved", "a constant"],
)
async def test_a_public_name_that_is_gone_is_never_ok(
    repository: Repository, verified: Verify, files: Mapping[str, str], finding: str, intent: str
) -> None:
    """No test of the project uses it; other code may."""
    repository.commit({"shop.py": SHOP + _SPARE, "tests/test_shop.py": TEST})
    repository.write(dict(files))
    report = await verified(intent)
    assert report.conclusion is Conclusion.UNPROVEN, report
    assert finding in [each.detail for each in report.findings]


async def test_a_moved_unit_that_is_imported_where_it_was_is_not_gone(repository: Repository, verified: Verify) -> None:
    repository.commit({"shop.py": SHOP + _SPARE, "tests/test_shop.py": TEST})
    test = _SPARE_TEST.format("shop", "spare", "spare")
    repository.write(
        {"shop.py": f"from util import spare\n\n{SHOP}", "util.py": f"{_SPARE.strip()}\n", "test_it.py": test}
    )
    report = await verified("refactor")
    assert not any("former name" in each.detail for each in report.findings), report


async def test_a_renamed_module_is_never_ok(repository: Repository, verified: Verify) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST, "spare.py": _UTIL})
    (repository.folder / "spare.py").unlink()
    test = _SPARE_TEST.format("reserve", "spare", "spare")
    repository.write({"reserve.py": _UTIL, "test_it.py": test})
    report = await verified("refactor")
    assert (report.conclusion, report.unjudged) == (Conclusion.UNPROVEN, ("reserve.py",)), report


async def test_a_repository_within_is_named_and_not_judged(repository: Repository, verified: Verify) -> None:
    """Git lists none of its files."""
    repository.commit({"shop.py": SHOP})
    Repository.new(repository.folder / "within").write({"more.py": "import os\n"})
    repository.write({"shop.py": f"# A note.\n{SHOP}"})
    report = await verified()
    assert (report.conclusion, report.unjudged) == (Conclusion.UNPROVEN, ("within",)), report


async def test_a_wrong_example_is_found_though_the_code_is_the_same(repository: Repository, verified: Verify) -> None:
    repository.commit({"shop.py": SHOP})
    text = SHOP.replace("    return", '    """Costs.\n\n    >>> shipping(10)\n    6.0\n    """\n    return')
    repository.write({"shop.py": text})
    report = await verified("docs")
    assert report.conclusion is Conclusion.UNPROVEN, report
    assert [each.check for each in report.findings] == ["doctest"]
    repository.write({"shop.py": text.replace("6.0", "5.0")})
    assert (await verified("docs")).conclusion is Conclusion.OK


_LISTED = "from shop import shipping\n\nGOOD = [5]\n\n\ndef same(a, b):\n    return a in b\n\n\n" + (
    "def test_shipping():\n    assert same(shipping(10), GOOD)\n"
)


@pytest.mark.parametrize(
    ("old", "new"), [("GOOD = [5]", "GOOD = [0, 5, 6, 7]"), ("return a in b", "return b is not None")]
)
@pytest.mark.parametrize(("intent", "conclusion"), [("", "unproven"), ("test", "refuted")])
async def test_a_test_is_weakened_by_what_it_uses_of_its_file(
    repository: Repository, verified: Verify, old: str, new: str, intent: str, conclusion: str
) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": _LISTED})
    repository.write({"tests/test_shop.py": _LISTED.replace(old, new)})
    report = await verified(intent)
    assert report.conclusion == conclusion, report
    assert "mutants" in [each.check for each in report.findings]


async def test_a_fix_that_only_an_edited_expectation_shows_is_unproven(
    repository: Repository, verified: Verify
) -> None:
    repository.commit({"shop.py": SHOP, "tests/test_shop.py": TEST})
    test = TEST.replace("== 5", "== 6")
    repository.write({"shop.py": DEARER, "tests/test_shop.py": test})
    assert (await verified("fix")).conclusion is Conclusion.UNPROVEN
