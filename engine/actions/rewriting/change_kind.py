"""The kind of bug that a fix removes, and the kind of a refactoring: by rules, from what failed and what changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stet_ls.engine.actions.rewriting.refactor_metrics import measure_metrics
from stet_ls.engine.api.evidence import Check, Evidence
from stet_ls.engine.api.request import Diagnostic
from stet_ls.engine.judges.case import Case
from stet_ls.validators import structure
from stet_ls.validators.changed_excerpt import excerpts

_FAILURES: tuple[tuple[str, str], ...] = (
    ("syntax", r"\bsyntax\s?error|does not parse|unexpected (?:token|indent|eof)|was never closed|expected an? "),
    ("import", r"module\s?not\s?found|import\s?error|cannot find (?:module|package)|unresolved import"),
    (
        "undefined name",
        r"name\s?error|undefined name|\bF82[123]\b|is not defined|undeclared|cannot find (?:name|symbol)",
    ),
    ("division by zero", r"zero\s?division|division by zero|divide by zero"),
    ("missing element", r"index\s?error|key\s?error|index out of|out of (?:range|bounds)|no such element"),
    (
        "missing value",
        r"'?none\s?type'?|null\s?pointer|\bof (?:undefined|null)\b|nil pointer|is possibly '?(?:null|none)",
    ),
    ("missing attribute", r"attribute\s?error|has no (?:attribute|member|property)|is not a function"),
    ("recursion", r"recursion\s?error|maximum (?:recursion|call stack)|stack overflow"),
    ("conversion", r"value\s?error|could not convert|invalid literal|parse\w*\s?error"),
    ("type", r"type\s?error|incompatible type|mismatched types|not assignable|unsupported operand"),
    ("timeout", r"\btime(?:d\s)?out\b|did not (?:end|finish)|endless"),
)
"""Kinds of bugs by what a failure or a diagnostic says; the first that fits counts."""
_TOKEN = re.compile(r"\w+|(?:\*\*|//|<<|>>)=?|[<>=!]==?|[-+*/%&|^]=|&&|\|\||[^\w\s]")
_COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!=", "is", "not", "in", "===", "!=="})
_COMPUTES = frozenset({"+", "-", "*", "/", "//", "%", "**", "|", "&", "^", "<<", ">>", "+=", "-=", "*=", "/="})
_JOINS = frozenset({"and", "or", "&&", "||", "!"})
_BRANCHES = frozenset({"if", "elif", "else", "case", "match", "switch", "try", "except", "catch", "unless", "when"})


def bug_kind(case: Case, evidence: Sequence[Evidence], diagnostics: Iterable[Diagnostic]) -> str:
    """The kind of the bug: by how it showed itself, else by what was changed to remove it."""
    shown = [each.detail for each in evidence if each.check is Check.REPRODUCED]
    words = " ".join([*shown, *(f"{each.code} {each.message}" for each in diagnostics)])
    for kind, pattern in _FAILURES:
        if re.search(pattern, words, re.IGNORECASE):
            return kind
    return _by_change(_changed_tokens(case))


def refactoring_kind(case: Case, evidence: Sequence[Evidence], diagnostics: Iterable[Diagnostic]) -> str:
    """The kind of the refactoring: what was extracted, renamed or merged, else the measure that improved most."""
    before, after = ({each.qualified for each in structure.units(text, case.language)}
                     for text in excerpts(case.before, case.after))  # fmt: skip
    if after > before:
        return "extract"
    if after < before:
        return "inline"
    measures, documented = measure_metrics(case)
    better = {each.words.partition(" ")[0]: each.before - each.after for each in measures if each.after < each.before}
    for name, kind in (("nesting", "flatten"), ("complexity", "simplify"), ("cognitive", "simplify")):
        if name in better:
            return kind
    if any(each.words.endswith("duplicated places") and each.after < each.before for each in measures):
        return "deduplicate"
    change = _changed_tokens(case)
    if change.is_renaming:
        return "rename"
    if any(each.words.endswith("lines") and each.after < each.before for each in measures):
        return "shorten"
    return "document" if documented.after > documented.before and not change.new else "restructure"


@dataclass(frozen=True, slots=True)
class _Change:
    """The words and signs that went, and those that came; `is_renaming`: each that went is a name, and its heir too."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    is_renaming: bool


def _changed_tokens(case: Case) -> _Change:
    old: list[str] = []
    new: list[str] = []
    pairs: set[tuple[str, str]] = set()
    same_length = True
    for went, came in _token_changes(case):
        old += went
        new += came
        same_length &= len(went) == len(came)
        pairs |= set(zip(went, came, strict=False))
    names = all(one.isidentifier() and other.isidentifier() for one, other in pairs)
    unique = len({one for one, _ in pairs}) == len(pairs) == len({other for _, other in pairs})
    return _Change(tuple(old), tuple(new), bool(pairs) and same_length and names and unique)


def _token_changes(case: Case) -> Iterator[tuple[list[str], list[str]]]:
    """The tokens that differ. Those of unchanged lines are not compared: in a large file that takes minutes."""
    before, after = (each.text.splitlines() for each in excerpts(case.before, case.after))
    for went, came in _differences(before, after):
        yield from _differences(*(_TOKEN.findall("\n".join(lines)) for lines in (went, came)))


def _differences(before: list[str], after: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield before[a:b], after[c:d]


def _by_change(change: _Change) -> str:
    old, new = change.old, change.new
    tokens = {*old, *new}
    numbers = [int(each) for each in (*old, *new) if each.isdecimal() and len(each) < 10]
    strict = {frozenset({"<", "<="}), frozenset({">", ">="})}
    if frozenset(tokens) in strict or (len(numbers) == 2 and len(tokens) == 2 and abs(numbers[0] - numbers[1]) == 1):
        return "off by one"
    if tokens <= {"+", "-", "1"} and tokens:
        return "off by one"
    if _BRANCHES & {*new} and not _BRANCHES & {*old}:
        return "missing case"
    if tokens and tokens <= _COMPARES | _JOINS:
        return "wrong condition"
    if tokens and tokens <= _COMPUTES:
        return "wrong operator"
    if old and new and all(each.isdecimal() for each in tokens):
        return "wrong constant"
    return "wrong name" if change.is_renaming else "logic"
