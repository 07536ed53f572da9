"""The built-in languages: one row each."""

from __future__ import annotations

import re
from dataclasses import replace

from stet_ls.validators.language_table.row import DOC_COMMENT, NO_COMMENT, Grammar, Language, NodeKinds

_C = ("/*", "*/")
_HTML = ("<!--", "-->")


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ECMASCRIPT = NodeKinds(
    functions=_kinds("function_declaration generator_function_declaration method_definition"),
    classes=_kinds(
        "class_declaration abstract_class_declaration interface_declaration enum_declaration type_alias_declaration"
    ),
    values=_kinds("arrow_function function_expression generator_function class"),
    wrappers=_kinds(
        "export_statement lexical_declaration variable_declaration variable_declarator pair public_field_definition"
        " field_definition assignment_expression expression_statement ambient_declaration"
    ),
    leading=_kinds("decorator"),
    docs=DOC_COMMENT,
    imports=_kinds("import_statement import_alias"),
    requires=re.compile(r"(?:const|let|var)\s[^=]*=\s*require\s*\("),
    calls={"call_expression": "function", "new_expression": "constructor"},
    symbols={"variable_declarator": "variable", "field_definition": "field"},
)
_TYPED_ECMASCRIPT = replace(
    _ECMASCRIPT,
    symbols={
        "variable_declarator": "variable",
        "public_field_definition": "field",
        "property_signature": "field",
        "method_signature": "method",
        "abstract_method_signature": "method",
        "function_signature": "function",
        "internal_module": "namespace",
        "module": "namespace",
    },
)

_C_FAMILY = NodeKinds(
    functions=_kinds("function_definition"),
    classes=_kinds("class_specifier struct_specifier union_specifier enum_specifier concept_definition"),
    wrappers=_kinds("template_declaration type_definition declaration"),
    leading=_kinds("attribute_declaration"),
    imports=_kinds("preproc_include using_declaration import_declaration"),
    calls={"call_expression": "function", "new_expression": "type"},
    symbols={
        "declaration": "variable",
        "field_declaration": "field",
        "alias_declaration": "type",
        "type_definition": "type",
        "namespace_definition": "namespace",
        "preproc_def": "constant",
        "preproc_function_def": "function",
        "enumerator": "enum member",
    },
)

# Ids: the table of TextDocumentItem.languageId in LSP 3.17, then those of VS Code.
OWN: tuple[Language, ...] = (
    Language(
        "python", "Python", ("py", "python3", "pyi"), (".py", ".pyi", ".pyw"), ("sconstruct", "sconscript"), "#",
        None, Grammar("tree_sitter_python"),
        indented=True, docstrings=True,
        kinds=NodeKinds(
            functions=_kinds("function_definition"),
            classes=_kinds("class_definition"),
            wrappers=_kinds("decorated_definition"),
            docs=NO_COMMENT,
            imports=_kinds("import_statement import_from_statement future_import_statement"),
            calls={"call": "function"},
            symbols={"assignment": "variable", "type_alias_statement": "type"},
        ),
    ),
    Language(
        "javascript", "JavaScript", ("js", "node", "mjs", "cjs", "ecmascript"), (".js", ".mjs", ".cjs"), (), "//", _C,
        Grammar("tree_sitter_javascript"),
        kinds=_ECMASCRIPT,
    ),
    Language(
        "javascriptreact", "JavaScript JSX", ("jsx", "javascript.jsx"), (".jsx",), (), "//", _C,
        Grammar("tree_sitter_javascript"),
        family="javascript",
        kinds=_ECMASCRIPT,
    ),
    Language(
        "typescript", "TypeScript", ("ts", "mts", "cts"), (".ts", ".mts", ".cts"), (), "//", _C,
        Grammar("tree_sitter_typescript", "language_typescript"),
        family="javascript",
        kinds=_TYPED_ECMASCRIPT,
    ),
    Language(
        "typescriptreact", "TypeScript JSX", ("tsx", "typescript.tsx"), (".tsx",), (), "//", _C,
        Grammar("tree_sitter_typescript", "language_tsx"),
        family="javascript",
        kinds=_TYPED_ECMASCRIPT,
    ),
    Language(
        "go", "Go", ("golang",), (".go",), (), "//", _C, Grammar("tree_sitter_go"),
        indent="\t", folder_is_package=True, global_names=True,
        kinds=NodeKinds(
            functions=_kinds("function_declaration method_declaration"),
            classes=_kinds("type_spec"),
            values=_kinds("func_literal"),
            wrappers=_kinds("type_declaration var_declaration var_spec short_var_declaration expression_list"),
            imports=_kinds("import_declaration"),
            calls={"call_expression": "function"},
            symbols={
                "const_spec": "constant",
                "var_spec": "variable",
                "method_elem": "method",
                "field_declaration": "field",
            },
        ),
    ),
    Language(
        "rust", "Rust", ("rs",), (".rs",), (), "//", _C, Grammar("tree_sitter_rust"),
        folder_is_package=True, lifetimes=True,
        kinds=NodeKinds(
            functions=_kinds("function_item macro_definition"),
            classes=_kinds("struct_item enum_item union_item trait_item impl_item"),
            leading=_kinds("attribute_item"),
            docs=DOC_COMMENT,
            imports=_kinds("use_declaration extern_crate_declaration"),
            calls={"call_expression": "function", "macro_invocation": "macro"},
            symbols={
                "const_item": "constant",
                "static_item": "variable",
                "type_item": "type",
                "mod_item": "namespace",
                "function_signature_item": "method",
                "field_declaration": "field",
                "enum_variant": "enum member",
            },
        ),
    ),
    Language(
        "java", "Java", (), (".java",), (), "//", _C, Grammar("tree_sitter_java"),
        folder_is_package=True, classes_only=True, overloads=True,
        kinds=NodeKinds(
            functions=_kinds("method_declaration constructor_declaration compact_constructor_declaration"),
            classes=_kinds(
                "class_declaration interface_declaration enum_declaration record_declaration"
                " annotation_type_declaration"
            ),
            docs=DOC_COMMENT,
            imports=_kinds("import_declaration"),
            calls={"method_invocation": "name", "object_creation_expression": "type"},
            symbols={
                "field_declaration": "field",
                "constant_declaration": "constant",
                "enum_constant": "enum member",
                "annotation_type_element_declaration": "method",
            },
        ),
    ),
    Language(
        "c", "C", (), (".c",), (), "//", _C, Grammar("tree_sitter_c"), trusted=False,
        folder_is_package=True, global_names=True, preprocessed="first branch",
        kinds=_C_FAMILY,
    ),
    Language(
        "cpp", "C++", ("c++", "cxx", "cc", "hpp"),
        (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".h", ".ipp", ".inl"), (), "//", _C,
        Grammar("tree_sitter_cpp"), trusted=False,
        family="c", folder_is_package=True, global_names=True, overloads=True, preprocessed="first branch",
        kinds=_C_FAMILY,
    ),
    Language(
        "csharp", "C#", ("cs", "c#", "c_sharp"), (".cs", ".csx"), (), "//", _C, Grammar("tree_sitter_c_sharp"),
        folder_is_package=True, global_names=True, classes_only=True, overloads=True, preprocessed="symbols",
        kinds=NodeKinds(
            functions=_kinds(
                "method_declaration constructor_declaration destructor_declaration operator_declaration"
                " conversion_operator_declaration local_function_statement property_declaration indexer_declaration"
            ),
            classes=_kinds(
                "class_declaration interface_declaration enum_declaration record_declaration struct_declaration"
            ),
            wrappers=_kinds("global_statement"),
            leading=_kinds("attribute_list"),
            docs=DOC_COMMENT,
            imports=_kinds("using_directive extern_alias_directive"),
            calls={"invocation_expression": "function", "object_creation_expression": "type"},
            symbols={
                "namespace_declaration": "namespace",
                "file_scoped_namespace_declaration": "namespace",
                "field_declaration": "field",
                "event_field_declaration": "field",
                "delegate_declaration": "type",
                "enum_member_declaration": "enum member",
            },
        ),
    ),
    Language(
        "shellscript", "Shell", ("sh", "bash", "shell", "zsh", "ksh"), (".sh", ".bash", ".ksh", ".bats"),
        (".bashrc", ".bash_profile", ".bash_aliases", ".profile"), "#", None, Grammar("tree_sitter_bash"),
        global_names=True, takes_fences=True,
        kinds=NodeKinds(
            functions=_kinds("function_definition"),
            classes=frozenset(),
            requires=re.compile(r"(?:source|\.)\s"),
            calls={"command": "name"},
        ),
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
        kinds=NodeKinds(
            functions=_kinds("method singleton_method"),
            classes=_kinds("class module"),
            requires=re.compile(r"(?:require|require_relative|load|autoload)\b"),
            calls={"call": "method"},
            bare_bodies=True,
        ),
    ),
    Language(
        "php", "PHP", (), (".php", ".phtml"), (), "//", _C, Grammar("tree_sitter_php", "language_php"),
        global_names=True,
        kinds=NodeKinds(
            functions=_kinds("function_definition method_declaration"),
            classes=_kinds("class_declaration interface_declaration trait_declaration enum_declaration"),
            leading=_kinds("attribute_list"),
            docs=DOC_COMMENT,
            imports=_kinds("namespace_use_declaration"),
            calls={
                "function_call_expression": "function",
                "member_call_expression": "name",
                "scoped_call_expression": "name",
                "object_creation_expression": "",
            },
        ),
    ),
    Language(
        "kotlin", "Kotlin", ("kt", "kts"), (".kt", ".kts"), (), "//", _C, Grammar("tree_sitter_kotlin"),
        folder_is_package=True, trusted=False,  # it rejects one of fifty real files, and no tool overrules it
        kinds=NodeKinds(
            functions=_kinds("function_declaration secondary_constructor"),
            classes=_kinds("class_declaration object_declaration companion_object"),
            docs=DOC_COMMENT,
            imports=_kinds("import import_header import_list"),
            calls={"call_expression": ""},
        ),
    ),
    Language(
        "swift", "Swift", (), (".swift",), (), "//", _C, Grammar("tree_sitter_swift"),
        folder_is_package=True, global_names=True,
        kinds=NodeKinds(
            functions=_kinds("function_declaration init_declaration deinit_declaration"),
            classes=_kinds("class_declaration protocol_declaration"),
            docs=DOC_COMMENT,
            imports=_kinds("import_declaration"),
            calls={"call_expression": ""},
        ),
    ),
    Language(
        "lua", "Lua", (), (".lua",), (), "--", ("--[[", "]]"), Grammar("tree_sitter_lua"), global_names=True,
        kinds=NodeKinds(
            functions=_kinds("function_declaration"),
            classes=frozenset(),
            values=_kinds("function_definition"),
            wrappers=_kinds("expression_list assignment_statement variable_declaration field"),
            requires=re.compile(r"(?:local\s[^=]*=\s*)?require\b"),
            calls={"function_call": "name"},
            bare_bodies=True,
        ),
    ),
    # Without their own wheel: they are parsed if the language pack is installed, and answers say if they were not.
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
    Language("plaintext", "Plain text", ("text", "txt"), (".txt",), kind="prose", aligned=True),
)  # fmt: skip
