"""Grammars, loaded when first asked for, and the parsers made from them: one for each thread and grammar."""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from stet_ls.validators import languages

if TYPE_CHECKING:
    import tree_sitter


class NoGrammarError(LookupError):
    """No grammar is installed for the language; its text says so in words for the user."""


_local = threading.local()


@cache
def grammar(name: str) -> tree_sitter.Language:
    """The grammar of a language, by id or other name.

    Raises NoGrammarError, with the one reason that matters to a user.
    """
    import tree_sitter

    row = languages.language(name)
    if row is None or row.grammar is None:
        raise NoGrammarError(f"not parsed: no grammar for {row.title if row else name or 'this document'}")
    try:
        pointer = getattr(import_module(row.grammar.module), row.grammar.function)()
        return tree_sitter.Language(pointer)
    except (ImportError, AttributeError, ValueError) as error:  # not installed, or of another ABI
        raise NoGrammarError(f"not parsed: the grammar for {row.title} does not load ({error})") from error


def parser(name: str) -> tree_sitter.Parser:
    """This thread's parser for a language (NoGrammarError). A parser is not thread-safe, hence one for each."""
    import tree_sitter

    parsers: dict[str, tree_sitter.Parser] = _local.__dict__.setdefault("parsers", {})
    if name not in parsers:
        parsers[name] = tree_sitter.Parser(grammar(name))
    return parsers[name]
