"""`stet memory`, as a person and as a script call it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.engine import code_reply
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel

pytest.importorskip("lancedb", reason="the extra memory is not installed")

DATE = {
    "instruction": "Parse an ISO date from a string",
    "code": "def parse_date(t):\n    return t",
    "language": "python",
}
REVERSE = {"instruction": "Reverse a list", "code": "func reverse() {}", "language": "go"}
RUNS = 6
LINES = f"{json.dumps(DATE)}\n\n{json.dumps(REVERSE)}\n"


@pytest.fixture
def environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The same, with the memory."""
    return {**environment, "STET_MEMORY_ENABLED": "true"}


def rows(stet: Stet) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stet("memory", "export", "-").out.splitlines()]


def test_an_empty_memory_is_reported_without_starting_a_process(stet: Stet, stet_home: Path) -> None:
    stats = json.loads(stet("memory", "stats", "--json").out)

    assert stats["solutions"] == 0
    assert stats["uri"] == str(stet_home / "data" / "memory")
    assert stet("memory", "search", "anything").out == "No solution matches.\n"
    assert not (stet_home / "data" / "memory").exists()


def test_a_solution_is_imported_found_shown_exported_and_forgotten(stet: Stet, stet_home: Path, folder: Path) -> None:
    ran = stet("memory", "import", "-", stdin=LINES)
    assert (ran.status, ran.err) == (0, "2 new solutions, 0 already known\n")
    assert stet("memory", "import", "-", stdin=LINES).err == "0 new solutions, 2 already known\n"

    stats = json.loads(stet("memory", "stats", "--json").out)
    assert (stats["solutions"], stats["dimension"], stats["embedder"]) == (2, 384, "all-MiniLM-L6-v2")
    (hit,) = json.loads(stet("memory", "search", "read ISO dates from text", "--limit", "1", "--json").out)
    assert (hit["instruction"], hit["from"]) == (DATE["instruction"], "from the memory, imported")
    assert json.loads(stet("memory", "search", "reverse", "--language", "go", "--json").out)[0]["language"] == "go"

    shown = json.loads(stet("memory", "show", hit["id"][:8]).out)
    assert shown["code"] == DATE["code"]
    assert stet("memory", "export", folder / "out.jsonl").status == 0
    assert [json.loads(line)["code"] for line in (folder / "out.jsonl").read_text().splitlines()] == [
        each["code"] for each in rows(stet)
    ]
    assert stet("memory", "forget", hit["id"]).out == f"Deleted: {DATE['instruction']}\n"
    assert [row["instruction"] for row in rows(stet)] == [REVERSE["instruction"]]
    files = [path for path in (stet_home / "data" / "memory").rglob("*") if path.is_file()]
    assert not any(b"parse_date" in path.read_bytes() for path in files)

    assert stet("memory", "doctor").out == "1 solutions, none damaged.\n"
    assert " MB now\n" in stet("memory", "compact").out
    assert stet("memory", "clear").status == 2
    assert stet("memory", "clear", "--yes").out == "Deleted 1 solution.\n"


@pytest.mark.parametrize("verb", ["show", "forget"])
def test_an_unknown_id_exits_with_1(stet: Stet, verb: str) -> None:
    ran = stet("memory", verb, "0123456789abcdef")

    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "error: Unknown solution '0123456789abcdef'. Run `stet memory search` for ids.\n"


def test_broken_lines_are_reported_and_the_others_imported(stet: Stet, folder: Path) -> None:
    secret = {**DATE, "code": 'token = "ghp_' + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2" + '"'}
    lines = [
        json.dumps(REVERSE),
        "nonsense",
        '{"code": 1}',
        "[]",
        json.dumps({**DATE, "uses": "many"}),
        json.dumps(secret),
    ]
    (folder / "in.jsonl").write_text("\n".join(lines))
    ran = stet("memory", "import", "in.jsonl")

    assert ran.status == 1
    warnings = ran.err.splitlines()
    assert warnings[0] == "warning: in.jsonl, line 2: no JSON (Expecting value)"
    assert warnings[1].startswith('warning: in.jsonl, line 3: "instruction": expected')
    assert warnings[2] == "warning: in.jsonl, line 4: expected one JSON object"
    assert warnings[3] == 'warning: in.jsonl, line 5: "uses": expected a number'
    assert "line 6: Not remembered: its code contains a possible secret" in warnings[4]
    assert warnings[5] == "1 new solutions, 0 already known"
    assert stet("memory", "import", "nowhere.jsonl").status == 2


def test_learn_imports_the_documented_functions_of_a_project(stet: Stet, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "src").mkdir()
    (folder / "src" / "dates.py").write_text(
        'def parse(text):\n    """Parse an ISO date from a string."""\n    return text\n\n\ndef bare():\n    return 1\n'
    )
    assert stet("memory", "learn", "src", "--untested").err == "1 documented functions, 1 of them new\n"
    assert stet("memory", "learn", ".", "--untested").err == "1 documented functions, 0 of them new\n"
    (row,) = rows(stet)

    assert row["provenance"]["path"] == "src/dates.py"
    assert (row["outcome"], row["instruction"]) == ("learned", "Parse an ISO date from a string.")
    assert row["evidence"] == [], "not executed"
    assert "proven" not in stet("memory", "search", "parse a date").out
    assert stet("memory", "learn", "nowhere").status == 2


def shop(folder: Path) -> None:
    """A project with one function of each kind: tested, failing its test, named by a test that does not run it."""
    (folder / ".git").mkdir()
    (folder / "shop.py").write_text(
        'def price(cents):\n    """Show an amount of cents in euros."""\n    return f"{cents / 100:.2f} €"\n\n\n'
        'def tax(cents):\n    """Work out the tax of an amount."""\n    return cents\n\n\n'
        'def alone(items):\n    """Count the items of a shop."""\n    return len(items)\n'
    )
    (folder / "tests").mkdir()
    (folder / "tests" / "test_price.py").write_text(
        'from shop import price\n\n\ndef test_price():\n    assert price(250) == "2.50 €"\n'
    )
    (folder / "tests" / "test_tax.py").write_text(
        "from shop import tax\n\n\ndef test_tax():\n    assert tax(100) == 19\n"
    )
    (folder / "tests" / "test_alone.py").write_text(
        "import shop\n\n\ndef test_alone():\n    assert callable(shop.alone)\n"
    )


def test_learn_imports_only_functions_whose_tests_pass(stet: Stet, folder: Path) -> None:
    shop(folder)
    ran = stet("memory", "learn", ".")
    assert (ran.status, ran.err) == (
        0,
        "3 documented functions: 1 new, 1 that no test runs, 1 whose tests do not pass (tax in shop.py)\n",
    )
    (row,) = rows(stet)
    assert (row["provenance"]["unit"], row["outcome"]) == ("price", "learned")
    assert row["evidence"] == ["tests: 1 that runs it passes in tests/test_price.py"]
    assert "1 were known" in stet("memory", "learn", ".").err
    assert len(rows(stet)) == 1


def test_a_disabled_memory_is_reported(stet: Stet) -> None:
    ran = stet("memory", "stats", STET_MEMORY_ENABLED="false")

    assert (ran.status, ran.err) == (1, "error: The memory is disabled (setting `memory.enabled`).\n")


def test_an_edit_applied_by_run_is_learned_once_it_is_kept(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / "greet.py").write_text("def greet(name):\n    pass\n")
    scripted.reply(code_reply('def greet(name):\n    return f"Hello {name}"'))
    instruction = ("--instruction", "greet someone by their name", "--budget", "quick", "--accept-risk", "not-run")
    ran = stet("run", "generate", "greet.py:1", *instruction, "--apply")
    assert ran.status == 0, ran.err
    assert json.loads(stet("memory", "stats", "--json").out)["solutions"] == 0, "it may still be undone"

    stats = stet("memory", "stats", "--json", STET_MEMORY_STANDS_SECONDS="0")
    assert json.loads(stats.out)["solutions"] == 1, stats.err
    (row,) = rows(stet)
    assert (row["outcome"], row["instruction"]) == ("kept", "greet someone by their name")
    assert row["provenance"]["path"] == "greet.py"


ASKED = ("run", "generate", "dates.py:1", "--instruction", "read an ISO date from text", "--budget", "quick", "--json")


def test_an_imported_solution_is_in_the_prompt_or_its_absence_explained(
    stet: Stet, scripted: ScriptedModel, folder: Path
) -> None:
    stub, reply = "def read_date(text):\n    pass\n", code_reply("def read_date(text):\n    return text.strip()")
    (folder / "dates.py").write_text(stub)
    found = []
    for _ in range(RUNS):  # on a busy machine a search may miss its budget
        if not found:
            assert stet("memory", "import", "-", stdin=LINES).status == 0
        scripted.reply(reply)
        answer = json.loads(stet(*ASKED).out)
        hits = answer["metadata"]["memory_hits"]
        warnings = [each for each in answer["warnings"] if each.startswith("memory not searched: ")]
        assert (hits, bool(warnings)) in ((1, False), (0, True)), "found, or told"
        assert (DATE["code"] in scripted.requests[-1].prompt) == bool(hits)
        found.append(hits)
        if hits:
            break
    assert found[-1] == 1, "a process that is there is asked"


def test_a_run_that_starts_the_memory_finds_a_solution_or_says_why_not(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    (folder / "dates.py").write_text("def read_date(text):\n    pass\n")
    assert stet("memory", "import", "-", stdin=LINES).status == 0
    scripted.reply(code_reply("def read_date(text):\n    return text.strip()"))
    answer = json.loads(stet(*ASKED, STET_MEMORY_IDLE_SECONDS="61").out)  # other settings, another process
    warnings = [each for each in answer["warnings"] if each.startswith("memory not searched: ")]

    assert (answer["metadata"]["memory_hits"], len(warnings)) in ((1, 0), (0, 1))
    assert (DATE["code"] in scripted.requests[-1].prompt) == bool(answer["metadata"]["memory_hits"])
