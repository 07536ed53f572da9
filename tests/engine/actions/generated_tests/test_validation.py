"""Tests are proven before they are offered: each alone, three times, against the code and against mutants of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.engine import Bench, applied, said
from support.processes.busy import too_busy_for
from support.processes.tools import needs
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

SLUG = '''\
def slug(title, sep="-"):
    """The words of a title in small letters, joined."""
    words = title.lower().split()
    if not words:
        raise ValueError("empty title")
    return sep.join(words)
'''
GOOD = """\
def test_slug_joins_words():
    assert slug("A Few Words") == "a-few-words"
"""
EMPTY = """\
def test_slug_refuses_nothing():
    with pytest.raises(ValueError):
        slug("  ")
"""
WRONG = """\
def test_slug_drops_punctuation():
    assert slug("Hello, World!") == "hello-world"
"""


@pytest.fixture
def root(tmp_path: Path, stet_home: Path) -> Path:
    root = tmp_path / "site"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root


async def offered(
    scripted: ScriptedModel, root: Path, *replies: str, code: str = SLUG, at: str = "def", **fields: object
) -> Answer:
    """What comes of replies that hold these texts of tests, for the unit in `text.py` at the first `at`."""
    scripted.replies([f"PLAN: test it\nTESTS:\n```python\n{each}```\n" for each in replies])
    path = root / "text.py"
    path.write_text(code)
    # On a busy machine what does not end has to get its time before it can be called so.
    settings = Settings(models=(ModelRow(name="*", samples=1),), deadline=600)
    async with Bench(scripted, settings) as bench:
        asked = {"path": path, "workspace": Workspace((root,)), **fields}
        answer = await bench.run("test", code.replace(at, f"$0{at}", 1), **asked)
    if any("code may not run" in item.detail for item in answer.evidence):
        pytest.skip(f"code cannot run here: {answer.message}")
    return answer


def functions(text: str | None) -> list[str]:
    assert text is not None
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


async def test_each_generated_test_is_judged_separately(scripted: ScriptedModel, root: Path) -> None:
    reply = f"import pytest\nfrom text import slug\n\n\n{GOOD}\n\n{EMPTY}\n\n{WRONG}"
    answer = await offered(scripted, root, reply)
    assert answer.success, answer.message
    assert functions(answer.tests) == ["test_slug_joins_words", "test_slug_refuses_nothing"]
    assert [file.path for file in answer.new_files] == [root / "tests/test_text.py"]
    assert said(answer, Check.TESTS).detail == "2 tests pass three times"
    assert said(answer, Check.TESTS).verdict is Ruling.PASS
    assert "mutants detected" in said(answer, Check.MUTANTS).detail
    # What fails on the present code is shown, and in no file.
    assert "1 shown separately: a possible bug or a wrong expectation" in answer.message
    assert "Possible bug, or wrong expectation" in answer.markdown
    assert "test_slug_drops_punctuation" in answer.markdown
    assert "test_slug_drops_punctuation" not in (answer.tests or "")


@needs("node")
async def test_tests_of_javascript_are_tried_on_mutants(scripted: ScriptedModel, root: Path) -> None:
    path = root / "text.mjs"
    code = "export function double(n) {\n  return n > 100 ? 100 : n * 2;\n}\n"
    path.write_text(code)
    tests = (
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { double } from './text.mjs';\n\n"
        "test('small', () => assert.equal(double(3), 6));\ntest('large', () => assert.equal(double(101), 100));\n"
    )
    scripted.replies([f"PLAN: test it\nTESTS:\n```javascript\n{tests}```\n"])
    async with Bench(scripted, Settings(models=(ModelRow(name="*", samples=1),), deadline=600)) as bench:
        asked = {"path": path, "language": "javascript", "workspace": Workspace((root,))}
        answer = await bench.run("test", code.replace("function", "$0function"), **asked)
    assert answer.success, answer.message
    assert said(answer, Check.TESTS).detail.startswith("2 tests of the file pass three times")
    mutants = said(answer, Check.MUTANTS)
    assert mutants.verdict is Ruling.PASS, mutants
    assert re.fullmatch(r"\d+ of 1[0-2] mutants detected", mutants.detail), mutants


async def test_a_redundant_test_is_left_out(scripted: ScriptedModel, root: Path) -> None:
    again = GOOD.replace("joins_words", "joins_other_words").replace("A Few Words", "A few words")
    answer = await offered(scripted, root, f"from text import slug\n\n\n{GOOD}\n\n{again}")
    assert functions(answer.tests) == ["test_slug_joins_words"]
    assert "(dropped: 1 redundant)" in said(answer, Check.TESTS).detail


async def test_behavior_that_the_project_already_tests_is_not_offered(scripted: ScriptedModel, root: Path) -> None:
    known = f"import pytest\nfrom text import slug\n\n\n{GOOD}\n\n{EMPTY}"
    (root / "tests/test_text.py").write_text(known)
    again = GOOD.replace("joins_words", "makes_small_letters")
    answer = await offered(scripted, root, f"from text import slug\n\n\n{again}", again)
    assert not answer.success
    assert not answer.edits
    assert "the existing tests cover and detect as much" in answer.message


@pytest.mark.parametrize(
    "flaky",
    [
        # Good luck in each of five runs would make it stand: it has to be rare.
        "import random\n\n\ndef test_luck():\n    assert random.random() < 0.1 and slug('A') == 'a'\n",
        "def test_order():\n    assert list({'a', 'b', 'c', 'd', 'e'})[0] == 'a' or slug('A') != 'a'\n",
    ],
    ids=["no seed", "hash order"],
)
async def test_flaky_tests_are_never_kept(scripted: ScriptedModel, root: Path, flaky: str) -> None:
    answer = await offered(scripted, root, f"from text import slug\n\n\n{GOOD}\n\n{flaky}")
    assert functions(answer.tests) == ["test_slug_joins_words"], answer.message
    assert "dropped: 1 " in said(answer, Check.TESTS).detail or "1 shown separately" in answer.message


async def test_tests_that_hide_their_failures_are_not_kept(scripted: ScriptedModel, root: Path) -> None:
    quiet = "plain = pytest.Function.runtest\n\n\ndef quiet(item):\n    try:\n        plain(item)\n"
    quiet += "    except AssertionError:\n        pass\n\n\npytest.Function.runtest = quiet\n"
    answer = await offered(scripted, root, f"import pytest\nfrom text import slug\n\n{quiet}\n\n{WRONG}\n\n{GOOD}")
    assert said(answer, Check.TESTS).verdict is not Ruling.PASS, answer.evidence
    assert all(item.verdict is not Ruling.PASS or item.check is not Check.MUTANTS for item in answer.evidence)


async def test_a_refusal_says_why_no_test_is_left(scripted: ScriptedModel, root: Path) -> None:
    answer = await offered(scripted, root, f"from text import slug\n\n\n{WRONG}", WRONG)
    assert not answer.success
    assert (answer.edits, answer.new_files, answer.tests) == ((), (), None)
    assert "fails on the current code (a possible bug, or a wrong expectation)" in answer.message
    assert "`test_slug_drops_punctuation`" in answer.message
    assert "test_slug_drops_punctuation" in answer.markdown


async def test_a_reply_without_a_test_is_a_refusal(scripted: ScriptedModel, root: Path) -> None:
    answer = await offered(scripted, root, *["from text import slug\n\nassert slug('A') == 'a'\n"] * 3)
    assert not answer.success
    assert "no test that pytest collects" in answer.message


async def test_an_import_used_only_by_a_dropped_test_is_removed(scripted: ScriptedModel, root: Path) -> None:
    lost = "def test_far():\n    assert nowhere_at_all.get(slug('A'))\n"
    reply = f"import pytest\nimport nowhere_at_all\nfrom text import slug\n\n\n{GOOD}\n\n{lost}"
    answer = await offered(scripted, root, reply)
    assert answer.success, answer.message
    assert "nowhere_at_all" not in (answer.tests or "")
    assert "import pytest" not in (answer.tests or ""), "nothing that is left needs it"
    assert "dropped: 1 not run here" in said(answer, Check.TESTS).detail
    assert any("nowhere_at_all" in warning for warning in answer.warnings)


async def test_what_a_dropped_test_does_is_no_risk_of_the_edit(scripted: ScriptedModel, root: Path) -> None:
    lost = "def test_far():\n    assert open('/tmp/far').read() == slug('A')\n"
    answer = await offered(scripted, root, f"from text import slug\n\n\n{GOOD}\n\n{lost}")
    assert functions(answer.tests) == ["test_slug_joins_words"]
    assert said(answer, Check.DANGER).verdict is Ruling.PASS
    assert len([each for each in answer.evidence if each.check is Check.DANGER]) == 1


async def test_fixtures_and_their_imports_are_kept(scripted: ScriptedModel, root: Path) -> None:
    reply = """\
import json
import pytest
from text import slug


@pytest.fixture
def titles():
    return json.loads('["A B", "C D"]')


@pytest.mark.parametrize("sep", ["-", "_"])
def test_each_title(titles, sep):
    assert [slug(each, sep) for each in titles] == [f"a{sep}b", f"c{sep}d"]
"""
    answer = await offered(scripted, root, reply)
    assert answer.success, answer.message
    assert functions(answer.tests) == ["titles", "test_each_title"]
    assert "import json" in (answer.tests or "")
    assert said(answer, Check.TESTS).detail == "1 test passes three times"


async def test_new_tests_are_appended_after_the_existing_ones(scripted: ScriptedModel, root: Path) -> None:
    present = f"""\
\"\"\"Titles.\"\"\"

from text import slug


class TestSlug:
    def test_one(self):
        assert slug("A") == "a"


{GOOD}

if __name__ == "__main__":
    raise SystemExit(1)
"""
    (root / "tests/test_text.py").write_text(present)
    reply = f"import pytest\nfrom text import slug\n\n\n{EMPTY.replace('refuses_nothing', 'joins_words')}"
    answer = await offered(scripted, root, reply)
    assert answer.success, answer.message
    text = applied(answer)
    before, after = ast.parse(present), ast.parse(text)
    kept = [ast.unparse(node) for node in after.body]
    assert all(ast.unparse(node) in kept for node in before.body), "what was there is there, unchanged"
    assert "test_slug_joins_words_2" in functions(text), "a name of its own: a second one would hide the first"
    assert text.startswith('"""Titles."""\n\nimport pytest\n')


async def test_an_endless_test_is_reported_and_the_others_are_kept(scripted: ScriptedModel, root: Path) -> None:
    code = "def halve(n):\n    steps = 0\n    while n != 1:\n        n //= 2\n        steps += 1\n    return steps\n"
    good = "def test_halve_counts():\n    assert halve(8) == 3\n"
    endless = "def test_halve_zero():\n    assert halve(0) == 0\n"
    answer = await offered(scripted, root, f"from text import halve\n\n\n{good}\n\n{endless}", code=code)
    assert answer.success, answer.message
    assert functions(answer.tests) == ["test_halve_counts"]
    assert "test_halve_zero" in answer.markdown
    assert said(answer, Check.MUTANTS).verdict is Ruling.PASS, "mutants that hang are noticed"


@pytest.mark.parametrize("run", ["0", "2"])
async def test_a_test_that_got_no_processor_time_is_not_dropped(
    scripted: ScriptedModel, root: Path, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    """In the first run or the third: what is not proven is offered and called so."""
    too_busy_for(monkeypatch, lambda spec: spec.env.get("PYTHONHASHSEED") == run and spec.overlay is not None)

    answer = await offered(scripted, root, f"import pytest\nfrom text import slug\n\n\n{GOOD}\n\n{EMPTY}")

    assert functions(answer.tests) == ["test_slug_joins_words", "test_slug_refuses_nothing"]
    assert said(answer, Check.TESTS).verdict is Ruling.UNKNOWN
    assert "the machine was too busy" in said(answer, Check.TESTS).detail


async def test_a_module_that_cannot_be_imported_is_reported(scripted: ScriptedModel, root: Path) -> None:
    code = f"import sqlite3\n\nDATABASE = sqlite3.connect('/var/lib/site/site.db')\n\n\n{SLUG}"
    answer = await offered(scripted, root, f"from text import slug\n\n\n{GOOD}", code=code)
    reported = said(answer, Check.TESTS)
    assert reported.verdict is Ruling.UNKNOWN
    assert "tests not run: text.py cannot be imported on its own: OperationalError" in reported.detail
    assert answer.confidence < 0.6


async def test_a_language_without_a_runner_is_reported_and_lowers_the_confidence(
    scripted: ScriptedModel, root: Path
) -> None:
    code = "def twice(n)\n  n * 2\nend\n"
    (root / "twice.rb").write_text(code)
    scripted.default = Reply("PLAN: t\nTESTS:\n```ruby\ndef test_twice\n  raise unless twice(2) == 4\nend\n```\n")
    async with Bench(scripted) as bench:
        asked = {"language": "ruby", "path": root / "twice.rb", "workspace": Workspace((root,))}
        answer = await bench.run("test", code.replace("n *", "$0n *"), **asked)
    assert answer.success, answer.message
    assert said(answer, Check.TESTS).verdict is Ruling.SKIPPED
    assert "tests not run: no test runner for 'ruby'" in said(answer, Check.TESTS).detail
    assert "tests not run" in answer.message
    assert answer.confidence < 0.6


async def test_a_second_call_names_the_gaps_and_keeps_the_passing_tests(scripted: ScriptedModel, root: Path) -> None:
    first = f"from text import slug\n\n\n{GOOD}"
    second = f"import pytest\nfrom text import slug\n\n\n{EMPTY}"
    answer = await offered(scripted, root, first, second)
    assert 'never run: `raise ValueError("empty title")`' in scripted.requests[1].prompt
    assert functions(answer.tests) == ["test_slug_joins_words", "test_slug_refuses_nothing"]
    assert said(answer, Check.TESTS).detail.startswith("2 tests pass three times")


async def test_a_test_that_ends_the_process_does_not_drop_the_others(scripted: ScriptedModel, root: Path) -> None:
    deadly = "import os\n\n\ndef test_gone():\n    os._exit(0)\n"
    answer = await offered(scripted, root, f"from text import slug\n\n\n{GOOD}\n\n{deadly}")
    assert functions(answer.tests) == ["test_slug_joins_words"], answer.message
