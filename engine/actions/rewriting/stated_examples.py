"""A user's description of a bug as runnable examples: "f(2) gives 3 instead of 4" is `>>> f(2)` and 4."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from stet_ls.validators.ast_text import literal_eval, try_parse_expression, unparse

_LONGEST = 4_000
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_WRONG = r"(?:return(?:s|ed)?|gives?|gave|yields?|is|was|produces?|prints?|raise(?:s|d)?|fails? with|==?|->|→)"
_RIGHT = (
    r"(?:instead of|rather than|(?:but|and|,)?\s*(?:it\s+)?(?:should|must|ought to)\s+(?:have\s+)?"
    r"(?:be(?:en)?|return(?:ed)?|give|equal|yield|produce|print)"
    r"|(?:but|,)?\s*(?:i\s+)?expect(?:ed|s|ing)?(?:\s+it)?(?:\s+(?:to\s+(?:be|return|give)|was|is))?|not)"
)
_SHOULD = re.compile(
    r"\s*(?:should|must|ought to|has to|is (?:expected|supposed) to)\s+(?:be|return|give|equal|yield|produce)\s*:?\s*",
    re.IGNORECASE,
)
_INSTEAD = re.compile(rf"\s*{_RIGHT}\s*:?\s*", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:for )?example\s*:", re.IGNORECASE)
_GOT = re.compile(rf"[\s,]*{_WRONG}\s*:?\s*", re.IGNORECASE)


def stated_examples(text: str, unit: str, *, requested: bool = False) -> str:
    """The examples in a text about `unit`, in the form of a docstring's; "" if there are none.

    Reads only calls of the unit's own name with a plain literal as the expected value: nothing is guessed. `requested`:
    the text describes code that is to be written, so the value that a call "gives" is the expected one.
    """
    name = unit.rpartition(".")[2]
    if not name:
        return ""
    found = dict.fromkeys(_examples(text[:_LONGEST], name, requested))
    return "".join(f">>> {call}\n{value}\n" for call, value in found)


def examples_of_new_code(text: str, existing: str) -> str:
    """The examples in a request for code that has no name yet: of each name that it calls and `existing` lacks."""
    names = dict.fromkeys(_CALLED.findall(text[:_LONGEST]))
    known = {*dir(builtins), *re.findall(r"\w+", existing)}
    return "".join(stated_examples(text, name, requested=True) for name in names if name not in known)


def is_example(text: str) -> bool:
    """True if a text is an example and nothing else: "f(2) == 4"."""
    tree = try_parse_expression(_LABEL.sub("", text).strip().strip("`"))
    match tree:
        case ast.Compare(left=ast.Call(func=ast.Name()), ops=[ast.Eq()], comparators=[value]):
            return literal_at(unparse(value)) is not None
    return False


def _examples(text: str, name: str, requested: bool) -> Iterator[tuple[str, str]]:
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", text):
        call, end = call_at(text, match.start())
        if call is None:
            continue
        line = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
        expected = _typed(text, match.start(), end) or _described(text, end, requested or is_example(line))
        if expected is not None:
            yield shown_example(call, expected)


def call_at(text: str, start: int) -> tuple[str | None, int]:
    """The call that begins at `start`, if its arguments are complete and parse; and its end."""
    for end in (at + 1 for at in range(start, min(len(text), start + 400)) if text[at] == ")"):
        if (tree := try_parse_expression(text[start:end])) is not None:
            return unparse(tree), end
    return None, start


def _typed(text: str, start: int, end: int) -> str | None:
    """The line below a `>>> call`."""
    if not text[:start].endswith(">>> ") or not text[end:].startswith("\n"):
        return None
    return literal_at(text[end + 1 :].partition("\n")[0].strip())


def _described(text: str, end: int, requested: bool) -> str | None:
    """The expected value according to a sentence."""
    rest = text[end:].lstrip("`")
    if match := _SHOULD.match(rest):
        return literal_at(rest[match.end() :])
    match = _GOT.match(rest)
    if match is None:
        return None
    after = rest[match.end() :]
    for at in (m for m in _INSTEAD.finditer(after.partition("\n\n")[0])):
        return literal_at(after[at.end() :])
    return literal_at(after) if requested else None


def literal_at(text: str) -> str | None:
    """The longest literal at the beginning of a text, in Python syntax."""
    text = text.lstrip("`").partition("\n")[0]
    inside = re.compile(r"[\w.]")
    for end in range(min(len(text), 300), 0, -1):
        if end < len(text) and inside.match(text, end):
            continue
        try:
            return repr(literal_eval(text[:end].strip().rstrip("`.,;:!?")))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def shown_example(call: str, value: str) -> tuple[str, str]:
    """A call and its output, as a docstring shows them; a comparison if equal values may print differently."""
    if value == "None":
        return f"{call} is None", "True"  # the interactive prompt does not print None
    if isinstance(literal_eval(value), float | dict | set | complex):
        return f"{call} == {value}", "True"
    return call, value
