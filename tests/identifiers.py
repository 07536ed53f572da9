"""The linter of names in `make check`: modules, classes, functions, parameters, variables and fields in plain words.

`python tests/identifiers.py` reads names by their words, split at underscores and capitals, and refuses those of a
table, as well as those that `tests/prose.py` refuses in docstrings. That linter reads the names of tests, too: they are
sentences. Of JavaScript only declarations are read.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pages.message_table import PACKAGES
from prose import DATA, ROOT, RULES, Where


@dataclass(frozen=True)
class NameRule:
    """Words that are not to appear in a name, as a pattern, and what to write instead."""

    words: str
    instead: str


NAME_RULES: Final = (
    NameRule("told|tells?|telling|untold", "reported, shown, described, message"),
    NameRule("beside", "neighbor, others, next_to"),
    NameRule("apart", "separate, distinct, excluded"),
    NameRule("boxed", "sandboxed"),
    NameRule("everybody", "all, everyone"),
    NameRule("wants|wish(?:ed|es)?", "needs, expects, requested, instruction"),
    NameRule("doubts?|doubted|doubtful|doubting", "uncertain, unproven"),
    NameRule("owe[ds]?|debts?", "pending"),
    NameRule("whence", "origin, source"),
    NameRule("spoken", "requested, in_prose"),
    NameRule("grave", "severe"),
    NameRule("strange", "invalid, unknown, foreign"),
    NameRule("patience|impatient|unhurried", "timeout, deadline, seconds"),
    NameRule("landed|landing", "applied"),
    NameRule("glances?", "fast_check"),
    NameRule("unneeded", "nothing_to_do, unused"),
    NameRule("lonely|homeless|daring|thrifty|peaceful|breathed|heir|spoilt", "what it is, not how it feels"),
)

ON_THE_WIRE: Final[Mapping[tuple[str, str], str]] = {
    ("engine/settings/table_schemas.py", "wants"): "the key of a custom action in the user's settings",
    ("engine/actions/custom/custom_action.py", "wants"): "that key, and the field for packages that bring actions",
}
"""Names that others read, by their file, each with its reason."""


_DECLARED: Final = re.compile(r"\b(?:const|let|function\*?|class) +([A-Za-z_$][\w$]*)")


@dataclass(frozen=True)
class Identifier:
    """A name where it is defined."""

    path: str
    line: int
    name: str


def words_of(name: str) -> str:
    """The words of a name in lower case, separated by blanks: "old name" for `old_name`, `OldName` and `OLD_NAME`."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).lower()


@cache
def problems(name: str) -> tuple[str, ...]:
    """What a name breaks, a sentence each."""
    words = words_of(name)
    patterns = {rf"\b(?:{rule.words})\b": rule.instead for rule in NAME_RULES}
    patterns |= {rule.pattern: rule.instead for rule in RULES if rule.where & Where.DOCSTRING}
    found = {
        match[0]: instead for each, instead in patterns.items() if (match := re.search(each, words, re.IGNORECASE))
    }
    return tuple(f'`{name}`: instead of "{word}" write {instead}' for word, instead in found.items())


def identifiers(root: Path) -> Iterator[Identifier]:
    """The names that the code below `root` defines, and those of its Python files."""
    for package in (*PACKAGES, "tests"):
        for file in sorted((root / package).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix == ".py" and not path.startswith(DATA):
                yield Identifier(path, 1, file.stem if file.stem != "__init__" else file.parent.name)
                for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                    yield from (Identifier(path, getattr(node, "lineno", 1), name) for name in _defined(node))
            elif file.suffix in (".mjs", ".cjs"):
                for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
                    yield from (Identifier(path, number, found[1]) for found in _DECLARED.finditer(line))


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
            pass
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def refused(root: Path, allowed: Mapping[tuple[str, str], str] = ON_THE_WIRE) -> list[str]:
    """Each refused name as `path:line: problem`, and each exception that excuses none."""
    lines, used = [], set()
    for each in identifiers(root):
        for problem in problems(each.name):
            if (key := (each.path, each.name)) in allowed:
                used.add(key)
            else:
                lines.append(f"{each.path}:{each.line}: {problem}")
    lines += [f"tests/identifiers.py: `{name}` in {path} needs no exception" for path, name in allowed.keys() - used]
    return lines


def main() -> int:
    """Prints what is refused; returns 1 if anything is."""
    lines = refused(ROOT)
    for line in dict.fromkeys(lines):
        print(line)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
