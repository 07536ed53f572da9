"""What a tree of processes uses, as it is seen from outside."""

from __future__ import annotations

import os
import signal
import subprocess

from stet_ls.engine.sandbox.processes.process_tree import measure
from stet_ls.engine.sandbox.spec import Limits


def test_a_full_disk_of_the_host_does_not_count_as_disk_use_of_a_sandbox() -> None:
    """Until a box has a root of its own, its first process sees everybody's."""
    argv = ("sh", "-c", "sleep 60 & echo; wait")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout
        child.stdout.readline()
        use = measure(child.pid, ("/tmp", "/"), Limits())
        os.killpg(child.pid, signal.SIGKILL)

    assert use.processes == 1
    assert (use.scratch, use.files) == (0, 0)
