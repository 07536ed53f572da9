"""Code from a reply takes over the indentation, line ends and tabs of the document. Marks as in `support.fitting`."""

from __future__ import annotations

import pytest
from support.fitting import fitted

# -- indentation


def steps(*margins: str) -> str:
    """A method whose lines have these margins."""
    return "\n".join(
        margin + line for margin, line in zip(margins, ("def f(self):", "if 1:", "return 1"), strict=False)
    )


TABS = "class A:\n\tdef f(self):\n\t\treturn 0\n"
TWO = "class A:\n  def f(self):\n    return 0\n"
FOUR = "class A:\n    def f(self):\n        return 0\n"
INDENTED = {
    "to tabs": (TABS, steps("", " " * 4, " " * 8), steps("\t", "\t\t", "\t\t\t")),
    "to two": (TWO, steps("", " " * 4, " " * 8), steps("  ", " " * 4, " " * 6)),
    "to four": (FOUR, steps("", " " * 2, " " * 4), steps(" " * 4, " " * 8, " " * 12)),
    "from tabs": (FOUR, steps("", "\t", "\t\t"), steps(" " * 4, " " * 8, " " * 12)),
    "kept": (FOUR, steps(" " * 4, " " * 8, " " * 12), steps(" " * 4, " " * 8, " " * 12)),
    "doubled": (FOUR, steps(" " * 8, " " * 12, " " * 16), steps(" " * 4, " " * 8, " " * 12)),
    "first line lost": (FOUR, steps("", " " * 8, " " * 12), steps(" " * 4, " " * 8, " " * 12)),
    "first line lost, flat": (FOUR, "def f(self):\n        return 1", "    def f(self):\n        return 1"),
}


@pytest.mark.parametrize(("document", "code", "expected"), INDENTED.values(), ids=INDENTED)
def test_a_reply_is_indented_like_its_target(document: str, code: str, expected: str) -> None:
    _, result = fitted(document, code, name="A.f")
    assert result.code == expected


def test_docstrings_are_reindented_and_other_strings_are_not() -> None:
    code = 'def f(self):\n    """Says.\n\n    More.\n    """\n    return """\n  a\n      b\n"""'
    _, result = fitted("class A:\n    def f(self):\n        return 0\n", code, name="A.f")
    assert result.code == (
        '    def f(self):\n        """Says.\n\n        More.\n        """\n        return """\n  a\n      b\n"""'
    )


def test_template_strings_and_heredocs_are_not_reindented() -> None:
    _, script = fitted(
        "class A {\n\tf() {\n\t\treturn 1;\n\t}\n}\n", "f() {\n  return `\n  a\n    b`;\n}", "javascript", "A.f"
    )
    assert script.code == "\tf() {\n\t\treturn `\n  a\n    b`;\n\t}"
    _, shell = fitted(
        "if true; then\n  «  f() {\n    :\n  }»\nfi\n", "f() {\n  cat <<END\nx\n  y\nEND\n}", "shellscript"
    )
    assert "\nx\n  y\nEND\n" in shell.code


# -- line ends, edges


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_those_of_the_document(end: str) -> None:
    before = "import os\n\n\ndef f():\n    return 0\n\n\nx = 1\n".replace("\n", end)
    text, _ = fitted(before, "import re\ndef f():\n    a = re\n    return a", name="f")
    assert text == "import os\nimport re\n\n\ndef f():\n    a = re\n    return a\n\n\nx = 1\n".replace("\n", end)


def test_mixed_line_ends_become_those_of_the_target() -> None:
    before = "a = 1\nb = 2\nc = 3\nd = 4\ndef f():\r\n    return 0\r\n"
    text, _ = fitted(before, "def f():\n    x = 1\n    return x", name="f")
    assert text == "a = 1\nb = 2\nc = 3\nd = 4\ndef f():\r\n    x = 1\r\n    return x\r\n"


@pytest.mark.parametrize("tail", ["", "\n", "\n\n", "\r\n"])
def test_the_last_line_end_is_kept(tail: str) -> None:
    assert fitted(f"x = 1{tail}", "x = 2\n\n\n")[0] == f"x = 2{tail}"


def test_an_empty_document_gets_a_last_line_end_and_keeps_its_bom() -> None:
    assert fitted("", "import os\nx = os")[0] == "import os\nx = os\n"
    assert fitted("\ufeffx = 1\n", "x = 2")[0] == "\ufeffx = 2\n"
    assert (
        fitted("\ufeffdef f():\n    return 0\n", "import re\ndef f():\n    return re", name="f")[0].count("\ufeff") == 1
    )


def test_form_feeds_and_unicode_separators_are_not_line_ends() -> None:
    before = "a = '\u2028'\n\x0c\ndef f():\n    return 0\n"
    assert fitted(before, "def f():\n    return '\u2028\x0c'", name="f")[0] == before.replace("0", "'\u2028\x0c'")
