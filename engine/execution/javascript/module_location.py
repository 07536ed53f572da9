"""Where a JavaScript or TypeScript text is in its project, and what its callers see of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.execution.javascript.inputs.subject import read_module, top_names
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import descendants, part_of, text_of
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.spec import Overlay

if TYPE_CHECKING:
    import tree_sitter

_IMPORTED = re.compile(r"""(?:\bfrom|\bimport|\brequire)\s*\(?\s*["']((?!node:)[^"'\n]+)["']""")
_BUILT_IN = frozenset({
    "fs", "path", "os", "util", "crypto", "events", "assert", "url", "buffer", "stream", "http", "https", "net",
    "child_process",
})  # fmt: skip
_READS = re.compile(r"__dirname|__filename|import\.meta|readFile|createReadStream")
_MODULE = re.compile(r"^\s*(?:import\b(?!\s*\()|export\b)", re.MULTILINE)
_EXTENSIONS = {"javascriptreact": ".jsx", "typescript": ".ts", "typescriptreact": ".tsx"}


@dataclass(frozen=True, slots=True)
class ScriptLocation:
    """A module's path, relative to its working folder. `overlay` is the workspace if the text needs it."""

    path: Path
    overlay: Overlay | None = None


def locate_script(path: Path | None, texts: tuple[str, ...], language: str, runtime: Runtime) -> ScriptLocation:
    """The place of a text's file. Reads folders: not for the event loop."""
    root = runtime.root_of(path)
    imported = {name for text in texts for name in _IMPORTED.findall(text)} - _BUILT_IN
    needs = imported or language.startswith("typescript") or any(_READS.search(text) for text in texts)
    if path is None or root is None or not needs:
        module = any(_MODULE.search(text) for text in texts)
        stem = re.sub(r"[^\w.-]", "_", path.stem) if path else "target"
        return ScriptLocation(Path(stem + _EXTENSIONS.get(language, ".mjs" if module else ".cjs")))
    return ScriptLocation(path.relative_to(root), Overlay(root, runtime.unsaved(root, path)))


def with_exposed_names(text: str, language: str, globals_: tuple[str, ...] = ()) -> str:
    """The text with a last line that exposes its functions, classes and `globals_` to the harness, exported or not."""
    module = read_module(text, language)
    names = dict.fromkeys((*(top_names(module) if module else ()), *globals_))
    return f"{text}\n;globalThis.__stet__ = {{ {', '.join(f'get {name}() {{ return {name} }}' for name in names)} }};\n"


def exported_variables(text: str, language: str) -> tuple[str, ...]:
    """The variables, functions aside, that a module exports: others see what a call does to them."""
    module = read_module(text, language)
    if module is None:
        return ()
    exports = re.findall(r"\bexport\s*\{([^}]*)\}|\bmodule\.exports\s*=\s*\{([^}]*)\}", text)
    listed = {word.split()[0].rstrip(":") for pair in exports for word in "".join(pair).split(",") if word.split()}
    found = []
    for statement in module.parsed.root.named_children:
        is_exported = statement.type == "export_statement"
        for name in _declared(statement):
            if (is_exported or name in listed) and name not in module.found:
                found.append(name)
    return tuple(found)


def isolated_unit(text: str, language: str, unit: str) -> str | None:
    """The unit with what it uses of its own file, imports included, and nothing else; None if it does not exist.

    For a file that cannot be loaded: the unit may not need what fails.
    """
    module = read_module(text, language)
    if module is None:
        return None
    statements = module.parsed.root.named_children
    owners = {name: node for node in statements for name in _binds(node)}
    wanted, kept = [unit.partition(".")[0]], set()
    if wanted[0] not in owners:
        return None
    while wanted:
        node = owners.get(wanted.pop())
        if node is not None and node.id not in kept:
            kept.add(node.id)
            wanted += _names(node)
    return "\n".join(text_of(node) for node in statements if node.id in kept)


def _declared(statement: tree_sitter.Node) -> Iterator[str]:
    """The variables that a statement of a module declares by plain names."""
    inner = statement.child_by_field_name("declaration") if statement.type == "export_statement" else statement
    if inner is not None and inner.type in ("lexical_declaration", "variable_declaration"):
        for each in inner.named_children:
            name = each.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                yield text_of(name)


def _binds(statement: tree_sitter.Node) -> Iterator[str]:
    inner = statement.child_by_field_name("declaration") if statement.type == "export_statement" else statement
    if inner is None:
        return
    if inner.type == "import_statement":
        clause = next((each for each in inner.named_children if each.type == "import_clause"), None)
        yield from _names(clause) if clause is not None else ()
    elif inner.type in ("lexical_declaration", "variable_declaration"):
        for each in inner.named_children:
            pattern = each.child_by_field_name("name")
            yield from _names(pattern) if pattern is not None else ()
    else:
        yield from filter(None, [text_of(part_of(inner, "name"))])


def _names(node: tree_sitter.Node) -> Iterator[str]:
    for each in descendants(node):
        if each.type in ("identifier", "type_identifier", "shorthand_property_identifier",
                         "shorthand_property_identifier_pattern"):  # fmt: skip
            yield text_of(each)
