"""What judging an edit needs to know about a language: one row per language."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.execution.python.inputs.subject import known_module
from stet_ls.validators import go_undefined_names, structure
from stet_ls.validators.ast_text import dump, parse_module, unparse
from stet_ls.validators.findings import Finding
from stet_ls.validators.languages import lookup
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Symbol, Unit, python_headers

_PUBLIC = re.compile(r"\b(?:pub|public|export|exports)\b")
_PRIVATE = re.compile(r"\b(?:private|static)\b|^#")
_DECORATOR = re.compile(r"^\s*@([\w.]+)", re.MULTILINE)


def _marked_public(symbol: Symbol | Unit) -> bool:
    return _PUBLIC.search(symbol.signature) is not None


def _not_private(symbol: Symbol | Unit) -> bool:
    return not _PRIVATE.search(symbol.signature)


def _public_member(symbol: Symbol | Unit) -> bool:
    return _not_private(symbol) if "." in symbol.qualified else _marked_public(symbol)


def _all_of(source: Source) -> list[str] | None:
    """The names in `__all__`."""
    spans = [each.span for each in structure.outline(source, "python") if each.qualified == "__all__"]
    texts = " ".join(source.slice(span).partition("=")[2] for span in spans)
    return re.findall(r"[\"'](\w+)[\"']", texts) if spans else None


def _without_docstrings(source: Source) -> str:
    """Python's syntax tree as text. Raises SyntaxError if this Python cannot parse it."""
    tree = parse_module(source.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return dump(tree)


def _preamble(parsed: Parsed) -> list[str]:
    """The comments above Go's `import "C"`."""
    place = parsed.data.find(b'import "C"')
    if place < 0:
        return []
    return re.findall(r"//[^\n]*|/\*.*?\*/", parsed.data[:place].decode("utf-8", "replace"), re.DOTALL)


_DEFAULT = re.compile(r"constructor\(\s*\)")


def _is_default_constructor(symbol: Symbol) -> bool:
    """Whether callers see no difference if a class has no constructor of its own: it takes nothing."""
    return symbol.qualified.endswith(".constructor") and _DEFAULT.fullmatch(symbol.signature) is not None


_OF_DATA = frozenset({"__init__", "__eq__", "__ne__", "__repr__"})
_OF_ORDER = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
_OF_TUPLES = _OF_DATA | _OF_ORDER | {"__new__", "__hash__", "__iter__", "__len__", "__getitem__"}


def _of_records(name: str, after: Source) -> bool:
    """Whether a method is one that its class now gets as a dataclass or a named tuple."""
    owner, _, method = name.rpartition(".")
    module = known_module(after.text) if method.startswith("__") else None
    if module is None or owner not in module.shapes:
        return False
    node = module.shapes[owner].node
    if any(getattr(base, "id", getattr(base, "attr", "")) == "NamedTuple" for base in node.bases):
        return method in _OF_TUPLES
    decorator = next((each for each in map(unparse, node.decorator_list) if "dataclass" in each), None)
    if decorator is None:
        return False
    if method == "__slots__":  # it saves memory, and no caller sees it
        return True
    is_hashed = method == "__hash__" and re.search(r"(frozen|unsafe_hash)=True", decorator) is not None
    is_frozen = "frozen=True" in decorator and method in ("__setattr__", "__delattr__")
    return method in _OF_DATA or is_hashed or is_frozen or (method in _OF_ORDER and "order=True" in decorator)


_PROTOCOL = {
    **dict.fromkeys(("__exit__", "__aexit__"), 4), "__setitem__": 3,
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__getitem__",
                     "__delitem__", "__add__", "__radd__", "__sub__", "__mul__", "__or__", "__and__"), 2),
}  # fmt: skip
"""`self` counts."""


@dataclass(frozen=True, slots=True)
class JudgeLanguage:
    """What judging an edit needs to know about a language.

    `is_public` says whether other files can reach a definition. `exports` are the names that a text lists as exported,
    None without such a list. `calls_by_position`: no caller names a parameter. `protocol` are the methods that the
    language itself calls, with their numbers of arguments. `imports_load`: an import without a name exists for the
    effects of loading.
    `generates` says whether a method that a text no longer defines is one that its class now gets from a decorator or a
    base, `is_implied` whether a definition is one that a class has without it, too.
    `untyped` is a header without its type hints, None if it cannot be read: adding hints changes nothing for callers.
    `one_spelling` is a header with each type hint in one of its spellings, given the text that has it.
    `names_linted`: a linter reports undefined names and names that are defined twice.

    `marks` finds the decorators or attributes of a unit, one per line; `mark` is how one is written; with `mark_words`
    each word in it counts. Java's annotations are part of its headers.

    `code` is a text without comments and documentation, if the tree without comments is not enough. `comment_ends`
    matches what a compiler processes before it looks for comments, `comment_code` the comments that are code.
    `undefined_names` finds the undefined names in a text, if no linter does: from the text, its path and the open
    buffers by their paths; None if unknown.
    """

    is_public: Callable[[Symbol | Unit], bool] = _marked_public
    exports: Callable[[Source], list[str] | None] = lambda _: None
    generates: Callable[[str, Source], bool] = lambda name, after: False
    is_implied: Callable[[Symbol], bool] = lambda symbol: False
    imports_load: bool = False
    calls_by_position: bool = False
    protocol: Mapping[str, int] = field(default_factory=dict)
    untyped: Callable[[str], str | None] | None = None
    one_spelling: Callable[[str, str], str] = lambda header, _: header
    names_linted: bool = False
    marks: re.Pattern[str] | None = None
    mark: str = "@{}"
    mark_words: bool = False
    code: Callable[[Source], str] | None = None
    comment_ends: re.Pattern[str] | None = None
    comment_code: Callable[[Parsed], list[str]] = lambda _: []
    undefined_names: Callable[[Source, Path | None, Mapping[Path, str]], tuple[Finding, ...] | None] | None = None


ROWS: Mapping[str, JudgeLanguage] = {
    "python": JudgeLanguage(
        is_public=lambda _: True,
        exports=_all_of,
        generates=_of_records,
        untyped=python_headers.untyped,
        one_spelling=python_headers.one_spelling,
        names_linted=True,
        marks=_DECORATOR,
        code=_without_docstrings,
        protocol=_PROTOCOL,
    ),
    "javascript": JudgeLanguage(
        is_public=_public_member,
        is_implied=_is_default_constructor,
        imports_load=True,
        calls_by_position=True,
        marks=_DECORATOR,
    ),
    "go": JudgeLanguage(
        is_public=lambda symbol: symbol.name[:1].isupper(),
        comment_code=_preamble,
        undefined_names=go_undefined_names.undefined,
    ),
    "rust": JudgeLanguage(marks=re.compile(r"^\s*#\[(.+)\]\s*$", re.MULTILINE), mark="{}", mark_words=True),
    "java": JudgeLanguage(comment_ends=re.compile(r"\\u+[0-9a-fA-F]{4}")),
    "c": JudgeLanguage(is_public=_not_private),
    "csharp": JudgeLanguage(marks=re.compile(r"^\s*\[(?:\w+:\s*)?([\w.]+)", re.MULTILINE), mark="[{}]"),
}
"""By language id; a row applies to its whole family."""

for_language = lookup(ROWS, JudgeLanguage())
"""The row of a language id; for any other language the defaults."""
