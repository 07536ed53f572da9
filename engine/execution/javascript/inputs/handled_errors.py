"""Functions that fail as the code expects: with the errors that it catches, and the fields by which it tells them."""

from __future__ import annotations

import re

_CAUGHT = re.compile(r"\bcatch\s*\(\s*(?:\(\s*)?(?:async\s+)?\(?(\w+)")
"""`catch (error) {`, `.catch((error) => ...)` and `.catch(error => ...)`."""
_PROMISED = re.compile(r"\bawait\b|\.then\(|\.catch\(")
_LITERAL = r"""(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*')"""
_MOST = 6
_FORMS = (
    "(...given) => {{ throw {error}; }}",
    "(first, ...given) => {{ if (String(first).length % 2) throw {error}; return first; }}",
)
_LATER = (
    "async (...given) => {{ throw {error}; }}",
    "async (first, ...given) => {{ if (String(first).length % 2) throw {error}; return first; }}",
)


def failing_functions(code: str, classes: frozenset[str]) -> tuple[str, ...]:
    """Functions, as JavaScript, that fail with the errors which a code handles; none if it handles none.

    `classes` are those of the module, which an error may be an instance of.
    """
    names = tuple(dict.fromkeys(_CAUGHT.findall(code)))
    errors = list(dict.fromkeys(error for name in names for error in _handled(code, name, classes)))[:_MOST]
    forms = _LATER if _PROMISED.search(code) else _FORMS
    return tuple(form.format(error=error) for error in errors for form in forms)


def _handled(code: str, name: str, classes: frozenset[str]) -> list[str]:
    """The errors that a code tells apart under a name, and one that it does not expect."""
    fields = re.findall(rf"\b{name}\??\.(\w+)\s*[!=]==?\s*{_LITERAL}", code)
    kinds = re.findall(rf"\b{name}\s+instanceof\s+(\w+)", code)
    known = [each for each in kinds if each in classes or re.fullmatch(r"(\w*)Error", each)]
    return [
        *(f'Object.assign(new Error("failed"), {{ {field}: {value} }})' for field, value in fields),
        *(f'new {each}("failed")' for each in known),
        'new Error("failed")',
    ]
