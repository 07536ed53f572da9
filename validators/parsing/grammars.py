"""Grammars, loaded on first use, and their parsers: one for each thread and grammar."""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from stet_ls.validators import languages
from stet_ls.validators.language_table.row import Language

if TYPE_CHECKING:
    import tree_sitter


class NoGrammarError(LookupError):
    """No grammar is installed for the language; its text is a message for the user."""


_local = threading.local()
_pack_allowed = False


def allow_pack() -> None:
    """Lets this process load grammars of the language pack too: for the child, which a grammar may crash."""
    global _pack_allowed
    _pack_allowed = True


def is_foreign(row: Language | None) -> bool:
    """True for a language whose grammar only a child process may load."""
    return row is not None and row.grammar is None and row.packed is not None and not _pack_allowed


@cache
def grammar(name: str) -> tree_sitter.Language:
    """The grammar of a language, by id or other name.

    Raises NoGrammarError, with the one reason that matters to a user.
    """
    import tree_sitter

    row = languages.language(name)
    if row is not None and row.packed and _pack_allowed:
        return _packed(row.title, row.packed)
    if row is None or row.grammar is None:
        raise NoGrammarError(f"not parsed: no grammar for {row.title if row else name or 'this document'}")
    try:
        pointer = getattr(import_module(row.grammar.module), row.grammar.function)()
        return tree_sitter.Language(pointer)
    except (ImportError, AttributeError, ValueError) as error:  # not installed, or of another ABI
        raise NoGrammarError(f"not parsed: the grammar for {row.title} does not load ({error})") from error


def _packed(title: str, name: str) -> tree_sitter.Language:
    import tree_sitter

    try:
        pointer = import_module("tree_sitter_language_pack").get_binding(name)
        return tree_sitter.Language(pointer)
    except (ImportError, LookupError, AttributeError, OSError, ValueError) as error:
        raise NoGrammarError(f"not parsed: the grammar for {title} does not load ({error})") from error


def parser(name: str) -> tree_sitter.Parser:
    """This thread's parser for a language (NoGrammarError). A parser is not thread-safe, hence one for each."""
    import tree_sitter

    parsers: dict[str, tree_sitter.Parser] = _local.__dict__.setdefault("parsers", {})
    if name not in parsers:
        parsers[name] = tree_sitter.Parser(grammar(name))
    return parsers[name]
