"""Marks on sentences that claim what the code does not do, or name what is not there."""

from __future__ import annotations

import pytest
from support.engine import Bench
from support.servers.scripted import ScriptedModel

from stet_ls.engine.actions.prose.unsupported_claims import mark_unknown

RAISES = "The function raises errors if the title is wrong. It never raises an exception. It raises `x` to a power."
CLAIM = "if the title is wrong. (unverified: the code raises nothing, and neither did the examples) It never"


@pytest.mark.parametrize(
    ("code", "words", "marked"),
    [
        ("def f(x):\n    return$0 x\n", RAISES, 1),
        ("def f(x):\n    return$0 x\n\n\ndef g(x):\n    raise KeyError\n", RAISES, 1),
        ("def f(x):\n    return$0 g(x)\n\n\ndef g(x):\n    raise KeyError\n", RAISES, 0),
        ("def f(x):\n    assert x$0\n", RAISES, 0),
        ("def f(x):\n    return$0 x[0]\n", f"{RAISES}\n\n```python\n>>> f([])\n1\n```\n", 0),
    ],
)
async def test_an_unsupported_claim_that_code_raises_is_marked(
    bench: Bench, scripted: ScriptedModel, code: str, words: str, marked: int
) -> None:
    scripted.reply(words)
    answer = await bench.run("explain", code)
    if ">>>" in words and "not run" in answer.markdown:
        pytest.skip("code cannot run here: there is no box of level strong")
    assert answer.markdown.count("(unverified:") == marked, answer.markdown
    assert (CLAIM in answer.markdown) is bool(marked)


@pytest.mark.parametrize(
    ("text", "language", "marked"),
    [
        ("It uses `x` and `y + 1`.", "python", 0),
        ("It uses `z`. Then `x`.", "python", 1),
        ("It uses `z` and `w`!", "python", 1),
        ("It uses `str.join` and `os.path` of `x`.", "python", 0),
        ("It uses `Vec`.", "rust", 1),
        ("```\n`z`\n```\nend", "python", 0),
        ("- `x.z`: a `y`.", "python", 1),
    ],
)
def test_names_are_searched_in_the_whole_file(text: str, language: str, marked: int) -> None:
    reported, count = mark_unknown(text, "x = y = path = 1\n", language)
    assert count == marked
    assert reported.count("(unverified:") == marked
    assert reported.replace("\n", "").startswith(text.replace("\n", "")[:8])
