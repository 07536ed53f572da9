"""Comments that a reply left out come back where their line of code is unchanged."""

from __future__ import annotations

import pytest

from stet_ls.engine.reply.fitting.keep_comments import keep_comments

SHOP = """\
# Prices are in cents.
LIMIT = 10


# Baskets hold prices.
@cached
def total(prices):
    # taxes come later
    found = sum(prices)  # fast enough
    return found
"""


def test_omitted_comments_are_restored() -> None:
    bare = "LIMIT = 10\n\n\n@cached\ndef total(prices):\n    found = sum(prices)\n    return found\n"
    assert keep_comments(bare, SHOP, "python") == SHOP


@pytest.mark.parametrize(
    "code",
    [
        SHOP,
        SHOP.replace("# taxes come later", "# without taxes"),  # another comment stands there
        SHOP.replace("    # taxes come later\n    found = sum(prices)  # fast enough", "    found = add(prices)"),
        "def f():\n    return '''\n@cached\n'''\n",  # the line is in a string
    ],
)
def test_comments_of_the_reply_are_kept(code: str) -> None:
    assert keep_comments(code, SHOP, "python") == code


def test_a_repeated_line_is_identified_by_the_line_before() -> None:
    old = "a()\nsave()  # first\nb()\n# second\nsave()\n"
    assert keep_comments("a()\nsave()\nb()\nsave()\n", old, "python") == old


def test_a_comment_block_is_restored_but_not_the_instruction() -> None:
    old = "/*\n * why\n */\nfoo();\n// stet: shorter\nbar();\n"
    assert keep_comments("foo();\nbar();\n", old, "javascript").split() == ["/*", "*", "why", "*/", "foo();", "bar();"]
