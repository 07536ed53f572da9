"""Test files that executed nothing of what changes are not run again, unless anything else changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.verify.report import Conclusion, Report

Verify = Callable[..., Awaitable[Report]]
MAIL = "def hello(name: str) -> str:\n    return f'hello {name}'\n"
IDLE = "import mail\nimport shop\n\n\ndef test_hello():\n    assert mail.hello('a') == 'hello a'\n    assert shop\n"
LATER = IDLE.replace("test_hello", "test_later")
SAID = "test file not run: they executed nothing of what changed in an earlier run"

pytestmark = pytest.mark.usefixtures("stet_home")  # no results of other tests


@pytest.fixture
def project(repository: Repository) -> Repository:
    repository.commit({"mail.py": MAIL, "tests/test_a_mail.py": IDLE, "tests/test_z_mail.py": LATER})
    return repository


def _edited(number: int) -> str:
    return SHOP.replace("weight * 0.5", f"weight * 0.5 + {number} - {number}")


OTHERS = {
    "outside of functions": {"shop.py": f"LIMIT = 3\n{_edited(2)}"},
    "what it calls": {"mail.py": MAIL.replace("hello {", "hi {")},
    "a test": {"tests/test_shop.py": f"# a note\n{TESTS}"},
    "data": {"data.json": "[]"},
}
"""What changes besides the function, by what it is."""


async def test_what_executed_nothing_of_it_does_not_run_again(project: Repository, verified: Verify) -> None:
    project.write({"shop.py": _edited(1)})
    first = await verified()
    assert not _said(first)
    project.write({"shop.py": _edited(2)})
    second = await verified()
    assert _said(second) == [f"1 {SAID}"], "the other ran after tests of the change, which may have left something"
    assert second.conclusion is first.conclusion is Conclusion.OK
    for what, files in OTHERS.items():
        project.write(files)
        assert not _said(await verified()), what
        project("checkout", "--quiet", "--", "mail.py", "tests")
        project.write({"shop.py": _edited(2)})


def _said(report: Report) -> list[str]:
    return [each for each in report.notes if SAID in each]
