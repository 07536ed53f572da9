"""Texts that begin or end with a word that the code compares with: commands and what they are given, measures."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.validators.ast_text import literal_eval

PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
FIELDS = ("1", "2", "12", "0", "a", "bc", " b ", "-3", "4.5", "7")
"""What stands between separators."""
_LONGEST_SIGN, _LONGEST_UNIT = 2, 3


def commands(compared: Sequence[str], own: Sequence[str]) -> st.SearchStrategy[str]:
    """Such words, as literals, alone or with a separator out of the literals `own`: `push 3`, `12 kg`."""
    texts = [text for each in own if each[0] in "'\"" and isinstance(text := literal_eval(each), str)]
    signs = [text for text in texts if text and not text.isalnum() and len(text) <= _LONGEST_SIGN]
    words = [str(literal_eval(each)) for each in compared]
    sign, word, field = st.sampled_from(signs or [" "]), st.sampled_from(words), st.sampled_from(FIELDS)
    more = st.tuples(sign, field).map("".join)
    found = [st.tuples(word, st.one_of(st.just(""), more, more)).map("".join)]
    if units := [each for each in words if len(each) <= _LONGEST_UNIT]:
        found.append(st.tuples(field, st.sampled_from(("", " ")), st.sampled_from(units)).map("".join))
    return st.one_of(found).map(repr)
