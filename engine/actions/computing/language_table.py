"""The language of the programs that compute, as a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramLanguage:
    """What prompts and names of files say of the language: its `title`, its `suffix`, and `rules` for its programs."""

    title: str
    suffix: str
    rules: str


PROGRAMS: Mapping[str, ProgramLanguage] = {
    "python": ProgramLanguage(
        "Python",
        ".py",
        """\
- Packages such as pandas and matplotlib are installed if you import them. There is no network.
- Save a picture with `savefig` as a PNG file, with a title and labeled axes; no window opens.""",
    )
}
"""By language id. Packages of Python are wheels, which are unpacked without running anything."""

LANGUAGE, ROW = next(iter(PROGRAMS.items()))
"""The language in which tasks are computed."""
