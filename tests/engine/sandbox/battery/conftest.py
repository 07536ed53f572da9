"""What the battery is driven with: each user of this machine that it may be driven as."""

from __future__ import annotations

import platform

import pytest
from support.battery import driven


@pytest.fixture(params=driven.users())
def user(request: pytest.FixtureRequest) -> int:
    """The id of root, and of a user without any rights; of the caller alone, where that is not root."""
    found = driven.users()[request.param]
    if why := driven.missing(found):
        pytest.skip(why)
    return found


@pytest.fixture(autouse=True, scope="session")
def linux() -> None:
    """The boxes that are attacked here are Linux's."""
    if platform.system() != "Linux":
        pytest.skip("the battery attacks Linux's boxes")
