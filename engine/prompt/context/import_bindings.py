"""What a file's import statements bind: by which name something is called, what it is named at home, and where that is.

Statements are read by their words, not by a language's full grammar: what is not understood binds nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

_LONGEST = 4_000
_INDEX_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement's. `parts` are the last names on the path of the module.

    `names` maps what is named here to what it is named there; empty for all of it. `exact`: the parts are all names of
    a path on this machine.
    """

    parts: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False


def bindings(statements: list[str], language: str, path: Path | None) -> tuple[Binding, ...]:
    """What some statements of the file `path` bind; nothing for a language that is not known here."""
    read = _READERS.get(language)
    if read is None:
        return ()
    return tuple(binding for statement in statements for binding in read(statement[:_LONGEST], path) if binding.parts)


def closeness(binding: Binding, name: str, file: Path) -> int | None:
    """How surely a binding means what `file` defines as `name`: 0 by name, 1 by the module, 2 by its folder.

    None: not at all.
    """
    places = _places(file)
    places = _places(file)
    named = name in binding.names.values()
    if _ends(places, binding.parts, exact=binding.exact) and (named or not binding.names):
        return 0
    # `from app import dates`: the name is a module.
    if any(_ends(places, (*binding.parts, one), exact=binding.exact) for one in binding.names.values()):
        return 1
    folders = [place[:count] for place in places for count in range(1, len(place))]
    return 2 if named and _ends(folders, binding.parts, exact=binding.exact) else None


@lru_cache(maxsize=512)
def _places(file: Path) -> list[tuple[str, ...]]:
    """The paths by which a file's module may be called: its own without ending; its folder's if it stands for it."""
    parts = file.with_suffix("").parts
    return [parts, parts[:-1]] if parts[-1] in _INDEX_FILES else [parts]


def _ends(places: list[tuple[str, ...]], parts: tuple[str, ...], *, exact: bool) -> bool:
    return any(place == parts if exact else place[-len(parts) :] == parts for place in places)


def _names(text: str) -> dict[str, str]:
    """`a, b as c` as {"a": "a", "c": "b"}."""
    found = re.findall(r"([\w$]+)(?:\s+as\s+|\s*:\s*)([\w$]+)|([\w$]+)", text)
    return {alias or plain: name or plain for name, alias, plain in found if plain not in ("type", "as")}


def _parts_of(base: Path | None, steps: str) -> tuple[str, ...]:
    """The parts of a path relative to the folder `base`."""
    return Path(os.path.normpath(base / steps)).parts if base is not None else ()


def _python(text: str, path: Path | None) -> Iterator[Binding]:
    text = re.sub(r"#[^\n]*", "", text)
    if match := re.match(r"\s*from\s+(\.*)([\w.]*)\s+import\s+(.*)", text, re.DOTALL):
        dots, module, names = match.groups()
        parts = tuple(filter(None, module.split(".")))
        if dots:
            base = _parts_of(path.parent if path else None, "../" * (len(dots) - 1) or ".")
            yield Binding((*base, *parts) if base else (), _names(names), exact=True)
        else:
            yield Binding(parts, _names(names))
        return
    for module in re.findall(r"[\w.]+(?=\s*(?:as\s+\w+\s*)?(?:,|$))", text.strip().removeprefix("import ")):
        yield Binding(tuple(module.split(".")))


def _script(text: str, path: Path | None) -> Iterator[Binding]:
    match = re.search(r"""(?:from\s*|require\s*\(\s*|import\s*\(?\s*)["']([^"'\n]+)["']""", text)
    if match is None:
        return
    target = re.sub(r"\.(?:[cm]?[jt]sx?)$", "", match[1])
    braces = re.search(r"\{([^}]*)\}", text)
    names = _names(braces[1]) if braces else {}
    if target.startswith("."):
        yield Binding(_parts_of(path.parent if path else None, target), names, exact=True)
    else:
        yield Binding(tuple(part for part in target.split("/") if part not in ("@", "~", "")), names)


def _rust(text: str, path: Path | None) -> Iterator[Binding]:
    match = re.search(r"\buse\s+([\w:]+?)(?:::\{(.*)\}|::\*)?\s*(?:\bas\s+(\w+)\s*)?;", text, re.DOTALL)
    if match is None:
        return
    parts = tuple(part for part in match[1].split("::") if part not in ("crate", "self", "super", ""))
    if match[2] is not None or "::*" in text:
        yield Binding(parts, _names(match[2] or ""))
    elif parts:
        yield Binding(parts[:-1], {match[3] or parts[-1]: parts[-1]})
        yield Binding(parts)


def _dotted(text: str, path: Path | None) -> Iterator[Binding]:
    """Java, Kotlin, C#, PHP: a dotted name of a class, or of a member of one, or of a namespace."""
    match = re.search(r"\b(?:import|using|use)\s+(?:static\s+|function\s+)?(?:\w+\s*=\s*)?([\w.\\]+)", text)
    if match is None:
        return
    parts = tuple(filter(None, re.split(r"[.\\]", match[1])))
    yield Binding(parts)
    if len(parts) > 1:
        yield Binding(parts[:-1], {parts[-1]: parts[-1]})
    if len(parts) > 2:
        yield Binding(parts[-1:])


def _go(text: str, path: Path | None) -> Iterator[Binding]:
    for module in re.findall(r'"([^"\n]+)"', text):
        yield Binding((module.rsplit("/", 1)[-1],))


def _include(text: str, path: Path | None) -> Iterator[Binding]:
    if match := re.search(r'#\s*include\s*"([^"\n]+)"', text):
        yield Binding(tuple(part for part in Path(match[1]).with_suffix("").parts if part not in ("..", ".")))


def _quoted(text: str, path: Path | None) -> Iterator[Binding]:
    """Ruby and Lua: a path in quotes, with slashes or dots."""
    if match := re.search(r"""["']([\w./-]+)["']""", text):
        yield Binding(tuple(part for part in re.split(r"[/.]", match[1]) if part))


_READERS: dict[str, Callable[[str, Path | None], Iterator[Binding]]] = {
    "python": _python, "javascript": _script, "javascriptreact": _script, "typescript": _script,
    "typescriptreact": _script, "rust": _rust, "java": _dotted, "kotlin": _dotted, "csharp": _dotted, "php": _dotted,
    "go": _go, "c": _include, "cpp": _include, "ruby": _quoted, "lua": _quoted,
}  # fmt: skip
