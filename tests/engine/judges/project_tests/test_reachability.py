"""By which names tests may come to a unit: its own, those of its callers, or any."""

from __future__ import annotations

import pytest

from stet_ls.engine.judges.project_tests.reachability import names_leading_to

COLORS = """def hsv(colour):
    return colour


def hls(colour):
    return _parts(colour)


def _parts(colour):
    return colour


class Mixer:
    def __init__(self, base):
        self.base = self._clean(base)

    def _clean(self, base):
        return base

    def mix(self, other):
        return other
"""


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("hsv", {"hsv"}),
        ("_parts", {"_parts", "hls"}),
        ("Mixer.mix", {"mix"}),
        ("Mixer._clean", {"_clean", "__init__", "Mixer"}),
    ],
)
def test_the_names_of_a_unit_are_collected(unit: str, expected: set[str]) -> None:
    assert names_leading_to(COLORS, unit, "python") == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (COLORS + "\nTABLE = {'a': hls}\n", "python"),
        (COLORS.replace("def hls", "@app.route('/')\ndef hls"), "python"),
        ("function hls() {}\nmodule.exports = hls;\n", "javascript"),
    ],
)
def test_a_unit_passed_to_other_code_may_run_under_any_name(text: str, language: str) -> None:
    assert names_leading_to(text, "hls", language) is None


def test_a_list_of_public_names_is_not_a_use() -> None:
    text = f"__all__ = [\n    'hls',\n]\n{COLORS}\n\nif __name__ == '__main__':\n    print(hls(1))\n"
    assert names_leading_to(text, "hls", "python") == {"hls"}
