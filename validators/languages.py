"""The languages that Stet knows by name: a table, and look-ups in it. Imports nothing heavy: grammars come later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Literal, TypeVar

from stet_ls.validators.packed_languages import PACKED, ROWS, Row

PLAIN = "plaintext"
"""The language id of a text of which nothing is known."""


LanguageKind = Literal["code", "data", "prose"]
"""What a language is for: programs, values, or words for people."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grammar:
    """Where a grammar lives: a wheel's module, and its function that gives the pointer."""

    module: str
    function: str = "language"


@dataclass(frozen=True, slots=True)
class Language:
    """One row. `id` is the LSP language id; `names` are what fences, other editors and people call it.

    `extensions` and `filenames` are in lower case; "a.*.json" is a filename for any word in its midst. `block_comment`
    is a pair of opener and closer. `grammar` is None where no wheel has one, `packed` is its name in the language pack,
    if that has one; without either a language works, but is not parsed. `trusted` is False where its grammar rejects
    too much valid code (a third of real C++ files) to refuse an edit on its own.

    `family` is the id that languages share whose files import each other ("javascript" for TypeScript), by default the
    own one. `kind` tells code from data and from prose. `indent` is what one level is indented by where a text does not
    show it, `indented` says that blocks end by their indentation alone.

    Names: with `folder_is_package` the files of a folder see each other's without an import, with `global_names` all
    files that are part of a program do. With `classes_only` no function stands outside of a class, with `overloads`
    several functions share one name.

    Text: `aligned` gives columns a meaning, so that code moves as a whole; `docstrings` are strings that open a body;
    `preprocessed` says how lines that switch code off are read (by the symbols that the text defines, or the
    first branch counts, as other files decide), `lifetimes` writes a single quote before a name,
    `takes_fences` has lines of its own that look like Markdown's code fences.
    """

    id: str
    title: str
    names: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    line_comment: str | None = None
    block_comment: tuple[str, str] | None = None
    grammar: Grammar | None = None
    trusted: bool = True
    packed: str | None = None
    family: str = ""
    kind: LanguageKind = "code"
    indent: str | None = None
    indented: bool = False
    folder_is_package: bool = False
    global_names: bool = False
    classes_only: bool = False
    overloads: bool = False
    aligned: bool = False
    docstrings: bool = False
    preprocessed: Literal["", "symbols", "first branch"] = ""
    lifetimes: bool = False
    takes_fences: bool = False


_C = ("/*", "*/")
_HTML = ("<!--", "-->")

# Ids: the table of TextDocumentItem.languageId in LSP 3.17, then those of VS Code.
_OWN: tuple[Language, ...] = (
    Language(
        "python", "Python", ("py", "python3", "pyi"), (".py", ".pyi", ".pyw"), ("sconstruct", "sconscript"), "#",
        None, Grammar("tree_sitter_python"),
        indented=True, docstrings=True,
    ),
    Language(
        "javascript", "JavaScript", ("js", "node", "mjs", "cjs", "ecmascript"), (".js", ".mjs", ".cjs"), (), "//", _C,
        Grammar("tree_sitter_javascript"),
    ),
    Language(
        "javascriptreact", "JavaScript JSX", ("jsx", "javascript.jsx"), (".jsx",), (), "//", _C,
        Grammar("tree_sitter_javascript"),
        family="javascript",
    ),
    Language(
        "typescript", "TypeScript", ("ts", "mts", "cts"), (".ts", ".mts", ".cts"), (), "//", _C,
        Grammar("tree_sitter_typescript", "language_typescript"),
        family="javascript",
    ),
    Language(
        "typescriptreact", "TypeScript JSX", ("tsx", "typescript.tsx"), (".tsx",), (), "//", _C,
        Grammar("tree_sitter_typescript", "language_tsx"),
        family="javascript",
    ),
    Language(
        "go", "Go", ("golang",), (".go",), (), "//", _C, Grammar("tree_sitter_go"),
        indent="\t", folder_is_package=True, global_names=True,
    ),
    Language(
        "rust", "Rust", ("rs",), (".rs",), (), "//", _C, Grammar("tree_sitter_rust"),
        folder_is_package=True, lifetimes=True,
    ),
    Language(
        "java", "Java", (), (".java",), (), "//", _C, Grammar("tree_sitter_java"),
        folder_is_package=True, classes_only=True, overloads=True,
    ),
    Language(
        "c", "C", (), (".c",), (), "//", _C, Grammar("tree_sitter_c"), trusted=False,
        folder_is_package=True, global_names=True, preprocessed="first branch",
    ),
    Language(
        "cpp", "C++", ("c++", "cxx", "cc", "hpp"),
        (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".h", ".ipp", ".inl"), (), "//", _C,
        Grammar("tree_sitter_cpp"), trusted=False,
        family="c", folder_is_package=True, global_names=True, overloads=True, preprocessed="first branch",
    ),
    Language(
        "csharp", "C#", ("cs", "c#", "c_sharp"), (".cs", ".csx"), (), "//", _C, Grammar("tree_sitter_c_sharp"),
        folder_is_package=True, global_names=True, classes_only=True, overloads=True, preprocessed="symbols",
    ),
    Language(
        "shellscript", "Shell", ("sh", "bash", "shell", "zsh", "ksh"), (".sh", ".bash", ".ksh", ".bats"),
        (".bashrc", ".bash_profile", ".bash_aliases", ".profile"), "#", None, Grammar("tree_sitter_bash"),
        global_names=True, takes_fences=True,
    ),
    Language(
        "json", "JSON", (), (".json", ".webmanifest"), (".prettierrc",), None, None, Grammar("tree_sitter_json"),
        kind="data",
    ),
    Language(
        "yaml", "YAML", ("yml",), (".yaml", ".yml"), (".clang-format",), "#", None, Grammar("tree_sitter_yaml"),
        kind="data", indented=True, aligned=True,
    ),
    Language(
        "toml", "TOML", (), (".toml",), ("cargo.lock", "poetry.lock", "uv.lock"), "#", None,
        Grammar("tree_sitter_toml"),
        kind="data",
    ),
    Language(
        "html", "HTML", ("htm", "xhtml"), (".html", ".htm", ".xhtml"), (), None, _HTML, Grammar("tree_sitter_html"),
    ),
    Language("css", "CSS", (), (".css",), (), None, _C, Grammar("tree_sitter_css")),
    Language(
        "ruby", "Ruby", ("rb",), (".rb", ".rake", ".gemspec", ".ru"), ("gemfile", "rakefile"), "#",
        ("=begin", "=end"), Grammar("tree_sitter_ruby"),
        global_names=True,
    ),
    Language(
        "php", "PHP", (), (".php", ".phtml"), (), "//", _C, Grammar("tree_sitter_php", "language_php"),
        global_names=True,
    ),
    Language(
        "kotlin", "Kotlin", ("kt", "kts"), (".kt", ".kts"), (), "//", _C, Grammar("tree_sitter_kotlin"),
        folder_is_package=True, trusted=False,  # it rejects one of fifty real files, and no tool overrules it
    ),
    Language(
        "swift", "Swift", (), (".swift",), (), "//", _C, Grammar("tree_sitter_swift"),
        folder_is_package=True, global_names=True,
    ),
    Language("lua", "Lua", (), (".lua",), (), "--", ("--[[", "]]"), Grammar("tree_sitter_lua"), global_names=True),
    # Without a wheel of their own: they are parsed if the language pack is there, and answers say so if they were not.
    Language(
        "markdown", "Markdown", ("md",), (".md", ".markdown"), (), None, _HTML,
        kind="prose", aligned=True, takes_fences=True,
    ),
    Language("restructuredtext", "reStructuredText", ("rst",), (".rst",), (), "..", kind="prose", aligned=True),
    Language("latex", "LaTeX", ("tex",), (".tex", ".sty"), (), "%", kind="prose", aligned=True),
    Language(
        "jsonc", "JSON with comments", (), (".jsonc",), ("tsconfig.json", "tsconfig.*.json", "jsconfig.json"), "//", _C,
        family="json", kind="data",
    ),
    Language("xml", "XML", ("svg",), (".xml", ".svg", ".xsd", ".xsl"), (), None, _HTML),
    Language("scss", "SCSS", (), (".scss",), (), "//", _C, family="css"),
    Language("less", "Less", (), (".less",), (), "//", _C, family="css"),
    Language("vue", "Vue", (), (".vue",), (), None, _HTML),
    Language("svelte", "Svelte", (), (".svelte",), (), None, _HTML),
    Language("sql", "SQL", ("postgresql", "mysql", "sqlite"), (".sql",), (), "--", _C),
    Language("scala", "Scala", (), (".scala", ".sbt"), (), "//", _C),
    Language("dart", "Dart", (), (".dart",), (), "//", _C),
    Language("elixir", "Elixir", ("ex", "exs"), (".ex", ".exs"), (), "#"),
    Language("erlang", "Erlang", ("erl",), (".erl", ".hrl"), (), "%"),
    Language("haskell", "Haskell", ("hs",), (".hs",), (), "--", ("{-", "-}"), indented=True, aligned=True),
    Language("ocaml", "OCaml", ("ml",), (".ml",), (), None, ("(*", "*)")),
    Language("clojure", "Clojure", ("clj",), (".clj", ".cljs", ".cljc", ".edn"), (), ";"),
    Language("fsharp", "F#", ("fs", "f#"), (".fs", ".fsx"), (), "//", ("(*", "*)"), indented=True),
    Language("groovy", "Groovy", ("gradle",), (".groovy", ".gradle"), ("jenkinsfile",), "//", _C),
    Language("julia", "Julia", ("jl",), (".jl",), (), "#", ("#=", "=#")),
    Language("r", "R", (), (".r",), (), "#"),
    Language("perl", "Perl", ("pl",), (".pl", ".pm"), (), "#"),
    Language("powershell", "PowerShell", ("ps1", "pwsh"), (".ps1", ".psm1", ".psd1"), (), "#", ("<#", "#>")),
    Language("objective-c", "Objective-C", ("objc",), (".m",), (), "//", _C),
    Language("zig", "Zig", (), (".zig",), (), "//"),
    Language("nix", "Nix", (), (".nix",), (), "#", _C),
    Language("lisp", "Lisp", ("commonlisp", "common-lisp"), (".lisp", ".lsp", ".cl"), (), ";"),
    Language("viml", "Vim script", ("vim",), (".vim",), (".vimrc",), '"'),
    Language("makefile", "Makefile", ("make",), (".mk",), ("makefile", "gnumakefile"), "#", indent="\t"),
    Language("dockerfile", "Dockerfile", ("docker", "containerfile"), (), ("dockerfile", "containerfile"), "#"),
    Language("cmake", "CMake", (), (".cmake",), ("cmakelists.txt",), "#"),
    Language("terraform", "Terraform", ("tf",), (".tf", ".tfvars"), (), "#", _C),
    Language("proto", "Protocol Buffers", ("protobuf", "proto3"), (".proto",), (), "//", _C),
    Language("graphql", "GraphQL", ("gql",), (".graphql", ".gql"), (), "#"),
    Language("ini", "INI", ("cfg", "dosini"), (".ini", ".cfg"), (".editorconfig",), ";", kind="data"),
    Language("diff", "Diff", ("patch", "udiff"), (".diff", ".patch"), kind="data"),
    Language("nim", "Nim", (), (".nim", ".nims", ".nimble"), (), "#", ("#[", "]#"), indented=True),
    Language("coffeescript", "CoffeeScript", ("coffee",), (".coffee",), (), "#", ("###", "###"), indented=True),
    Language("csv", "CSV", (), (".csv",), kind="data"),
    Language(PLAIN, "Plain text", ("text", "txt"), (".txt",), kind="prose", aligned=True),
)  # fmt: skip


def _of_pack(row: Row) -> Language:
    id_, title, names, extensions, filenames, line_comment, block_comment, packed = row
    lists = tuple(names.split()), tuple(extensions.split()), tuple(filenames.split())
    return Language(id_, title, *lists, line_comment, block_comment, packed=packed, family=id_)


LANGUAGES: tuple[Language, ...] = (
    *(replace(row, packed=PACKED.get(row.id), family=row.family or row.id) for row in _OWN),
    *map(_of_pack, ROWS),
)
"""All that is known."""

_BY_ID = {row.id: row for row in LANGUAGES}
_BY_NAME = {name: row for row in reversed(LANGUAGES) for name in (row.title.lower(), *row.names)} | _BY_ID
_BY_EXTENSION = {extension: row.id for row in reversed(LANGUAGES) for extension in row.extensions}
_BY_FILENAME = {name: row.id for row in reversed(LANGUAGES) for name in row.filenames}


def language(name: str) -> Language | None:
    """The row of a language id, or of another name for it ("cs", "C#", "tsx"); None for a stranger."""
    return _BY_ID.get(name) or _BY_NAME.get(name.strip().lower())


def for_language(name: str) -> Language:
    """The row of a language id; that of plain code without comments for a stranger's."""
    return _BY_ID.get(name) or Language(name, name, family=name)


def family(name: str) -> tuple[str, ...]:
    """The ids of a language and of those that share its family."""
    own = for_language(name).family
    return tuple(row.id for row in LANGUAGES if row.family == own) or (name,)


def row_for(rows: Mapping[str, T], name: str, default: T) -> T:
    """A room's row for a language id: its own, else that of its family, else the default."""
    return rows.get(name) or rows.get(for_language(name).family) or default


def language_of(path: Path | str) -> str:
    """The language id that a file's name tells, `PLAIN` if it tells none. The file is not opened."""
    name = PurePath(path).name.lower()
    stem, suffix = name.partition(".")[0], PurePath(name).suffix
    by_name = _BY_FILENAME.get(name) or _BY_FILENAME.get(f"{stem}.*{suffix}") or _BY_EXTENSION.get(suffix)
    return by_name or _BY_FILENAME.get(stem, PLAIN)
