"""The exported functions and public methods through which a function of the module's own is called."""

from __future__ import annotations

import re

from stet_ls.engine.execution.javascript.inputs.subject import Module, is_written_alike, read_module, subject_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import text_of
from stet_ls.engine.execution.nearest_callers import nearest_callers

_EXPORTED = re.compile(
    r"^\s*export\s+(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\s*\*?|class|const|let|var)\s+([\w$]+)"
    r"|^\s*export\s+default\s+([\w$]+)\s*;?\s*$"
    r"|^\s*export\s*\{([^}]*)\}|\bmodule\.exports\s*=\s*(?:\{([^}]*)\}|([\w$]+))"
    r"|^\s*(?:module\.)?exports\.[\w$]+\s*=\s*([\w$]+)",
    re.MULTILINE,
)
"""Names that a module exports, in each of the forms that name them."""
_NAME = re.compile(r"[\w$]+")


def public_callers(before: str, after: str, language: str, unit: str) -> tuple[str, ...]:
    """The nearest public callers, alike in both texts, of a private method or of a unit that is not exported,
    in the order of the file. Parses: not for an event loop.
    """
    modules = read_module(before, language), read_module(after, language)
    if modules[0] is None or modules[1] is None:
        return ()
    old, new = modules[0], modules[1]
    private = _private(old, before)
    if unit not in private:
        return ()
    names = [name for name in old.found if subject_of(old, name) is not None and name not in old.classes]
    alike = {name for name in names if name in new.found and is_written_alike(old.found[name], new.found[name])}

    def calls(name: str, callee: str) -> bool:
        owner, _, own = callee.rpartition(".")
        if name.rpartition(".")[0] == callee:
            return False
        wanted = rf"[.]{re.escape(own)}(?![\w$])" if owner else rf"(?<![\w$.]){re.escape(own)}(?![\w$])"
        return re.search(wanted, text_of(old.found[name].node)) is not None

    found = nearest_callers(unit, names, calls, private, alike)
    return tuple(dict.fromkeys(name.removesuffix(".constructor") for name in found))


def _private(module: Module, text: str) -> set[str]:
    """The functions that only the module itself can call: not exported where others are, or private methods.

    A module that exports nothing is a script, or one that is read in another way.
    """
    exported = {
        name for found in _EXPORTED.finditer(text) for group in found.groups("") for name in _NAME.findall(group)
    }
    own = {name for name in module.found if exported and name.partition(".")[0] not in exported}
    return own | {name for name in module.found if name.rpartition(".")[2][:1] in ("_", "#")}
