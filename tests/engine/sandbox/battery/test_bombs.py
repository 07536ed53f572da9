"""Programs that waste, hide, lie and litter, on every box: what is said of them is true, and nothing of them is left.

Each is small, whatever the box does, and none goes off without one. They are bounded from outside, too: by the number
of processes that a user may have, by a control group where they are root's, and by a watch. Where no control group can
be made, they go off as an unprivileged user alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.battery import boxes, driven


@pytest.mark.parametrize("box", boxes.NAMES)
def test_a_sandbox_survives_a_bomb(user: int, box: str, tmp_path: Path) -> None:
    if box not in boxes.boxes(tmp_path):
        pytest.skip(f"this machine has no {box}")
    if why := driven.missing(user, bombs=True):
        pytest.skip(why)

    driven_run = driven.driven("bombs", box, user)

    assert len(driven_run.found) > 30
    assert {name: wrong for name, wrong in driven_run.found.items() if wrong} == {}
    assert driven_run.is_whole
