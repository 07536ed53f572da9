"""The tests that a change can reach, and what they load."""

from __future__ import annotations

from support.repository import Repository
from support.verifying import SHOP

from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.project_tests.selected_tests import SelectedTests, selected_tests


def _selected(repository: Repository) -> SelectedTests:
    with read_change(ChangeQuery(repository.folder)) as change:
        return selected_tests(change, "python", change.files)


def test_only_the_tests_that_reach_a_change_are_selected(repository: Repository) -> None:
    repository.commit(
        {"other.py": "x = 1\n", "tests/test_other.py": "from other import x\n\n\ndef test_x():\n    assert x\n"}
    )
    repository.write({"shop.py": f"{SHOP}# more\n"})
    selected = _selected(repository)
    assert selected.tests == ("tests/test_shop.py",)
    assert selected.of_files == {"shop.py": {"tests/test_shop.py"}}
