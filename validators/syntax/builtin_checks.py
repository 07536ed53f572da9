"""Built-in checks, in process, for what a language forbids and its grammar accepts: rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.syntax import clauses, directives, members
from stet_ls.validators.syntax.repeated_words import repeated

OwnCheck = Callable[[Parsed], tuple[Finding, ...]]
"""The errors of a parsed text. Takes a few milliseconds at most: it runs while the user types."""

_TYPESCRIPT = (repeated("public private protected static readonly abstract override declare export async"),)
OWN_CHECKS: Mapping[str, tuple[OwnCheck, ...]] = {
    "go": (
        clauses.package,
        clauses.top_level(r"(?!\w+_declaration|package_clause|comment)\w+|short_var_declaration"),
        repeated("func var const type struct interface map range return"),
    ),
    "rust": (
        clauses.top_level(r"expression_statement|let_declaration|block"),
        repeated("pub mut fn let for use mod struct enum impl trait unsafe static const match while loop"),
    ),
    "java": (
        clauses.top_level(r"(?!import)\w+_statement|block"),
        repeated(
            "public private protected static final abstract synchronized native transient volatile strictfp class"
            " interface enum extends implements throws import package"
        ),
        members.constructors,
    ),
    "csharp": (
        directives.balance,
        repeated(
            "public private protected internal static readonly abstract virtual override sealed extern unsafe"
            " volatile async partial const event class struct interface enum namespace using delegate operator"
        ),
        members.constructors,
        members.parameters,
        members.arrays,
    ),
    "typescript": _TYPESCRIPT,
    "typescriptreact": _TYPESCRIPT,
    "c": (repeated("struct enum union return static extern typedef int float double void"),),
    "cpp": (
        repeated("class struct enum union typename namespace return friend static template int float double bool void"),
    ),
}
"""By language id. Their findings are part of the grammar's result."""


def builtin_findings(parsed: Parsed) -> tuple[Finding, ...]:
    """The findings of the built-in checks for the text's language."""
    return tuple(found for check in OWN_CHECKS.get(parsed.language, ()) for found in check(parsed))
