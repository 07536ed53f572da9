"""Rust for the loop: a file of tests that includes the code as text, so that private items can be tested too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.actions.generate_test_fix.signatures_only import SignatureOutline
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.engine.runners.languages.rust import is_workspace
from stet_ls.validators.project_files import read_text
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter

RUST = SignatureOutline("rust", frozenset({"use_declaration", "extern_crate_declaration", "attribute_item"}))
RULES = ("Write plain functions under #[test], no module around them; what is tested is in scope already.",)
ASSERTS = r"\b(?:assert(?:_eq|_ne)?|panic|debug_assert(?:_eq|_ne)?)!|#\[should_panic"
_INNER = re.compile(r"^[ \t]*(?:#!\[|//!|/\*!)", re.MULTILINE)
_ELSEWHERE = re.compile(r"\bcrate::|^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?mod\s+\w+\s*;", re.MULTILINE)
_USE = re.compile(r"^(?P<indent>[ \t]*)use\s+(?P<scope>\w+)::(?P<names>[^;]{0,2000});[^\n]*\n", re.MULTILINE)
_SIBLING_CRATE = re.compile(r"""\bpath\s*=\s*["']\.\./""")
_LARGEST = 1_000_000
_SCOPES = ("std", "core", "alloc", "crate", "super", "self")


def unloadable(about: CodeUnderTest) -> str:
    """Why a file of tests cannot include this one, as text; "" if it can."""
    if _ELSEWHERE.search(about.text):
        return "the file needs other modules of its crate, and its tests would have to lie among them"
    if _INNER.search(about.text):
        return "the file begins with inner attributes, which cannot be included in a file of tests"
    return ""


def tests(code: str) -> tuple[str, ...]:
    """The functions under `#[test]`, each prefixed with the names of the modules around it."""
    parsed = tree_of(Source(code), "rust")
    return tuple(_tests(parsed.root, "")) if parsed is not None else ()


def _tests(block: tree_sitter.Node, before: str) -> Iterator[str]:
    marked = False
    for node in block.named_children:
        if node.type == "attribute_item" or "comment" in node.type:
            marked = marked or node.text == b"#[test]"
            continue
        named, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        name = named.text.decode() if named is not None and named.text else ""
        if node.type == "function_item" and marked:
            yield f"{before}{name}"
        elif node.type == "mod_item" and body is not None:
            yield from _tests(body, f"{before}{name}::")
        marked = False


def ready(code: str, about: CodeUnderTest, place: Path) -> str:
    """The tests after the included code: their module under a free name, without imports that the code already has."""
    brings = re.compile(rf"\b{re.escape(about.outermost)}\b|\*")

    def imported(match: re.Match[str]) -> str:
        if not brings.search(match["names"]):
            return match[0]
        if match["scope"] in _SCOPES:
            return match[0] if match["indent"] or match["scope"] in ("std", "core", "alloc") else ""
        return f"{match['indent']}use crate::*;\n" if match["indent"] else ""

    code = _USE.sub(imported, code)
    code = re.sub(r"^mod tests\b", "mod from_its_specification", code, flags=re.MULTILINE)
    return f'include!("{about.seen_from(place)}");\n\n{code}'


def root(about: CodeUnderTest) -> Path | None:
    """The workspace of the file's crate, else the crate; the whole open folder if it needs a sibling crate."""
    crate = about.innermost("Cargo.toml")
    if crate is None or about.root is None:
        return about.root
    manifests = {
        each: read_text(each / "Cargo.toml", most=_LARGEST) or ""
        for each in (crate, *crate.parents)
        if each.is_relative_to(about.root)
    }
    default = about.root if _SIBLING_CRATE.search(manifests[crate]) else crate
    return next((each for each, text in manifests.items() if is_workspace(text)), default)


def folder(about: CodeUnderTest) -> Path:
    """The folder of the tests: `tests` of the crate, where cargo finds them, or next to a file without a crate."""
    crate = about.innermost("Cargo.toml")
    return crate / "tests" if crate is not None and (crate / "Cargo.toml").is_file() else about.path.parent
