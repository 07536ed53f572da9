"""Documentation that a reply left out comes back; what a reply wrote itself stays."""

from __future__ import annotations

import pytest
from support.engine import request_for

from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.fitting.keep_documentation import keep_documentation

SHELF = '''\
class Shelf:
    def add(self, item):
        """Put one item
        on the shelf.

        Twice is fine.
        """
        $0self.items.append(item)
'''


def kept(marked: str, code: str, language: str = "python") -> str:
    request = request_for("refactor", marked, language=language)
    return keep_documentation(code, source=request.source, target=resolve_target(request), language=language)


def test_a_docstring_is_restored_with_the_indentation_of_the_reply() -> None:
    assert kept(SHELF, "def add(self, item):\n    self.items += [item]\n") == (
        'def add(self, item):\n    """Put one item\n    on the shelf.\n\n    Twice is fine.\n    """\n'
        "    self.items += [item]\n"
    )


@pytest.mark.parametrize("quoted", ["'one'", '"it\\"s one"', 'r"""a \\d"""', "'''two\n    lines'''"])
def test_every_kind_of_docstring_is_restored(quoted: str) -> None:
    assert kept(f"def f(x):\n    {quoted}\n    $0return x + 0\n", "def f(x):\n    return x") == (
        f"def f(x):\n    {quoted}\n    return x"
    )


@pytest.mark.parametrize(
    "code",
    [
        'def add(self, item):\n    """Add."""\n    self.items += [item]\n',
        "def add(self, item): self.items += [item]\n",
        "def append(self, item):\n    self.items += [item]\n",
        "self.items += [item]\n",
        "",
    ],
)
def test_a_reply_with_its_own_docstring_or_no_place_for_one_is_not_changed(code: str) -> None:
    assert kept(SHELF, code) == code


@pytest.mark.parametrize(
    ("written", "stays"),
    [
        ("Put one item\n        on the shelf.", False),
        ("Twice is fine.", False),
        ("Put one item.", True),
        ("Put one item\n        on the shelf.\n\n        Not twice.", True),
    ],
)
def test_a_docstring_that_only_lost_lines_is_restored(written: str, stays: bool) -> None:
    code = f'def add(self, item):\n    """{written}\n    """\n    self.items += [item]\n'
    result = kept(SHELF, code)
    assert (result == code) is stays
    assert stays or ("Put one item\n    on the shelf." in result and "Twice is fine." in result)


def test_without_documentation_nothing_is_added() -> None:
    code = "def f(x):\n    return x\n"
    assert kept("def f(x):\n    $0return x + 0\n", code) == code


RUST = """\
impl Shelf {
    /// Adds one.
    ///
    /// Twice is fine.
    #[inline]
    fn add(&mut self) {
        $0x();
    }
}
"""


def test_a_comment_above_is_restored() -> None:
    code = "#[inline]\nfn add(&mut self) {\n    y();\n}\n"
    assert kept(RUST, code, "rust") == f"/// Adds one.\n///\n/// Twice is fine.\n{code}"
    script = "/**\n * Adds.\n */\nfunction add(a, b) {\n  $0return a + b + 0\n}\n"
    assert kept(script, "function add(a, b) {\n  return a + b\n}\n", "javascript") == (
        "/**\n * Adds.\n */\nfunction add(a, b) {\n  return a + b\n}\n"
    )


def test_examples_omitted_from_a_docstring_are_restored() -> None:
    """They are the user's tests."""
    documented = 'def f(x):\n    """One more.\n\n    >>> f(1)\n    2\n    """\n'
    assert kept(f"{documented}    $0...\n", 'def f(x):\n  """Adds “1”."""\n  return x + 1\n') == (
        'def f(x):\n  """One more.\n\n  >>> f(1)\n  2\n  """\n  return x + 1\n'
    )
    more = documented.replace("    >>>", "    >>> f(0)\n    1\n    >>>", 1) + "    return x + 1\n"
    assert kept(f"{documented}    $0...\n", more) == more, "what it adds may stay"


def test_all_docstrings_of_a_file_are_restored() -> None:
    whole = '# Copyright\n"""A shelf."""\n\n' + SHELF.replace("$0", "")
    assert (
        kept(whole, "# Copyright\nclass Shelf:\n    def add(self, item):\n        self.items.append(item)\n") == whole
    )
