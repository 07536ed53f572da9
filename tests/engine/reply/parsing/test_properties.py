"""What holds for every reply, however odd: the parser never raises, invents nothing, is idempotent and linear."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stet_ls.engine.reply.parsing.parse_reply import ParsedReply, parse_reply

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.txt"))
LANGUAGES = ["python", "javascript", "typescript", "go", "rust", "java", "c", "cpp", "csharp", "php", "yaml", "cobol"]
PIECES = [
    "```", "````", "~~~", "```python\n", "```\n", "    ```\n", "CODE:\n", "TESTS:\n", "NOTES:\n", "- why: x\n",
    "PLAN: y\n", "def total(prices):\n", "    return 1\n", "function total(a) {\n", "}\n", "{", "(", '"', "'",
    '"""\n', "\n", " ", "\t", "<think>", "</think>\n", "<|im_end|>", "Human: hi\n", "@@ -1 +1 @@\n", "-old\n",
    "+new\n", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", '{"code": "', "\\n", "\u201c", "\u00a0", "\u200b",
    "\ufeff", "\ud800", "\x00", "é", "> ", ">>> ", "... ", "# ... existing code ...\n", "1 | ", "...", "import os\n",
    "<html>", "\r\n", "\r", "\u2028", "\x0c",
]  # fmt: skip
replies = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.builds(
        lambda path, one, other: path.read_text(encoding="utf-8")[min(one, other) : max(one, other)],
        st.sampled_from(SHAPES),
        st.integers(0, 2000),
        st.integers(0, 2000),
    ),
)
calls = st.fixed_dictionaries(
    {
        "language": st.sampled_from(LANGUAGES),
        "reply_kind": st.sampled_from(["unit", "tests", "prose"]),
        "symbol": st.sampled_from(["", "total", "Basket.total", "*?("]),
        "truncated": st.booleans(),
        "current": st.sampled_from(["", "def total(prices):\n    return 1\n", "function total(a) {\n  return 1;\n}"]),
    }
)
relaxed = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def words(text: str) -> list[str]:
    """The text's words after everything that the parser may take away or straighten."""
    for odd, plain in {
        "\u201c": '"',
        "\u201d": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\\n": "\n",
        '\\"': '"',
        "\\t": "\t",
    }.items():
        text = text.replace(odd, plain)
    return "".join(character for character in text if character.isalnum() or character in "(){}[]=:+-<>|'\"").split()


@relaxed
@given(replies, calls)
@example("{" * 2000, {"language": "json", "reply_kind": "unit", "symbol": "", "truncated": False, "current": ""})
@example(
    '{"code":' * 3000, {"language": "python", "reply_kind": "unit", "symbol": "", "truncated": False, "current": ""}
)
def test_parsing_never_raises_and_explains_an_empty_result(text: str, call: dict[str, object]) -> None:
    reply = parse_reply(text, **call)  # type: ignore[arg-type]
    wanted = {"unit": reply.code, "tests": reply.tests, "prose": reply.prose or None}[str(call["reply_kind"])]
    assert (wanted is None) == (reply.problem is not None)
    assert wanted is None or wanted.strip()
    if reply.problem is not None:
        assert reply.problem.startswith(("The reply", "The endpoint"))
        assert reply.problem.endswith(".")


@relaxed
@given(replies, calls)
def test_parsing_invents_no_code(text: str, call: dict[str, object]) -> None:
    reply = parse_reply(text, **call)  # type: ignore[arg-type]
    known = "".join(words(text)) + "".join(words(str(call["current"])))
    for part in (reply.code, reply.tests, reply.prose, reply.plan, *" ".join(reply.notes).split()):
        for line in (part or "").split("\n"):
            assert "".join(words(line)) in known


@relaxed
@example("CODE\n0", {"language": "cobol", "reply_kind": "unit", "symbol": "total", "truncated": False, "current": ""})
@example("def test_():", {"language": "python", "reply_kind": "unit", "symbol": "", "truncated": False, "current": ""})
@given(replies, calls)
def test_parsing_is_idempotent(text: str, call: dict[str, object]) -> None:
    first = parse_reply(text, **call)  # type: ignore[arg-type]
    if first.code is None or first.code.count("```") or first.code.count("~~~"):
        return
    assert again(f"```\n{first.code}\n```", call).code == first.code


def again(text: str, call: dict[str, object]) -> ParsedReply:
    return parse_reply(text, **{**call, "truncated": False, "current": ""})  # type: ignore[arg-type]


ENDLESS = {
    "words": "word " * 10,
    "lines": "some words of prose\n",
    "backticks": "`",
    "fences": "```\n",
    "tagged fences": "```python\n",
    "nested fences": "```md\n```py\n    ```\n",
    "code": "x = 1\n",
    "functions": "def total(prices):\n    return 1\n",
    "stubs": "def total(prices):\n    ...\n",
    "brackets": "(",
    "braces": "{",
    "quotes": '"',
    "spaces": " ",
    "blank lines": "    \n",
    "returns": "def total(prices):\r",
    "marks": "#>*_- ",
    "thoughts": "<think>\n",
    "ends of thoughts": "</think>\n",
    "tokens": "<|im_end|>",
    "markers": "[INST]",
    "turns": "Human:\n",
    "diffs": "@@ -1 +1 @@\n-a\n+b\n",
    "changes": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
    "json": '{"code": "',
    "json ends": '"code": "a", ',
    "labels": "CODE:\n",
    "prefixes": "> > ",
    "odd characters": "\u200b\u201c",
    "comments": "# ...\n",
}


def seconds(text: str) -> float:
    """The processor's time, so that a busy machine does not count."""
    started = time.process_time()
    parse_reply(text, language="python", reply_kind="unit", symbol="total", current="def total(a):\n    return 2\n")
    return time.process_time() - started


@pytest.mark.parametrize("opening", ["", "CODE:\n```python\n"], ids=["bare", "fenced"])
@pytest.mark.parametrize("name", ENDLESS)
def test_parsing_takes_linear_time(name: str, opening: str) -> None:
    """Eight times the text takes eight times as long, not sixty-four times: nothing is looked at over and over."""
    piece = ENDLESS[name]
    small, large = (opening + piece * (size // len(piece)) for size in (10_000, 80_000))
    seconds(small)
    # The best of three: a loaded processor makes single runs longer, and no run shorter than the work is.
    assert min(seconds(large) for _ in range(3)) < 24 * seconds(small) + 0.5


@pytest.mark.parametrize("name", ["words", "fences", "code", "brackets"])
def test_ten_megabytes_are_refused_at_once(name: str) -> None:
    text = ENDLESS[name] * (10_000_000 // len(ENDLESS[name]))
    assert min(seconds(text) for _ in range(3)) < 1
