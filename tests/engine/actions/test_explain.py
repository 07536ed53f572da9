"""Explain: facts from tools, examples that were run, and marks on sentences that name what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Ruling

SLUG = '''\
import urllib.request

SEPARATOR = "-"


def slug(title, sep=SEPARATOR):
    """The words of a title in small letters, joined."""
    words = title.lower().split()
    if not words:
        raise ValueError("empty title")
    return sep.join(words)


def fetch(url):
    return urllib.request.urlopen(url).read()


def halve(n):
    while n != 1:
        n //= 2
'''
WORDS = """\
It makes an address of a title.

```python
>>> from site_text import slug
>>> slug("A Few Words")
'a-few-words'
>>> slug("Ab", "_")
'A_b'
>>> slug("")
''
>>> for each in ("A B",
...              "C"):
...     print(slug(each))
a-b
c
>>> fetch("http://127.0.0.1:9/")
b''
>>> halve(0)
>>> slug(
```

Watch out for empty titles.
"""


async def explained(bench: Bench, words: str, **fields: object) -> Answer:
    answer = await bench.run("explain", SLUG.replace("def slug", "$0def slug"), **fields)
    if "code may not run" in answer.markdown:
        pytest.skip(f"code cannot run here: {answer.message}")
    return answer


async def test_examples_show_the_results_of_the_code(bench: Bench, scripted: ScriptedModel, tmp_path: Path) -> None:
    scripted.reply(WORDS)
    answer = await explained(bench, WORDS, path=tmp_path / "site_text.py")
    block = answer.markdown.split("```python\n")[1].split("```")[0].splitlines()
    assert block == [
        ">>> from site_text import slug",
        '>>> slug("A Few Words")  # run',
        "'a-few-words'",
        '>>> slug("Ab", "_")  # run; the model said \'A_b\'',
        "'ab'",
        ">>> slug(\"\")  # run; the model said ''",
        "Traceback (most recent call last):",
        "ValueError: empty title",
        '>>> for each in ("A B",',
        '...              "C"):',
        "...     print(slug(each))  # run",
        "a-b",
        "c",
        '>>> fetch("http://127.0.0.1:9/")  # not run: it talks to the network',
        "b''",
        ">>> halve(0)  # not run: it does not finish in time",
        ">>> slug(  # not run: it does not parse",
    ]
    (evidence,) = answer.evidence
    assert evidence.verdict is Ruling.UNKNOWN
    assert evidence.detail == "4 of 7 examples run, 2 differ from the model's claim"
    assert answer.message.endswith(evidence.detail)
    assert not answer.refuted, "what was wrong was replaced"
    assert "Watch out for empty titles." in answer.markdown


async def test_quick_reports_that_it_runs_no_examples(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(WORDS)
    answer = await explained(bench, WORDS, budget=Budget.QUICK)
    assert "# not run: the budget `quick` runs none" in answer.markdown
    assert answer.evidence[0].verdict is Ruling.SKIPPED
    assert "'A_b'" in answer.markdown, "what was not run is what the model said"


async def test_examples_are_requested_only_where_they_can_be_run(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("It adds.").reply("It adds.")
    await bench.run("explain", "$0def add(a, b):\n    return a + b\n")
    await bench.run("explain", "$0function add(a, b) {\n  return a + b;\n}\n", language="javascript")
    assert ">>> call" in scripted.requests[0].prompt
    assert ">>>" not in scripted.requests[1].prompt


async def test_a_sentence_that_names_an_unknown_name_is_marked(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply("It calls `title.lower()`. It logs with `logger.warn()`. An `OverflowError` may come of it.")
    answer = await explained(bench, "")
    assert (
        "It calls `title.lower()`. It logs with `logger.warn()`. (unverified: `logger.warn` is not in the code)"
        " An `OverflowError` may come of it." in answer.markdown
    )
    assert "1 sentence is marked: not supported by the code" in answer.markdown
