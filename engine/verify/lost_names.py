"""Names that a change takes from other code: a unit or a value that is gone, renamed or elsewhere now.

Tests that pass without a public name do not show that no one uses it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.judges.text.definitions import removed_names
from stet_ls.engine.plurals import first_names
from stet_ls.engine.verify.changes.change import ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.intent import ChangeIntent
from stet_ls.engine.verify.changes.units import UnitChange, UnitChangeKind, is_code, is_public_name
from stet_ls.engine.verify.report import CheckResult
from stet_ls.validators import structure
from stet_ls.validators.source import Source


def lost_unit(unit: UnitChange, intent: ChangeIntent, files: Sequence[ChangedFile]) -> CheckResult | None:
    """The result for a unit whose public name other code cannot use any more; None if it still can. `files` are all of
    the change.

    A claim of equal behavior is wrong if the unit is gone, unless a base class or the language has one of that name; to
    rename it is a refactoring, as far as all of its users follow.
    """
    if unit.change is UnitChangeKind.REMOVED:
        is_gone = unit.is_public and not _is_bound(unit.name, unit.file)
        return _gone(unit, intent) if is_gone else None
    if unit.change not in (UnitChangeKind.MOVED, UnitChangeKind.RENAMED) or not unit.name or is_of_tests(unit.path):
        return None
    path, _, name = unit.was.rpartition("::")
    file = next((each for each in files if path in (each.was, each.path)), unit.file) if path else unit.file
    if not is_public_name(name) or is_of_tests(file.path) or _is_bound(name, file) or _may_be_inherited(name, file):
        return None
    place = f" in {unit.path}" if path else ""
    detail = f"`{unit.was}` is `{unit.name}`{place} now; code that uses the former name fails"
    return CheckResult(Check.DEFINITIONS.value, Ruling.UNKNOWN, detail, noted=True, opens=True)


def lost_values(file: ChangedFile) -> CheckResult | None:
    """The result for public values that a file of the product no longer defines; None if there are none. Parses."""
    before, after = file.text(file.before), file.text(file.after)
    if is_of_tests(file.path) or file.after is None or not before or after is None:
        return None
    source = Source(before)
    units = {each.qualified for each in structure.units(source, file.language)}
    names = [each for each in removed_names(source, Source(after), file.language) if each not in units]
    if not names:
        return None
    detail = f"removed: {first_names(f'`{each}`' for each in names)}; code that uses it fails"
    return CheckResult(Check.DEFINITIONS.value, Ruling.UNKNOWN, detail, noted=True, opens=True)


def renamed_module(file: ChangedFile) -> str:
    """Why a renamed file of code is not judged as a whole; "" if it is not renamed, or no other code can import it."""
    is_renamed = file.was != file.path and is_code(file) and not is_of_tests(file.path)
    if not is_renamed or PurePath(file.was).name.startswith(("_", ".")):
        return ""
    return f"code that uses the former name {file.was}"


def _gone(unit: UnitChange, intent: ChangeIntent) -> CheckResult:
    is_inherited = _may_be_inherited(unit.name, unit.file)
    blames = intent.is_stated and intent.keeps_behavior and not is_inherited
    detail = f"`{unit.name}` was removed; code that uses it fails"
    if is_inherited:
        detail = f"`{unit.name}` was removed; what its class has instead is not compared"
    status = Ruling.FAIL if blames else Ruling.UNKNOWN
    return CheckResult(Check.DEFINITIONS.value, status, detail, refutes=blames, noted=True, opens=True)


def _is_bound(qualified: str, file: ChangedFile) -> bool:
    """Whether the new text of a file gives a name to something: an import, a variable, a unit of the module."""
    name = re.escape(qualified.rpartition(".")[2])
    bound = (
        rf"^\s*(?:from|import|export)\b.*\b{name}\b|^\s*(?:const |let |var )?{name}\s*[:=]|^\s+{name},?$"
        rf"|^(?:export\s+)?(?:async\s+)?(?:def|class|function)\s+{name}\b"
    )
    return re.search(bound, file.text(file.after) or "", re.MULTILINE) is not None


def _may_be_inherited(qualified: str, file: ChangedFile) -> bool:
    """Whether an object may have a removed method all the same: a special one, or one of a base class."""
    owner, _, name = qualified.rpartition(".")
    derived = (
        rf"^\s*(?:export\s+)?class\s+{re.escape(owner.rpartition('.')[2])}\s*(?:\((?!\s*(?:object\s*)?\))|extends\b)"
    )
    is_derived = re.search(derived, file.text(file.after) or "", re.MULTILINE) is not None
    return bool(owner) and (is_derived or (name.startswith("__") and name.endswith("__")))
