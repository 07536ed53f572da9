"""What a model is sent: the order of its parts, the form of the reply, and what tiny models are spared."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.prompts import PARSER, ask, data_of, prompt_for, user

from stet_ls.engine.errors import UsageError
from stet_ls.engine.prompt.build import RejectionReason, repair
from stet_ls.engine.prompt.tokens import estimate


def test_a_method_is_shown_in_its_context() -> None:
    request = ask("refactor", "python", PARSER.replace("claen", "clean"))
    prompt = prompt_for(request)
    assert (
        data_of(prompt)
        == '''The file already has these imports:
```python
import re
from datetime import date
```

It is a member of:
```python
class Parser:
    """Reads dates."""

    form = "iso"
    def other(self) -> int
```

Other code of the file:
```python
def clean(text: str) -> str:
    """Without white space at the ends.

    And more.
    """
    return text.strip()

def __init__(self, strict: bool) -> None:
    self.strict = strict
```

It is called here:
```python
def main(parser: Parser) -> None:
    print(parser.parse("2024-01-01"))
```

The code of `Parser.parse`:
```python
def parse(self, text: str) -> date:
    """Reads one date.

    Raises ValueError.
    """
    value = clean(text)
    return date.fromisoformat(value)
```'''
    )
    assert prompt.left_out == ()


def test_the_format_of_the_reply_comes_last() -> None:
    for action, ends in (("refactor", "NOTES:"), ("test", "NOTES:"), ("explain", "Reply in Markdown")):
        prompt = prompt_for(ask(action, "python", PARSER))
        assert user(prompt).endswith(prompt.form)
        assert ends in prompt.form


@pytest.mark.parametrize(("action", "label"), [("refactor", "CODE:"), ("test", "TESTS:")])
def test_each_kind_of_result_has_its_label(action: str, label: str) -> None:
    assert f"\n{label}\n```python\n" in prompt_for(ask(action, "python", PARSER)).form


def test_a_tiny_model_is_shown_less() -> None:
    text = data_of(prompt_for(ask("refactor", "python", PARSER.replace("claen", "clean")), tier="tiny"))
    assert "def clean(text: str) -> str  # Without white space at the ends." in text
    assert "return text.strip()" not in text
    assert "def main" not in text


def test_the_prefix_is_the_same_bytes_for_two_requests(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    first = prompt_for(ask("refactor", "python", PARSER, path=tmp_path / "a.py"))
    second = prompt_for(ask("debug", "python", "def f():\n    return 1$0\n", path=tmp_path / "b.py", instruction="x"))
    assert first.messages[0] == second.messages[0]
    assert first.messages[0].role == "system"
    assert "lines of at most 100 characters" in first.messages[0].content
    assert first.ident != second.ident


def test_a_repair_does_not_change_earlier_messages() -> None:
    prompt = prompt_for(ask("refactor", "python", PARSER))
    again = repair(prompt, "Sure!", RejectionReason("syntax: line 2: '(' was never closed"))
    assert again.messages[:2] == prompt.messages
    assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]
    assert again.messages[2].content == "Sure!"
    assert f"<data-{prompt.ident}>\nsyntax: line 2: '(' was never closed\n</data-" in again.messages[3].content
    assert again.messages[3].content.endswith(prompt.form)
    assert again.tokens > prompt.tokens
    assert repair(again, "Sure!", RejectionReason("again")).messages[:4] == again.messages


def test_a_repair_survives_an_empty_and_an_endless_reply() -> None:
    prompt = prompt_for(ask("refactor", "python", PARSER), budget=1000)
    assert repair(prompt, "", RejectionReason("The reply was empty.")).messages[2].content.strip()
    assert estimate(repair(prompt, "word and word\n" * 20_000, RejectionReason("endless")).messages[2].content) <= 1000


# What is hidden, and how the target is shown.


@pytest.mark.parametrize(
    ("language", "marked", "gone"),
    [
        (
            "python",
            'def f(a: int) -> int:\n    """Adds one."""\n    raise NotImplementedError$0\n',
            "NotImplementedError",
        ),
        ("rust", "/// Adds one.\nfn f(a: i32) -> i32 {\n    todo!()$0\n}\n", "todo!"),
        ("typescript", "function f(a: number): number {\n  throw new Error('Not implemented');$0\n}\n", "throw"),
    ],
)
def test_a_tiny_model_is_not_shown_the_stub(language: str, marked: str, gone: str) -> None:
    request = ask("generate", language, marked)
    assert gone not in data_of(prompt_for(request, tier="tiny"))
    assert gone in data_of(prompt_for(request, tier="strong"))


def test_a_comment_that_is_the_instruction_is_not_shown_as_code() -> None:
    prompt = prompt_for(ask("generate", "python", "def f(a):\n    # stet: add one,\n    # twice\n    return a$0\n"))
    assert data_of(prompt).endswith("```python\ndef f(a):\n    return a\n```")
    assert "Instruction: add one, twice\n" in user(prompt)


def test_line_ends_and_tabs_are_kept() -> None:
    request = ask("refactor", "go", "package x\r\n\r\nfunc F() int {\r\n\treturn 1$0\r\n}\r\n")
    assert "```go\nfunc F() int {\n\treturn 1\n}\n```" in data_of(prompt_for(request))


def test_strings_keep_their_whitespace_when_a_method_is_dedented() -> None:
    marked = 'class A:\n    def f(self):\n        x = """\n        a\n    b"""\n        return x$0\n'
    assert 'def f(self):\n    x = """\n        a\n    b"""\n    return x' in data_of(
        prompt_for(ask("refactor", "python", marked))
    )


def test_an_insertion_shows_the_lines_around_its_place() -> None:
    text = data_of(prompt_for(ask("generate", "python", "def a(): pass\n\n# stet: b like a$0\n\ndef c(): pass\n")))
    assert text.startswith(
        "Lines above the place:\n```python\ndef a(): pass\n```\n\nLines below the place:\n```python\ndef c(): pass\n```"
    )
    assert "stet:" not in text


def test_a_document_without_a_grammar_has_a_prompt() -> None:
    assert "```\none\ntwo\n\n```" in data_of(prompt_for(ask("explain", "plaintext", "one\ntwo\n")))


def test_a_binary_document_is_refused_before_a_model_sees_it() -> None:
    with pytest.raises(UsageError, match="the document is binary"):
        prompt_for(ask("explain", "plaintext", "\x7fELF\0\0$0"))


def test_constraints_and_context_are_in_the_prompt() -> None:
    request = ask(
        "refactor", "python", PARSER, constraints=("No regex.",), context={"failing call": "parse('') -> KeyError"}
    )
    assert "\n- No regex.\n" in user(prompt_for(request))
    assert "Given by the user, failing call:\nparse('') -> KeyError" in data_of(prompt_for(request))


def test_a_repair_names_its_reason() -> None:
    """No one can fix what no one says: a judge without words is named at least."""
    for nothing in ("", " \n"):
        with pytest.raises(ValueError, match="a repair needs its reason"):
            RejectionReason(nothing)
        assert (
            RejectionReason.of(nothing, by="spelling").text
            == "It was refused by the check `spelling`, which said no more."
        )
    assert RejectionReason.of("names: x", by="names") == RejectionReason("names: x")
