"""What is known of a language where a text about code is checked: one row a language."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stet_ls.validators.languages import lookup
from stet_ls.validators.metrics.style import lines_of
from stet_ls.validators.source import Source, Span

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_UNITS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, BaseException, type(iter("")))


def _python_words() -> frozenset[str]:
    """Builtins, keywords, modules and the methods of types."""
    methods = (name for kind in _TYPES for name in dir(kind))
    return frozenset([*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *sys.stdlib_module_names, *methods])


def _is_silent_python(source: Source, span: Span) -> bool:
    """True for code without a statement that raises, in what it names of the file too. False if it does not parse."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    own, words = lines_of(source, span), frozenset(_WORD.findall(source.slice(span)))
    named = (node for node in ast.walk(tree) if isinstance(node, _UNITS) and node.name in words)
    places = [own, *(range(node.lineno - 1, node.end_lineno or node.lineno) for node in named)]
    raising = (node.lineno - 1 for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.Assert))
    return not any(line in place for line in raising for place in places)


@dataclass(frozen=True, slots=True)
class ProseLanguage:
    """`words` are the names that the language brings along.

    `is_silent(source, span)` is True where code surely raises nothing itself; a text that says otherwise is marked.
    """

    words: Callable[[], frozenset[str]] = frozenset
    is_silent: Callable[[Source, Span], bool] = lambda _source, _span: False


ROWS: Mapping[str, ProseLanguage] = {"python": ProseLanguage(_python_words, _is_silent_python)}
"""By language id; a row counts for its family."""

for_language = lookup(ROWS, ProseLanguage())
"""The row of a language id; for any other language the defaults."""
