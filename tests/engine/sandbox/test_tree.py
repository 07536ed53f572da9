"""What a tree of processes uses, as it is seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys

from stet_ls.engine.sandbox.spec import Limits
from stet_ls.engine.sandbox.tree import measure


def test_a_full_disk_of_the_machine_is_no_use_of_a_box_that_is_being_built() -> None:
    """Until a box has a root of its own, its first process sees everybody's."""
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        use = measure(os.getpid(), ("/tmp", "/"), Limits())
        child.kill()

    assert use.processes >= 1
    assert (use.scratch, use.files) == (0, 0)
