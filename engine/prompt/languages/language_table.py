"""The table of languages with their own wording in prompts: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from stet_ls.engine.prompt.languages import go, javascript, python, rust
from stet_ls.engine.prompt.languages.import_binding import Binding, dotted, include, quoted
from stet_ls.engine.prompt.languages.project_fact import Fact
from stet_ls.validators.languages import lookup


@dataclass(frozen=True, slots=True)
class PromptLanguage:
    """The parts of a prompt that depend on a language.

    `card`: the most common mistakes of models, in one line; without it the prompt has only the name. `test_hint`:
    how its tests are written. Asked for "the tests", a tiny model writes a list of names; with every wording tried it
    sometimes keeps adding checks, which the parser of the reply cuts off. `tag`: the tag of the reply's code block, if
    the language's id would confuse a model. `conventions`: the files of a project with its conventions, and the reader
    of each. `bindings`: reads the bindings of an import statement.
    """

    card: str = ""
    test_hint: str = "short tests"
    tag: str = ""
    conventions: Mapping[str, Callable[[str], Iterator[Fact]]] = field(default_factory=dict)
    bindings: Callable[[str, Path | None], Iterator[Binding]] = lambda _text, _path: iter(())


_JAVASCRIPT = PromptLanguage(
    card="Modern JavaScript: const and let, ===, no new packages.",
    test_hint='calls `test("name", () => { ... })`, each with one or two checks',
    conventions={"package.json": javascript.package},
    bindings=javascript.bindings,
)
_TYPESCRIPT = replace(
    _JAVASCRIPT,
    card="TypeScript, strict: no any, no new packages.",
    conventions={"package.json": javascript.package, "tsconfig.json": javascript.tsconfig},
)
ROWS: Mapping[str, PromptLanguage] = {
    "python": PromptLanguage(
        card="Python 3. Keep type hints. Raise errors, do not print them.",
        test_hint="functions `def test_name():`, each with one or two `assert`",
        conventions={"pyproject.toml": python.pyproject},
        bindings=python.bindings,
    ),
    "javascript": _JAVASCRIPT,
    "javascriptreact": replace(_JAVASCRIPT, card="", tag="jsx"),
    "typescript": _TYPESCRIPT,
    "typescriptreact": replace(_TYPESCRIPT, card="", tag="tsx"),
    "go": PromptLanguage(
        card="Go: return errors, do not panic; keep it gofmt-clean.",
        test_hint="functions `func TestName(t *testing.T) {`, each with one or two `t.Errorf`",
        bindings=go.bindings,
    ),
    "rust": PromptLanguage(
        card="Rust 2021: no unwrap on what can fail, no needless clone.",
        test_hint="functions `#[test] fn name() {`, each with one or two `assert_eq!`",
        bindings=rust.bindings,
    ),
    "java": PromptLanguage(
        card="Java 17: keep modifiers and annotations.",
        test_hint="methods `@Test void name() {`, each with one or two `assertEquals`",
        bindings=dotted,
    ),
    "c": PromptLanguage(bindings=include),
    "cpp": PromptLanguage(card="C++17: const references, RAII, no raw new.", bindings=include),
    "csharp": PromptLanguage(
        card="C#: keep nullability and modifiers.",
        test_hint="methods `[Fact] public void Name() {`, each with one or two `Assert.Equal`",
        tag="cs",
        bindings=dotted,
    ),
    "shellscript": PromptLanguage(tag="bash"),
    "kotlin": PromptLanguage(bindings=dotted),
    "php": PromptLanguage(bindings=dotted),
    "ruby": PromptLanguage(bindings=quoted),
    "lua": PromptLanguage(bindings=quoted),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, PromptLanguage())
"""The row of a language id; the defaults for any other language."""
