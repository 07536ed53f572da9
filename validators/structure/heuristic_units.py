"""Units of a language without a grammar in this process, by the first words of its lines.

A guess, good enough for a target, a title and a list of names: one regular expression per line, and the indentation for
the end of a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from stet_ls.validators import languages
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import Unit

_LONGEST = 400  # characters of a line that are matched
_MODIFIERS = (
    r"(?:(?:export|pub|public|private|protected|internal|static|final|abstract|async|inline|override|sealed|open|case"
    r"|implicit|local|extern|default|external|virtual|noinline|comptime)\s+)*"
)
_NAME = r"(?P<name>[\w.:$']+[?!]?)"


@dataclass(frozen=True, slots=True)
class _Words:
    """The first words of functions, classes and imports, as alternatives of a regular expression.

    `bare` comes before a function's name if the language has no keyword for it.
    """

    functions: str = "def|fn|func|fun|function|sub|proc|procedure|method|macro"
    classes: str = "class|interface|trait|struct|enum|module|object|record|protocol|namespace|contract|union|mixin"
    imports: str = "import|use|using|require|include|from|open|extern crate|load|source|with"
    bare: str = "(?!)"


_NEVER = "(?!)"
_WORDS: Mapping[str, _Words] = {
    "clojure": _Words(
        r"\(def(?:n-?|macro|multi)", r"\(def(?:record|protocol|type)|\(ns", r"\(require|\(:require|\(import"
    ),
    "dart": _Words(
        _NEVER, "class|mixin|enum|extension|typedef", "import|export|part",
        r"(?!return|await|throw|else|new|case)(?:[\w<>?,\[\]]+\s+)+(?=\w+\s*\([^;]*$)",
    ),
    "elisp": _Words(r"\((?:cl-)?def(?:un|macro|subst)", r"\(cl-defstruct|\(defclass", r"\(require"),
    "elixir": _Words(
        "def|defp|defmacro|defmacrop|defguard|defdelegate", "defmodule|defprotocol|defimpl", "alias|import|require|use"
    ),
    "erlang": _Words(
        _NEVER, r"-module\(|-record\(", "-include|-import|-include_lib", r"(?=[a-z]\w*\(.*\)\s*(?:when\b.*)?->)"
    ),
    "fsharp": _Words(r"let(?:\s+rec)?|member\s+\w+\.|and", "module|type|namespace", "open"),
    "graphql": _Words(_NEVER, _NEVER, _NEVER),
    "haskell": _Words(_NEVER, "data|newtype|class|instance|type", "import", r"(?=[a-z]\w*'*\s*::)"),
    "lisp": _Words(r"\(def(?:un|macro|method)|\(define\s*\(?", r"\(def(?:class|struct|package)", r"\(require|\(load"),
    "ocaml": _Words(r"let(?:\s+rec)?|and", "module|class|type", "open|include"),
    "perl": _Words("sub", "package|class", "use|require"),
    "powershell": _Words("function|filter", "class|enum", r"Import-Module|using|\."),
    "r": _Words(_NEVER, r"setClass\(\"", "library|require|source", r"(?=[\w.]+\s*(?:<-|=)\s*function\b)"),
    "sql": _Words(
        r"create\s+(?:or\s+replace\s+)?(?:function|procedure|trigger)", r"create\s+(?:table|view|type)", _NEVER
    ),
    "viml": _Words("function!?|func!?|def!?", "class", "source|runtime|import"),
    "zig": _Words(
        "fn", r"const(?=\s+\w+\s*=\s*(?:packed\s+|extern\s+)?(?:struct|enum|union)\b)", r"const\s+\w+\s*=\s*@import"
    ),
}  # fmt: skip
_GENERIC = _Words()
_CLOSER = re.compile(r"\s*(?:[)\]}]|end\b|fi\b|done\b|esac\b|endfunction\b|enddef\b)")


def units(source: Source, language: str) -> tuple[Unit, ...]:
    """Functions and classes in order; none for a language that is not known to be code."""
    words = _words(language)
    if words is None:
        return ()
    return tuple(_found(source, words))


def imports(source: Source, language: str) -> tuple[Span, ...]:
    """The lines at column 0 that import something."""
    words = _words(language)
    if words is None:
        return ()
    pattern = re.compile(rf"(?:{words.imports})(?:(?<=\W)|(?!\w))")
    lines = range(source.line_count)
    return tuple(source.line_span(line) for line in lines if pattern.match(source.line_text(line)[:_LONGEST]))


def _words(language: str) -> _Words | None:
    row = languages.language(language)
    if row is None or row.kind != "code" or row.grammar is not None:
        return None
    return _WORDS.get(row.id) or (_GENERIC if row.packed and row.line_comment else None)


@dataclass(slots=True)
class _Head:
    kind: Literal["function", "class"]
    name: str
    text: str
    line: int
    indent: int
    outer: str


def _found(source: Source, words: _Words) -> Iterator[Unit]:
    flags = re.IGNORECASE if "create" in words.functions else 0
    heads = rf"(?:(?P<class>{words.classes})|{words.functions})(?:(?<=\W)|(?!\w))\s*|{words.bare}"
    pattern = re.compile(rf"{_MODIFIERS}(?:{heads}){_NAME}", flags)
    open_: list[_Head] = []
    done: list[Unit] = []
    last = 0  # the last line that is not blank
    for line in range(source.line_count):
        text = source.line_text(line)[:_LONGEST]
        stripped = text.lstrip()
        if not stripped:
            continue
        indent = len(text) - len(stripped)
        while open_ and indent <= open_[-1].indent and not (indent == open_[-1].indent and _CLOSER.match(text)):
            done.append(_unit(source, open_.pop(), last, open_))
        match = pattern.match(stripped)
        if match is not None and not stripped.endswith(";"):
            kind: Literal["function", "class"] = "class" if match["class"] is not None else "function"
            outer = ".".join(head.name for head in open_)
            open_.append(_Head(kind, match["name"].rstrip(".:"), stripped, line, indent, outer))
        last = line
    while open_:
        done.append(_unit(source, open_.pop(), last, open_))
    yield from sorted(done, key=lambda unit: (unit.span.start, -unit.span.end))


def _unit(source: Source, head: _Head, last: int, around: list[_Head]) -> Unit:
    kind: Literal["function", "method", "class"] = head.kind
    if kind == "function" and around and around[-1].kind == "class":
        kind = "method"
    return Unit(
        kind=kind,
        name=head.name,
        qualified=f"{head.outer}.{head.name}" if head.outer else head.name,
        span=Span(source.starts[head.line], source.line_span(max(last, head.line)).end),
        body=None,
        signature=" ".join(head.text.split()).removesuffix(" do").rstrip("{=: ").removesuffix("->").rstrip(),
        doc="",
    )
