"""Headers of definitions: their comparison, and their visibility."""

from __future__ import annotations

import re
from dataclasses import replace

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.language_table import for_language
from stet_ls.validators.changed_excerpt import excerpts
from stet_ls.validators.structure import Symbol, Unit


def changed_part(case: Case) -> Case:
    """The case reduced to the differing part of its texts, if they are large."""
    before, after = excerpts(case.before, case.after)
    return replace(case, before=before, after=after)


def without_space(signature: str) -> str:
    """A signature without white space and trailing commas, which mean nothing to a caller."""
    return re.sub(r",(?=[)\]}>])", "", re.sub(r"\s+", "", signature))


def as_called(signature: str, language: str, *, keeps_defaults: bool = False) -> str:
    """A signature as callers rely on it: without white space and, where calls go by position, without names.

    `f({a, b})` is called like `f(o)`: a pattern is taken apart inside. A pattern's empty default only adds a call, so
    it is left out unless `keeps_defaults`, for a comparison with a signature that has the default without the pattern.
    """
    text = without_space(signature)
    start = text.find("(", _end_of_types(text))
    spec = for_language(language)
    name = next((each for each in spec.protocol if text[:start].endswith("def" + each)), "")
    # A parameter that is also a property of the object is called by its name there.
    if not (spec.calls_by_position or name) or start < 0 or _PROPERTY.search(signature):
        return text
    end = _closing(text, start)
    parts = _parts(text[start + 1 : end])
    if name and parts[-1].startswith("*") and not parts[-1].startswith("**") and ":" not in parts[-1]:
        parts[-1:] = ["_"] * (spec.protocol[name] - len(parts) + 1)
    return f"{text[: start + 1]}{','.join(_nameless(each, keeps_defaults) for each in parts)}{text[end:]}"


_OPEN, _CLOSE = "([{<", ")]}>"
_NAME = re.compile(r"(?:\.\.\.)?(?:[\w$]+)(?=$|[?:=])")
_PROPERTY = re.compile(r"[(,]\s*(?:public|private|protected|readonly)\s")
_NO_DEFAULT = re.compile(r"=(?:\{\}|\[\])$")


def is_called_alike(old: str, new: str) -> bool:
    """Whether two signatures without names differ only in optional parameters that have a default now, or whose type
    is that of their default: `limit?: number`, `limit = Infinity`, `limit: number = Infinity`.
    """
    starts = [each.find("(", _end_of_types(each)) for each in (old, new)]
    if min(starts) < 0:
        return False
    ends = [_closing(each, start) for each, start in zip((old, new), starts, strict=True)]
    parts = [_parts(each[start + 1 : end]) for each, start, end in zip((old, new), starts, ends, strict=True)]
    around = [(each[:start], each[end:]) for each, start, end in zip((old, new), starts, ends, strict=True)]
    if around[0] != around[1] or len(parts[0]) != len(parts[1]):
        return False
    return all(one == other or _is_same_option(one, other) for one, other in zip(*parts, strict=True))


def _is_same_option(old: str, new: str) -> bool:
    if old.startswith("_?:") and new.startswith("_="):
        return True
    return old.startswith("_:") and new.startswith("_=") and old.endswith(new[1:])


def _nameless(parameter: str, keeps_defaults: bool) -> str:
    rest = "..." if parameter.startswith("...") else ""
    if parameter.removeprefix("...").startswith(("{", "[")):
        after = parameter[_closing(parameter, len(rest)) + 1 :]
        return f"{rest}_{after if keeps_defaults else _NO_DEFAULT.sub('', after)}"
    return _NAME.sub(f"{rest}_", parameter, count=1)


def _end_of_types(text: str) -> int:
    """The end of type parameters between a function's name and its parameters, as in `f<T extends (x: U) => V>(`."""
    match = re.match(r"[\w$*.#]*(?:=(?:async)?)?(?=<)", text)
    return _closing(text, match.end()) if match else 0


def _closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one at `start`; the end of the text if none does."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in _OPEN:
            depth += 1
        elif text[place] in _CLOSE and text[place - 1 : place + 1] != "=>":
            depth -= 1
            if not depth:
                return place
    return len(text)


def _parts(text: str) -> list[str]:
    """The parameters: what commas outside of brackets separate."""
    parts, depth = [""], 0
    for place, letter in enumerate(text):
        if letter == "," and not depth:
            parts.append("")
            continue
        if letter in _OPEN:
            depth += 1
        elif letter in _CLOSE and text[place - 1 : place + 1] != "=>":
            depth -= 1
        parts[-1] += letter
    return parts


def is_public(symbol: Symbol | Unit, language: str) -> bool:
    """Whether other files can reach a definition, by the rules of its language."""
    if symbol.name.startswith(("_", "#")):
        return symbol.name.startswith("__") and symbol.name.endswith("__")
    return for_language(language).is_public(symbol)
