"""Files that people read and programs do not: a change of them is no change of the product."""

from __future__ import annotations

from pathlib import PurePath

from stet_ls.validators.languages import PLAIN, language_of

_PROSE = frozenset({"markdown", "restructuredtext", "latex", "ignore"})
_SUFFIXES = frozenset({".adoc", ".org"})
_NAMES = frozenset({
    "authors", "changelog", "changes", "code_of_conduct", "codeowners", "contributing", "contributors", "copying",
    "history", "license", "licence", "maintainers", "news", "notice", "readme", "security", "thanks", "todo",
})  # fmt: skip


def is_prose(path: str) -> bool:
    """Whether a file is documentation, by its name. Data may be kept in a text file: its name has to say what it is."""
    name = PurePath(path.lower())
    language = language_of(path)
    is_named = language == PLAIN and name.suffix in ("", ".txt") and name.stem in _NAMES
    return language in _PROSE or name.suffix in _SUFFIXES or is_named
