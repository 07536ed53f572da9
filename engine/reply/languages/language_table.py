"""The table of languages whose replies need special handling: one row per language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stet_ls.engine.reply.languages import go, java, javascript, python, rust
from stet_ls.engine.reply.languages.import_form import ImportForm, whole
from stet_ls.validators.languages import lookup

HOST = "StetHost"
"""The name of the class that is added around a method for parsing."""
_PLAIN = ("", "")
_CLASS = (f"class {HOST} {{\n", "\n}\n")


@dataclass(frozen=True, slots=True)
class ReplyLanguage:
    """How a reply in a language is read and fitted into a document.

    `imports`: their form, so that a reply's imports go to the document's block; without it they stay where the reply
    has them. `blank_lines`: between top-level definitions. `frames`: text added around code for parsing it, since not
    every language allows a method on its own; none around code that has `opening` in it. `bare_ellipsis`: `...` may
    be a whole body. `plain_words`: words without any sign of code are valid. `is_page`: its files may begin like a
    web server's error page.
    """

    imports: ImportForm | None = None
    blank_lines: int = 1
    frames: tuple[tuple[str, str], ...] = (_PLAIN,)
    opening: str = ""
    bare_ellipsis: bool = False
    plain_words: bool = False
    is_page: bool = False


_KEPT = ImportForm(whole)
_WORDS = ReplyLanguage(plain_words=True)
_PAGE = ReplyLanguage(is_page=True)
ROWS: Mapping[str, ReplyLanguage] = {
    "python": ReplyLanguage(python.IMPORTS, blank_lines=2, bare_ellipsis=True),
    "javascript": ReplyLanguage(javascript.IMPORTS, frames=(_PLAIN, _CLASS)),
    "go": ReplyLanguage(go.IMPORTS),
    "rust": ReplyLanguage(rust.IMPORTS),
    "java": ReplyLanguage(java.IMPORTS, frames=(_PLAIN, _CLASS)),
    "c": ReplyLanguage(_KEPT),
    "cpp": ReplyLanguage(_KEPT, frames=(_PLAIN, (f"struct {HOST} {{\n", "\n};\n"))),
    "csharp": ReplyLanguage(_KEPT, frames=(_PLAIN, _CLASS)),
    "php": ReplyLanguage(
        frames=(("<?php\n", "\n"), (f"<?php\nclass {HOST} {{\n", "\n}\n"), _PLAIN), opening="<?", is_page=True
    ),
    "html": ReplyLanguage(plain_words=True, is_page=True),
    "vue": _PAGE,
    "svelte": _PAGE,
    "markdown": _WORDS,
    "plaintext": _WORDS,
    "restructuredtext": _WORDS,
    "latex": _WORDS,
    "yaml": _WORDS,
    "ini": _WORDS,
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, ReplyLanguage())
"""The row of a language id; the defaults for any other language."""
