"""What imports bind: local name, original name, module. Read by patterns; unknown forms bind nothing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from stet_ls.engine.prompt.languages.import_binding import Binding
from stet_ls.engine.prompt.languages.language_table import for_language

_LONGEST = 4_000
_INDEX_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})


def bindings(statements: list[str], language: str, path: Path | None) -> tuple[Binding, ...]:
    """The bindings of some statements of the file `path`; none for a language without a reader."""
    read = for_language(language).bindings
    return tuple(binding for statement in statements for binding in read(statement[:_LONGEST], path) if binding.parts)


def closeness(binding: Binding, name: str, file: Path) -> int | None:
    """How closely a binding matches `name` in `file`: 0 by name, 1 by the module, 2 by its folder, None if not."""
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
    """The module paths of a file: its own without the extension; its folder's if the file represents it."""
    parts = file.with_suffix("").parts
    return [parts, parts[:-1]] if parts[-1] in _INDEX_FILES else [parts]


def _ends(places: list[tuple[str, ...]], parts: tuple[str, ...], *, exact: bool) -> bool:
    return any(place == parts if exact else place[-len(parts) :] == parts for place in places)
