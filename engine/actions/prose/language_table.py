"""Language facts for checking a text about code: one row per language."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stet_ls.validators.ast_text import try_parse
from stet_ls.validators.languages import lookup
from stet_ls.validators.metrics.style import lines_of
from stet_ls.validators.source import Source, Span

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_UNITS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, BaseException, type(iter("")))


def _python_words() -> frozenset[str]:
    """Builtins, keywords, modules and the methods of builtin types."""
    methods = (name for kind in _TYPES for name in dir(kind))
    return frozenset([*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *sys.stdlib_module_names, *methods])


def _is_silent_python(source: Source, span: Span) -> bool:
    """True without `raise` and `assert` in the code and in what it names in the file. False if it does not parse."""
    tree = try_parse(source.text)
    if tree is None:
        return False
    own, words = lines_of(source, span), frozenset(_WORD.findall(source.slice(span)))
    named = (node for node in ast.walk(tree) if isinstance(node, _UNITS) and node.name in words)
    places = [own, *(range(node.lineno - 1, node.end_lineno or node.lineno) for node in named)]
    raising = (node.lineno - 1 for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.Assert))
    return not any(line in place for line in raising for place in places)


@dataclass(frozen=True, slots=True)
class ProseLanguage:
    """Facts of a language for checking a text about code.

    `words` are the names that the language provides.
    `is_silent(source, span)` is True if the code surely raises nothing itself; claims to the contrary are marked.
    """

    words: Callable[[], frozenset[str]] = frozenset
    is_silent: Callable[[Source, Span], bool] = lambda _source, _span: False


ROWS: Mapping[str, ProseLanguage] = {"python": ProseLanguage(_python_words, _is_silent_python)}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, ProseLanguage())
"""The row of a language id; the defaults for any other language."""
