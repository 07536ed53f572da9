"""Values changed into what a docstring says of parameters: a range, characters, a form, as many items as others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.python.inputs.subject import Subject

_WRITTEN = ("example", "captured")
_RANGE = re.compile(r"(?<![\w.])(-?\d+) ?(?:to|-|–|through|and) ?(-?\d+)(?!\w|\.\d)")
_FAR = 30
"""The letters between a parameter's name and what is said of it."""
_RESULT = re.compile(r"(?i)\b(as|into|to|returns?|gives?|results?|numbers?|values?)\b|[.;]")
"""Words after which it is the result that is spoken of, not the parameter before."""
_SIGNED = re.compile(r"(?i)\b(?:(?:is|are|be) )?(?:never|not|cannot be|can't be) negative\b|\b(?:zero|0) or more\b")
_POSITIVE = re.compile(r"(?i)\bpositive\b")
_SETS = {
    "digits": "0123456789", "zeros and ones": "01", "ones and zeros": "01", "letters": "abcdefgxyzABCXYZ",
    "lowercase letters": "abcdefghijklmnopqrstuvwxyz", "uppercase letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "hexadecimal digits": "0123456789abcdef", "ascii letters": "abcdefgxyzABCXYZ",
    "letters and digits": "abcdxyzABCXYZ0123456789", "ascii letters and digits": "abcdxyzABCXYZ0123456789",
}  # fmt: skip
_SET = "|".join(sorted(_SETS, key=len, reverse=True))
_CHARACTERS = re.compile(
    rf"(?i)\b(?:(?:has|have|are|contains?|holds?|with) (?:only (?P<a>{_SET})|(?P<b>{_SET}) only)"
    rf"|consists? of (?:only )?(?P<c>{_SET})|(?:text|string) of (?:only )?(?:(?P<size>\d+) )?(?P<d>{_SET})"
    rf"|(?:is|are) (?:made )?of (?:only )?(?P<e>{_SET})|(?:has|have) a multiple of (?P<multiple>\w+) (?P<f>{_SET}))\b"
)
_GIVEN = re.compile(rf"(?i)\b(?:an?|the|each|this) (?:text|string) of (?:only )?(?:\d+ )?(?:{_SET})\b")
"""What an argument is, whatever its sentence says of it: `Whether a text of digits is even.`"""
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10}
_FORM = re.compile(
    r"(?i)\b(?:of|from|in|for|parses?|reads?|splits?|converts?|turns?|takes?) [^.;]{0,40}?"
    r"(?:such as|like|in the form(?: of)?) (?:\"([^\"]{2,40})\"|`([^`]{2,40})`|'([^']{2,40})')"
)
_PROSE = re.compile(r"[^\W\d_]+|[^\W\d_][^\d:/@#$%|=<>{}()\[\]_;&*+\\]* [^\d:/@#$%|=<>{}()\[\]_;&*+\\]*")
"""A word or a phrase: an example of any text, not a form."""
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.While, ast.BoolOp, ast.Match)
_LENIENT = {"partition", "rpartition", "find", "rfind", "get"}
_EACH = re.compile(
    r"(?i)`(?P<e>\w+)`[^.]*\bthere are as many `?(?P<f>\w+)|\bas many `?(?P<a>\w+)`? as `?(?P<b>\w+)"
    r"|\beach (?P<c>\w+) has (?:a|one|its) (?P<d>\w+)"
)
_ROWS = re.compile(r"(?i)\b(?:each|every|all) (?P<rows>\w+) (?:is|are) as long as (?:the )?`?(?P<holder>\w+)")


@dataclass(frozen=True, slots=True)
class StatedValues:
    """What a docstring says of the parameters: `ranges` by name, groups of `equal` length, rows as long as a holder.

    `letters` and `form` are of the only text; `size` is the number of its letters, 0 if any, and `multiple` what that
    number is a multiple of.
    """

    ranges: Mapping[str, tuple[int, int | None]]
    equal: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    letters: str = ""
    size: int = 0
    form: str = ""
    multiple: int = 1


def named_characters(docstring: str) -> str:
    """The parts of a docstring that name the characters of an argument, in sentences of any kind."""
    return ". ".join(each[0] for each in _GIVEN.finditer(docstring))


def stated_values(docs: str, subject: Subject) -> StatedValues:
    """What `docs`, the part of a docstring that is about the arguments, says of the parameters of a subject."""
    names = [each.name for each in subject.parameters if each.name[0] != "*"]
    found = _CHARACTERS.search(docs)
    letters = next((found[each] for each in "abcdef" if found[each]), "") if found else ""
    size = int(found["size"]) if found and found["size"] else 0
    is_alone = len([each for each in subject.parameters if each.default is None]) == 1
    match = _FORM.search(docs) if is_alone and not _has_branch(subject.node) else None
    form = next(filter(None, match.groups()), "") if match else ""
    return StatedValues(
        dict(_ranges(docs, names)), tuple(_pairs(_EACH, docs, names)), tuple(_pairs(_ROWS, docs, names)),
        _SETS.get(letters.lower(), ""), size, "" if _PROSE.fullmatch(form) else form,
        _count(found["multiple"]) if found and found["multiple"] else 1,
    )  # fmt: skip


def as_stated(call: Call, stated: StatedValues) -> Call | None:
    """The call with values as they are stated; None if a value is of a kind that cannot be that."""
    if call.origin in _WRITTEN or stated == StatedValues({}):
        return call
    values = {name: literal(text) for name, text in call.bindings().items()}
    new: dict[str, Any] = {}
    for name, (low, high) in stated.ranges.items():
        if name in values:
            new[name] = _all_within(values[name], low, high)
            if new[name] is None:
                return None
    if stated.letters or stated.form:
        texts = [name for name, value in values.items() if isinstance(value, str)]
        if len(texts) != 1:
            return None
        new[texts[0]] = _spelled(values[texts[0]], stated)
    if not _sized(values, new, stated):
        return None
    changed = {name: text_of(value) for name, value in new.items() if value != values[name]}
    return call.with_bindings(changed)


def _sized(values: Mapping[str, Any], new: dict[str, Any], stated: StatedValues) -> bool:
    """Puts sequences cut to their lengths into `new`; False if one of them is none."""
    for one, other in stated.equal:
        pair: list[Any] = [new.get(name, values.get(name)) for name in (one, other)]
        if not all(isinstance(each, list | tuple | str) for each in pair):
            return False
        least = min(map(len, pair))
        new[one], new[other] = pair[0][:least], pair[1][:least]
    for rows, holder in stated.rows:
        held, wanted = values.get(rows), values.get(holder)
        if not isinstance(held, list) or not isinstance(wanted, list | tuple):
            return False
        if not all(isinstance(row, list | tuple) for row in held):
            return False
        new[rows] = [[*row, *range(len(wanted))][: len(wanted)] for row in held]
    return True


def _ranges(docs: str, names: list[str]) -> Iterator[tuple[str, tuple[int, int | None]]]:
    for each in _RANGE.finditer(docs):
        name = _name_before(docs, each.start(), names) or _next_word(docs[each.end() :], names)
        if name and int(each[1]) < int(each[2]):
            yield name, (int(each[1]), int(each[2]))
    for pattern, low in ((_SIGNED, 0), (_POSITIVE, 1)):
        for each in pattern.finditer(docs):
            if name := _name_before(docs, each.start(), names):
                yield name, (low, None)


def _name_before(docs: str, end: int, names: list[str]) -> str:
    """The parameter whose name comes shortly before a place; "" for none."""
    before = docs[max(0, end - _FAR) : end]
    found = [(match.end(), name) for name in names
             for match in re.finditer(rf"(?i)(?<!\w){re.escape(name)}(?:e?s)?(?!\w)", before)]  # fmt: skip
    last, name = max(found, default=(0, ""))
    return "" if _RESULT.search(before[last:].replace("has to be", "")) else name


def _next_word(rest: str, names: list[str]) -> str:
    word = re.match(r" `?(\w+)", rest)
    return word[1] if word and word[1] in names else ""


def _pairs(pattern: re.Pattern[str], docs: str, names: list[str]) -> Iterator[tuple[str, str]]:
    for match in pattern.finditer(docs):
        found = [_named(word, names) for word in match.groups() if word]
        if len(found) == 2 and all(found) and found[0] != found[1]:
            yield found[0], found[1]


def _named(word: str, names: list[str]) -> str:
    """The parameter that a word names, in the singular or the plural."""
    return next((name for name in names if word.lower() in (name, name.removesuffix("s"), f"{name}s")), "")


def _has_branch(node: ast.AST) -> bool:
    """Whether code may decide what becomes of a text of another form."""
    return any(isinstance(each, _BRANCHES) or getattr(each, "attr", "") in _LENIENT for each in ast.walk(node))


def _all_within(value: Any, low: int, high: int | None) -> Any:
    """The value with each number in it within the bounds, which a plural has too; None for a text, a flag and None."""
    match value:
        case bool():
            return None
        case int() | float():
            return _within(value, low, high)
        case list() | tuple():
            items = [_all_within(each, low, high) for each in value]
            return None if any(each is None for each in items) else type(value)(items)
        case dict():
            held = {key: _all_within(each, low, high) for key, each in value.items()}
            return None if any(each is None for each in held.values()) else held
    return None


def _within(value: float, low: int, high: int | None) -> float:
    if value >= low and (high is None or value <= high):
        return value
    if isinstance(value, int):
        return low + (value % (high - low + 1) if high is not None else abs(value))
    return float(low) if value != value or high is not None else low + abs(value)


def _spelled(text: str, stated: StatedValues) -> str:
    """A text of the letters or of the form that are stated, another one for another text."""
    random = Random(text)  # noqa: S311 - inputs must be reproducible
    if stated.form:
        return "".join(_like(word, random) for word in re.findall(r"\w+|\W+", stated.form))
    found = "".join(each if each in stated.letters else random.choice(stated.letters) for each in text)
    size = stated.size or -(-len(found) // stated.multiple) * stated.multiple
    return (found + "".join(random.choices(stated.letters, k=max(stated.size, stated.multiple))))[:size]


def _count(word: str) -> int:
    return int(word) if word.isdecimal() and int(word) else _COUNTS.get(word.lower(), 1)


def _like(word: str, random: Random) -> str:
    if re.fullmatch(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{4,}", word):
        return "".join(random.choice("0123456789abcdef") for _ in word)
    kinds = ((str.isdigit, "0123456789"), (str.islower, "abcxyz"), (str.isupper, "ABCXYZ"))
    return "".join(next((random.choice(letters) for is_one, letters in kinds if is_one(each)), each) for each in word)
