"""Does the unit keep the name, the parameters and the documentation that its callers rely on?"""

from __future__ import annotations

import asyncio
import re

from stet_ls.engine.judges.case import Case
from stet_ls.engine.models import Check, Evidence, Ruling
from stet_ls.validators import structure
from stet_ls.validators.structure import Unit


async def judge(case: Case) -> Evidence:
    """Fails when the target's unit is gone, its header differs in more than white space, or its docstring is lost."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    if not case.unit:
        return Evidence(Check.SIGNATURE, Ruling.SKIPPED, "the target is no function or class, so it has no signature")
    old = _find(structure.units(case.before, case.language), case.unit)
    if old is None:
        return Evidence(Check.SIGNATURE, Ruling.SKIPPED, "the target is no function or class, so it has no signature")
    new = _find(structure.units(case.after, case.language), case.unit)
    if new is None:
        return Evidence(Check.SIGNATURE, Ruling.FAIL, f"`{case.unit}` is gone", trusted=True)
    if _header(old) != _header(new):
        return Evidence(Check.SIGNATURE, Ruling.FAIL, f"the signature changed to `{new.signature}`", trusted=True)
    if old.doc.strip() and not new.doc.strip():
        return Evidence(Check.SIGNATURE, Ruling.FAIL, f"the documentation of `{case.unit}` is gone", trusted=True)
    return Evidence(Check.SIGNATURE, Ruling.PASS, "signature kept", trusted=True)


def _find(units: tuple[Unit, ...], name: str) -> Unit | None:
    return next((unit for unit in units if unit.qualified == name), None)


def _header(unit: Unit) -> str:
    """The signature without white space and trailing commas, which say nothing to a caller."""
    return re.sub(r",(?=[)\]}>])", "", re.sub(r"\s+", "", unit.signature))
