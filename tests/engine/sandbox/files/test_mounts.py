"""Which folders a sandbox shows, and in which order."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_PRINTED = """
from pathlib import Path
from stet_ls.engine.sandbox.files.mounts import outermost_paths
print(*outermost_paths(map(Path, ("/b/python", "/a/env", "/a/env/lib", "/c", "/d/three"))))
"""


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_paths_is_the_same_in_each_process(seed: int) -> None:
    """The state of an interpreter names them: a kept verdict is found by it."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    ran = subprocess.run([sys.executable, "-c", _PRINTED], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "/c /a/env /b/python /d/three\n"
