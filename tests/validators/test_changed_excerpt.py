"""Large texts are read as far as they differ, and what is left out is the same in both."""

from __future__ import annotations

import pytest

from stet_ls.validators.changed_excerpt import LARGE, excerpts
from stet_ls.validators.source import Source


def text(count: int) -> str:
    return "import os\n\n\n" + "".join(f"def f{n}(x):\n    y = x + {n}\n    return y\n\n\n" for n in range(count))


LONG = text(LARGE // 30)


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (
            "y = x + 500\n",
            "z = x + 500\n",
            "def f500(x):\n    y = x + 500\n    return y",
            "def f500(x):\n    z = x + 500",
        ),
        ("def f500(x):", "def g(x):\n    return 1\n\n\ndef f500(x):", "", "def g(x):\n    return 1"),
        ("import os\n", "import sys\n", "import os", "import sys"),
    ],
)
def test_differing_text_is_kept_whole(old: str, new: str, before: str, after: str) -> None:
    first, second = excerpts(Source(LONG), Source(LONG.replace(old, new, 1)))
    assert max(len(first.data), len(second.data)) < 200
    assert before in first.text
    assert after in second.text


def test_a_small_text_is_left_alone() -> None:
    small = Source(text(5)), Source(text(6))
    assert excerpts(*small) == small


def test_an_appended_function_is_found() -> None:
    first, second = excerpts(Source(LONG), Source(f"{LONG}def g():\n    return 1\n"))
    assert "def g():\n    return 1\n" in second.text
    assert "def g" not in first.text
