"""The columns of the table of languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# Where a language has its own form of doc comment, a plain comment above a function is not part of it.
ANY_COMMENT = re.compile("")
DOC_COMMENT = re.compile(r"/\*\*|///")
NO_COMMENT = re.compile(r"(?!)")

LanguageKind = Literal["code", "data", "prose"]
"""The purpose of a language: programs, values, or text for people."""


SymbolKind = Literal[
    "function", "method", "constructor", "class", "interface", "struct", "enum", "type", "namespace", "property",
    "field", "constant", "variable", "enum member",
]  # fmt: skip
"""What a declaration is in an outline: the words of LSP's symbol kinds."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The location of a grammar: a wheel's module, and its function that returns the pointer."""

    module: str
    function: str = "language"


@dataclass(frozen=True, slots=True)
class NodeKinds:
    """Node kinds of one grammar. Kinds that a release of the grammar does not have are ignored.

    `values` are functions and classes without a name of their own: they count if a variable, field or key names them.
    `wrappers` are parents that belong to their content (a decorator's, an export's, a declaration's). `leading` are
    siblings above a unit that belong to it; `docs` matches the comments that do. `calls` maps the kind of a call to the
    field of the called function ("": the first child). `requires` are calls that import. With `bare_bodies` an empty
    body has no node. `symbols` are the other declarations that an outline lists, and what each is.
    """

    functions: frozenset[str]
    classes: frozenset[str]
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    docs: re.Pattern[str] = ANY_COMMENT
    imports: frozenset[str] = frozenset()
    requires: re.Pattern[str] | None = None
    calls: Mapping[str, str] = field(default_factory=dict)
    bare_bodies: bool = False
    symbols: Mapping[str, SymbolKind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Language:
    """One row. `id` is the LSP language id; `names` are its other names in fences, editors and text.

    `extensions` and `filenames` are in lower case; "a.*.json" matches any word in the middle. `block_comment` is a pair
    of opener and closer. `grammar` is None if no wheel has one, `packed` is its name in the language pack, if that has
    one; without either a language works, but is not parsed. `trusted` is False if its grammar rejects too much valid
    code (a third of real C++ files) to refuse an edit on its own.

    `kinds` are the grammar's node kinds of functions, classes, imports and calls; without them a text has no units: its
    targets are top-level statements or lines.

    `family` is the id shared by languages whose files import each other ("javascript" for TypeScript), by default its
    own. `kind` tells code from data and from prose. `indent` is one level of indentation if the text shows none; with
    `indented` blocks end by indentation alone.

    Names: with `folder_is_package` the files of a folder see each other's without an import, with `global_names` all
    files that are part of a program do. With `classes_only` no function is outside of a class, with `overloads` several
    functions share one name.

    Text: with `aligned` columns have a meaning, so that code moves as a whole; with `docstrings` a string may open a
    body; `preprocessed` says how conditional lines are read (by the symbols that the text defines, or the first branch
    counts if other files decide); with `lifetimes` a single quote may precede a name, with `takes_fences` the language
    has lines that look like Markdown's code fences.
    """

    id: str
    title: str
    names: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    line_comment: str | None = None
    block_comment: tuple[str, str] | None = None
    grammar: Grammar | None = None
    trusted: bool = True
    packed: str | None = None
    kinds: NodeKinds | None = None
    family: str = ""
    kind: LanguageKind = "code"
    indent: str | None = None
    indented: bool = False
    folder_is_package: bool = False
    global_names: bool = False
    classes_only: bool = False
    overloads: bool = False
    aligned: bool = False
    docstrings: bool = False
    preprocessed: Literal["", "symbols", "first branch"] = ""
    lifetimes: bool = False
    takes_fences: bool = False
