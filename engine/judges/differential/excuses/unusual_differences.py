"""Differences on inputs of kinds that the code is probably not meant for: passed over, or marked as a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.judges.differential.difference import Difference
from stet_ls.engine.judges.differential.excuses.input_domain import argument_kinds, in_input_domain
from stet_ls.engine.judges.differential.excuses.unusual_inputs import (
    NOT_FINITE,
    UNUSUAL,
    calls_of_foreign_kind,
    excuse_calls,
    is_container,
    usual_kinds,
)

_QUOTED = re.compile(r"['\"]([\w-]+)['\"]")


@dataclass(frozen=True, slots=True)
class KnownInputs:
    """What tells usual inputs from others.

    `text` is the old code, "" if every input counts. On the `agreed` calls both versions do the same, the `accepted`
    ones end without a difference or an error of the new code. `meant` are the kinds that names or the docstring
    suggest, by parameter.
    """

    text: str
    agreed: Sequence[Call]
    accepted: Sequence[Call]
    meant: Mapping[str, frozenset[str]]


def pass_over_unusual(differences: Sequence[Difference], known: KnownInputs) -> tuple[list[Difference], frozenset[str]]:
    """The differences on inputs that may be meant, marked where that is a question, and why others are passed over."""
    differences = _with_known_kinds(differences, known)
    if not known.text or not differences:
        return differences, frozenset()
    conclusive = {each.call: each.is_conclusive for each in differences}
    judged = excuse_calls(known.text, known.agreed, conclusive, known.meant)
    excuses = dict(judged.reasons)
    if judged.uncertain:
        differences = [replace(each, is_unusual=each.call in excuses) for each in differences]
        excuses = {}
    differences = [
        each for each in differences
        if each.call not in excuses or each.is_too_deep
        or (each.takes_less and each.call not in judged.refusable and excuses[each.call] != NOT_FINITE)
    ]  # fmt: skip
    differences, refused = _pass_over_foreign(differences, known)
    return differences, frozenset((*excuses.values(), *refused))


def without_unusual(sharing: Sequence[Difference], known: KnownInputs) -> list[Difference]:
    """The differences in what is shared, on usual inputs alone."""
    if not known.text or not sharing:
        return [*sharing]
    usual = usual_kinds(known.text, known.agreed, known.meant)
    return [each for each in sharing if not usual.excuse(each.call)]


def _pass_over_foreign(differences: list[Difference], known: KnownInputs) -> tuple[list[Difference], frozenset[str]]:
    """The differences without containers that the new code refuses where none is accepted, if all that convinces is
    about kinds of which none is accepted; the others are marked as a question.
    """
    foreign = calls_of_foreign_kind(known.text, known.accepted, [each.call for each in differences])
    if not foreign or not all(each.call in foreign for each in differences if each.is_conclusive):
        return differences, frozenset()
    refused = {each.call for each in differences if each.call in foreign and each.new.kind == "raised"
               and is_container(each.call, known.agreed, known.meant)}  # fmt: skip
    left = [replace(each, is_unusual=each.is_unusual or each.call in foreign) for each in differences
            if each.call not in refused]  # fmt: skip
    return left, frozenset({UNUSUAL} if refused else ())


def _with_known_kinds(differences: Sequence[Difference], known: KnownInputs) -> list[Difference]:
    """The differences, marked where both texts accept the same kinds in one of the accepted calls.

    If the new code accepts no kinds at all, the kinds are not the reason.
    """
    if not any(each.call.origin in UNSURE and each.new.is_wrong_kind for each in differences):
        return [*differences]
    taken, quoted = list(map(argument_kinds, known.accepted)), frozenset(_QUOTED.findall(known.text))
    return [replace(each, in_domain=not taken or in_input_domain(each.call, taken, quoted)) for each in differences]
