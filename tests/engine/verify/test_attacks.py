"""Changes that are wrong and were once called ok, and honest ones that were once refuted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

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
