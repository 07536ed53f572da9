"""What code does besides returning: uses of what is passed in, files, errors, threads, growth of time."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

CLIENT = """
def status(client, url):
    response = client.get(url, timeout=5)
    response.raise_for_status()
    return response.json()["status"]
"""
MOVED = """
import os


def move_all(paths, folder):
    os.makedirs(folder, exist_ok=True)
    moved = []
    for path in paths:
        target = os.path.join(folder, os.path.basename(path))
        os.replace(path, target)
        moved.append(target)
    return moved
"""
NOTES = '''
from pathlib import Path


def add_note(path: Path, note: str) -> None:
    """Adds a line to a file."""
    with path.open("a") as file:
        file.write(note + "\\n")
'''
COPY = """
def numbered(source, target):
    with open(source) as lines, open(target, "w") as out:
        for number, line in enumerate(lines, 1):
            out.write(f"{number} {line}")
"""
LEVELS = """
def worst(entries):
    found = None
    for entry in entries:
        if found is None or entry["level"]["rank"] > found["level"]["rank"]:
            found = entry
    return found["title"].strip() if found else ""
"""
RETRY = """
import functools
import time


def retry(times):
    def decorate(function):
        @functools.wraps(function)
        def inner(*given, **named):
            for left in range(times, 0, -1):
                try:
                    return function(*given, **named)
                except KeyError:
                    if left == 1:
                        raise
                    time.sleep(2)
        return inner
    return decorate
"""
POOLED = """
from concurrent.futures import ThreadPoolExecutor


def sizes(texts: list[str]) -> list[int]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(len, texts))
"""
LOCKED = """
import threading

LOCK = threading.Lock()
COUNTS: dict[str, int] = {}


def count(name: str) -> int:
    with LOCK:
        COUNTS[name] = COUNTS.get(name, 0) + 1
        return COUNTS[name]
"""
PARSED = '''
def port(text: str) -> int:
    """The number in a text; raises ValueError, whose message names the text."""
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"no port: {text}") from error
'''
FOUND = """
def both(left: list[str], right: list[str]) -> list[str]:
    known = set(right)
    return [each for each in left if each in known]
"""
DEEP = """
def total(numbers):
    pending, found = [numbers], 0
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending.extend(each)
        else:
            found += each
    return found
"""
LEAKING = """
def numbered(source, target):
    lines = open(source)
    with open(target, "w") as out:
        for number, line in enumerate(lines, 1):
            out.write(f"{number} {line}")
"""
BY_KEY = """
def worst(entries):
    found = max(entries, key=lambda entry: entry["level"]["rank"], default=None)
    return found["title"].strip() if found else ""
"""
BY_RECURSION = """
def total(numbers):
    if not isinstance(numbers, list):
        return 0 + numbers
    return sum(total(each) for each in numbers)
"""
IN_SEQUENCE = """
def sizes(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]
"""
WRITTEN_AT_ONCE = """
def numbered(source, target):
    with open(source) as lines, open(target, "w") as out:
        out.writelines(f"{number} {line}" for number, line in enumerate(lines, 1))
"""
UNCAUSED = PARSED.replace(", whose message names the text", "")
LOST = RETRY.replace("                        raise\n", "                        return None\n")
NAMED = CLIENT.replace("return response.json()", "found = response.json()\n    return found")
REFUTED, ASKED = (Ruling.FAIL, True), (Ruling.UNKNOWN, True)
WRONG = {
    "an argument of a client": (CLIENT, CLIENT.replace(", timeout=5", ""), "status", ASKED, "timeout=5"),
    "a call of a client": (
        CLIENT, CLIENT.replace("    response.raise_for_status()\n", ""), "status", ASKED, "raise_for",
    ),
    "a file that stays": (MOVED, MOVED.replace("os.replace(path, target)", "pass"), "move_all", REFUTED, "files"),
    "a file that is written again": (NOTES, NOTES.replace('"a"', '"w"'), "add_note", REFUTED, "data.txt"),
    "what is written": (COPY, COPY.replace("lines, 1", "lines"), "numbered", REFUTED, "b.txt"),
    "a file that stays open": (COPY, LEAKING, "numbered", REFUTED, "leaves more files open"),
    "a tie in dictionaries of dictionaries": (LEVELS, LEVELS.replace("> found", ">= found"), "worst", REFUTED, "rank"),
    "an error that a decorator loses": (RETRY, LOST, "retry", REFUTED, "KeyError"),
    "a pause": (RETRY, RETRY.replace("time.sleep(2)", "continue"), "retry", REFUTED, "sleeps"),
    "threads": (POOLED, IN_SEQUENCE, "sizes", ASKED, "ThreadPoolExecutor"),
    "a lock": (LOCKED, LOCKED.replace("with LOCK:", "if True:"), "count", ASKED, "under a lock"),
    "a promised text": (PARSED, PARSED.replace('f"no port: {text}"', '"no port"'), "port", REFUTED, "no port"),
    "a cause": (UNCAUSED, UNCAUSED.replace(" from error", ""), "port", ASKED, "cause"),
    "growth": (FOUND, FOUND.replace("set(right)", "right"), "both", ASKED, "grows faster"),
    "depth": (DEEP, BY_RECURSION, "total", REFUTED, "RecursionError"),
}  # fmt: skip
RIGHT = {
    "a client": (CLIENT, NAMED, "status"),
    "files": (COPY, WRITTEN_AT_ONCE, "numbered"),
    "a file that is closed now": (LEAKING, COPY, "numbered"),
    "dictionaries of dictionaries": (LEVELS, BY_KEY, "worst"),
    "a decorator": (RETRY, RETRY.replace("range(times, 0, -1)", "reversed(range(1, times + 1))"), "retry"),
    "a loop of the same growth": (FOUND, FOUND.replace("[each for each in left if each in known]",
                                                       "list(filter(known.__contains__, left))"), "both"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
async def test_an_effect_that_changed_is_refuted_or_asked_about(make: MakeCase, name: str) -> None:
    """The line names what changed."""
    before, after, unit, ruled, shown = WRONG[name]
    found = await judge(make(before, after, unit))
    assert (found.verdict, found.trusted) == ruled, found.detail
    assert shown in found.detail


@pytest.mark.parametrize("name", RIGHT)
async def test_a_rewrite_with_the_same_effects_passes(make: MakeCase, name: str) -> None:
    """Whatever the code reads or calls."""
    before, after, unit = RIGHT[name]
    found = await judge(make(before, after, unit))
    assert found.verdict is Ruling.PASS, found.detail


@pytest.mark.parametrize(("name", "status"), [("a call of a client", 1), ("what is written", 1)])
async def test_the_file_of_a_difference_runs(make: MakeCase, tmp_path: Path, name: str, status: int) -> None:
    """It brings the stand-ins and the files that its calls need."""
    before, after, unit, *_ = WRONG[name]
    found = await judge(make(before, after, unit))
    for each in found.attachments:
        file = tmp_path / each.name
        file.write_text(each.text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        assert done.stdout, done.stderr
        assert not done.stdout.splitlines()[-1].startswith("0 of")


QUOTED = """
def quoted(text: str) -> str:
    return '"' * 3 + "\\\\n" + text.strip()
"""


async def test_the_counterexample_begins_with_what_was_and_what_is(make: MakeCase, tmp_path: Path) -> None:
    """In lines of a docstring that no value ends."""
    found = await judge(make(QUOTED, QUOTED.replace("strip", "upper"), "quoted"))
    assert found.verdict is Ruling.FAIL, found.detail
    file = tmp_path / found.attachments[0].name
    file.write_text(found.attachments[0].text, encoding="utf-8")
    head = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert head is not None
    assert " ".join(head.splitlines()).startswith(f"Counterexample: {found.detail}"), head
    assert max(map(len, head.splitlines())) <= 120
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "1 of 1 calls differ", done.stderr


ANSWERED = """
def answered(hooks, post, log):
    failed = []
    for hook in hooks:
        response = post(hook)
        if response.status >= 400:
            log.warning("refused", hook)
            failed.append(response.reason)
    return failed
"""


async def test_the_file_of_inputs_names_what_differs_alone(make: MakeCase, tmp_path: Path) -> None:
    """Functions that are passed in have another address each time, and stand-ins answer as they did."""
    found = await judge(make(ANSWERED, ANSWERED.replace(">= 400", "> 400"), "answered"))
    assert found.verdict is Ruling.UNKNOWN
    assert "status=400" in found.detail
    counts = []
    for each in found.attachments:
        file = tmp_path / each.name
        file.write_text(each.text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
        differ, _, of, *_ = done.stdout.splitlines()[-1].split()
        counts.append((int(differ), int(of)))
    (one, all_) = counts
    assert one == (1, 1)
    assert 0 < all_[0] < all_[1] / 4
