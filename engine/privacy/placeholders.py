"""Checks a model's use of placeholders: each value has to be in the right place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from stet_ls.engine.privacy.redact import redact
from stet_ls.engine.privacy.secrets.entropy import PLACEHOLDER

_LIKE_ONE = re.compile(r"(?i)\bSTET[_ -]?(?:SEC|TOK)\w*|\bSTET_(?=[\"'`])")
_UNSAFE = re.compile(r"[\"'`\\\n${}#%]")
_LEAST_COMPARED, _LEAST_HIDDEN = 6, 4
_HOLE = "\x00"


def misplaced_placeholder(before: str, after: str, secrets: Mapping[str, str]) -> str | None:
    """A problem with the restored values in a candidate, in one sentence for model and user; None if there is none.

    `before` and `after` are the whole document without and with it, `secrets` maps the prompt's placeholders.
    """
    return _left(before, after) or (_changed(before, after, secrets) if secrets else None)


def _left(before: str, after: str) -> str | None:
    """A placeholder without a value, or one that the model changed: in lower case, or cut in two."""
    new = Counter(_LIKE_ONE.findall(after)) - Counter(_LIKE_ONE.findall(before))
    for name in new:
        if PLACEHOLDER.fullmatch(name):
            return f"The code uses `{name}`, which stands for nothing here; keep such names exactly as they are given."
        return f"The code holds `{name}`, a changed placeholder; keep such names exactly as they are given."
    return None


def _changed(before: str, after: str, secrets: Mapping[str, str]) -> str | None:
    both = before + after
    values = {value: name for name, value in secrets.items() if len(value) >= _LEAST_COMPARED and value in both}
    if not values:
        return None
    old, new = _lines(before, values), _lines(after, values)
    for line, found in new.items():
        if line in old and not found <= old[line]:
            return "Two placeholders changed places; each has to stay in the place where it was given."
    for value, name in values.items():
        if _UNSAFE.search(value) and value in before and not _around(after, value) <= _around(before, value):
            return f"The quotes around `{name}` changed; its value has letters that need the ones which were there."
    return None


def _lines(text: str, values: Mapping[str, str]) -> dict[str, set[tuple[str, ...]]]:
    """The lines with values in them: each without its values, with the set of these values."""
    pattern = re.compile("|".join(re.escape(value) for value in sorted(values, key=len, reverse=True)))
    found: dict[str, set[tuple[str, ...]]] = {}
    for line in text.split("\n"):
        if hits := pattern.findall(line):
            found.setdefault(pattern.sub(_HOLE, line).strip(), set()).add(tuple(hits))
    return found


def _around(text: str, value: str) -> set[tuple[str, str]]:
    """The characters before and after each occurrence of a value."""
    places: set[tuple[str, str]] = set()
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        places.add((text[max(0, at - 1) : at], text[end : end + 1]))
        at = text.find(value, end)
    return places


def hide_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """A sentence for the user, a log or the model, with placeholders for the values that it quotes."""
    for name, value in sorted(secrets.items(), key=lambda item: -len(item[1])):
        if len(value) >= _LEAST_HIDDEN and not name.startswith("STET_TOKEN_"):
            text = text.replace(value, name)
    return text


def for_reader(text: str, secrets: Mapping[str, str]) -> str:
    """A model's words for a reader, who may pass them on: without the values that they quote."""
    return re.sub(r"STET_SECRET_\d+", "(hidden value)", hide_secrets(text, secrets))


def without_values(text: str) -> str:
    """A line of the document for a report, without apparent secrets."""
    return for_reader(redact(text).text, {})
