"""Headers of definitions: their comparison, and their visibility."""

from __future__ import annotations

import re
from dataclasses import replace

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.languages import for_language
from stet_ls.validators.changed_excerpt import excerpts
from stet_ls.validators.structure import Symbol, Unit


def changed_part(case: Case) -> Case:
    """The case reduced to the differing part of its texts, if they are large."""
    before, after = excerpts(case.before, case.after)
    return replace(case, before=before, after=after)


def bare(signature: str) -> str:
    """A signature without white space and trailing commas, which mean nothing to a caller."""
    return re.sub(r",(?=[)\]}>])", "", re.sub(r"\s+", "", signature))


def is_public(symbol: Symbol | Unit, language: str) -> bool:
    """Whether other files can reach a definition, by the rules of its language."""
    if symbol.name.startswith(("_", "#")):
        return symbol.name.startswith("__") and symbol.name.endswith("__")
    return for_language(language).is_public(symbol)
