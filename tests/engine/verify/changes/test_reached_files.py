"""What a run that begins in a file may do, by the words of all that it reaches."""

from __future__ import annotations

import pytest
from support.repository import Repository
from support.verifying import SHOP

from stet_ls.engine.judges.project_tests.discovery import project_files
from stet_ls.engine.verify.changes.reached_files import ReachedFiles
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery


@pytest.mark.parametrize(
    ("files", "starts"),
    [
        ({"mail.py": "import run_all\n", "run_all.py": "from subprocess import run\n"}, True),
        ({"tests/conftest.py": "import os\n\npid = os.fork\n"}, True),
        ({"other.py": "import subprocess\n", "mail.py": "import os\n\nhere = os.path\n"}, False),
    ],
    ids=["two imports away", "the set-up of tests", "not reached"],
)
def test_a_file_may_start_processes_if_what_it_reaches_says_so(
    repository: Repository, files: dict[str, str], starts: bool
) -> None:
    repository.commit({"mail.py": "", "tests/test_mail.py": "import mail\n", **files})
    repository.write({"shop.py": f"{SHOP}\n"})
    with read_change(ChangeQuery(repository.folder)) as change:
        reached = ReachedFiles(change, project_files(change.root, "python", {}), change.files)
        assert reached.starts_processes("tests/test_mail.py") is starts
