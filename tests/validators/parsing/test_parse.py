"""Parsing within a deadline, next to other threads, on whatever text there is."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import tree_sitter

from stet_ls.validators import syntax
from stet_ls.validators.findings import Status
from stet_ls.validators.languages import LANGUAGES
from stet_ls.validators.parsing import grammars
from stet_ls.validators.parsing.parse import DeadlineError, clean, parse
from stet_ls.validators.source import Source

PARSED = [row.id for row in LANGUAGES if row.grammar]
PROSE = "Sure, here's what you asked for: it (mostly) works, doesn't it? " * 3000


def big_module(size: int) -> str:
    function = (
        "def f{n}(a, b=1):\n    if a > b:\n        return [x * {n} for x in range(a)]\n    return {{'k': (a, b)}}\n\n\n"
    )
    text = "".join(function.format(n=n) for n in range(size // 100))
    return text[:size].rpartition("\n\n\n")[0] + "\n"


@pytest.mark.parametrize("language", PARSED)
@pytest.mark.parametrize("text", ["", "\n", "x", "\0", "\0\x01\xff" * 50, "\ufeff", "\ud83d", "\r", '"'])
def test_every_grammar_survives_odd_texts(language: str, text: str) -> None:
    source = Source(text)
    parsed = parse(source, language)
    assert parsed.root.end_byte <= len(source.data) + 1


@pytest.mark.parametrize("language", ["python", "javascript", "typescript", "go", "rust", "java", "cpp", "csharp"])
@pytest.mark.parametrize(
    "text",
    ["(" * 50_000, "[" * 50_000 + "]" * 50_000, "{" * 50_000, "x = " + "-" * 50_000 + "1", "if (a) {" * 20_000, PROSE],
    ids=["open", "nested", "braces", "minus", "blocks", "prose"],
)
def test_deep_nesting_and_prose_end_at_the_deadline(language: str, text: str) -> None:
    started = time.process_time()
    with suppress(DeadlineError):
        parse(Source(text), language, deadline=0.5)
    assert time.process_time() - started < 3


@pytest.mark.timeout(60)
def test_a_tree_gives_its_texts_after_its_deadline() -> None:
    """A tree is remembered for minutes; the library reads the texts of its nodes through what the parser read by."""
    parsed = parse(Source("const late = 1;\n"), "typescript", deadline=2.0)
    again = parse(Source("const later = 1;\n"), "typescript", deadline=2.0)
    time.sleep(2.1)
    assert [each.root.children[0].text for each in (parsed, again)] == [b"const late = 1;", b"const later = 1;"]


HOSTILE = {
    "one token of megabytes": "\0" * 3_000_000,
    "one line of a megabyte": "x = [" + "1, " * 350_000 + "]",
    "one string of a megabyte": "s = '" + "é" * 600_000,
    "one comment of megabytes": "/*" + " *" * 1_500_000,
    "line ends": "\r" * 1_000_000,
    "half surrogates": "\ud83d\n" * 300_000,
    "random bytes": random.Random(1).randbytes(300_000).decode("latin-1"),
    "invalid UTF-8, replaced": random.Random(2).randbytes(300_000).decode("utf-8", "replace"),
    "quotes": "\"'`" * 50_000,
    "a keyboard's all": "".join(map(chr, range(32, 127))) * 3000,
}


@pytest.mark.parametrize("language", ["python", "typescript", "csharp", "yaml", "html"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_overruns_the_deadline_or_raises(language: str, text: str) -> None:
    """Alone and as a change of a text that is known."""
    for source in (Source(text), Source(text + "\nx")):
        started = time.process_time()
        verdict = syntax.check_fast(source, language, deadline=0.3)
        assert time.process_time() - started < 3, "ten times the deadline, for a machine that is busy"
        assert verdict.status is not Status.UNKNOWN or verdict.reason


CUT_ANYWHERE = """
import itertools, types
from stet_ls.validators.parsing import parse
from stet_ls.validators.source import Source
for language in ("html", "lua", "python", "javascript"):
    for deadline in range(1, 60):
        parse.time = types.SimpleNamespace(monotonic=itertools.count().__next__)  # a look at this clock is a second
        try:
            parse.parse(Source("//" + "\u20ac" * 20_000 + str(deadline)), language, deadline=deadline)
        except parse.DeadlineError:
            print(language)
"""


def test_a_deadline_amid_wide_characters_ends_no_process() -> None:
    """A chunk must not end within a character: the next one may have to be empty. In a process that may die of it."""
    run = subprocess.run([sys.executable, "-c", CUT_ANYWHERE], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert set(run.stdout.split()) == {"html", "lua", "python", "javascript"}, "no deadline fell into a parse"


def test_after_an_abort_the_next_text_is_parsed_from_its_beginning() -> None:
    with pytest.raises(DeadlineError, match=r"not parsed within 0.001 s"):
        parse(Source(big_module(1_000_000)), "python", deadline=0.001)
    parsed = parse(Source("a = 1\n"), "python")
    assert parsed.root.end_byte == 6
    assert not parsed.root.has_error


def test_a_missing_last_line_end_is_valid() -> None:
    """C#'s grammar wants a line end after `#pragma`; many files have none."""
    source = Source("class A {}\n#pragma warning disable")
    assert not parse(source, "csharp").root.has_error
    assert tree_sitter.Parser(grammars.grammar("csharp")).parse(source.data).root_node.has_error


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb\rc\n", "é\ud83d😀\u2028", "\udc00" * 3, ""])
def test_cleaning_moves_no_offset(text: str) -> None:
    source = Source(text)
    cleaned = clean(source)
    assert cleaned.endswith(b"\n")
    assert len(cleaned) - len(source.data) in (0, 1)
    cleaned.decode("utf-8")
    kept = [(old, new) for old, new in zip(source.data, cleaned, strict=False) if old < 0x80 and old != 0x0D]
    assert all(old == new for old, new in kept)


def test_lone_carriage_returns_end_lines() -> None:
    parsed = parse(Source("def f():\r    return 1\rx = 2\r"), "python")
    assert not parsed.root.has_error
    assert [node.type for node in parsed.root.children] == ["function_definition", "expression_statement"]


def test_half_a_surrogate_pair_in_a_string_is_text() -> None:
    assert not parse(Source("s = '\ud83d'\n"), "python").root.has_error


def test_tsx_and_ts_are_distinguished_by_the_language_id() -> None:
    markup = Source("const a = <T,>x</T>;\nconst b = <div>hi</div>;\n")
    assert not parse(Source("const b = <div>hi</div>;\n"), "typescriptreact").root.has_error
    assert parse(markup, "typescript").root.has_error
    cast = Source("const b = <number>value;\n")
    assert not parse(cast, "typescript").root.has_error
    assert parse(cast, "typescriptreact").root.has_error


def test_every_thread_has_a_parser_of_its_own() -> None:
    assert grammars.parser("python") is grammars.parser("python")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(grammars.parser, "python").result() is not grammars.parser("python")


def test_many_threads_parse_at_once() -> None:
    texts = [f"def f{n}():\n    return {'(' * (n % 7)}{n}{')' * (n % 7)}\n" * 50 for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(lambda text: parse(Source(text), "python"), texts))
    assert not any(parsed.root.has_error for parsed in trees)
    assert [parsed.root.child_count for parsed in trees] == [50] * 40


def test_other_threads_run_while_a_big_text_is_parsed() -> None:
    """From the string to the tree. `Parser.parse(bytes)` would hold the interpreter to its end: both in one run."""
    text = big_module(2_000_000)
    data = text.encode()
    ours, _ = _longest_stall(lambda: (Source(text).starts, parse(Source(text), "python", deadline=60)))
    theirs, seconds = _longest_stall(lambda: tree_sitter.Parser(grammars.grammar("python")).parse(data))
    assert theirs > seconds / 2, "the direct way does not stall any more: the callback may go"
    assert ours < theirs / 2


def _longest_stall(work: object) -> tuple[float, float]:
    """The longest time for which a busy thread did not get its turn during `work`, and how long that took."""
    assert callable(work)
    done = threading.Event()
    longest = 0.0

    def watch() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest = max(longest, now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    return longest, seconds


def test_the_same_text_is_parsed_once() -> None:
    source = Source("def remembered(): pass\n")
    assert parse(source, "python") is parse(Source(source.text), "py")
    assert parse(source, "python") is not parse(source, "ruby")


def test_a_large_text_is_parsed_once_and_what_is_remembered_has_a_bound() -> None:
    texts = [Source(f"x = {number}\n" * 600_000) for number in range(3)]
    trees = [parse(text, "python", deadline=60) for text in texts]
    assert parse(texts[-1], "python", deadline=60) is trees[-1]
    assert parse(texts[0], "python", deadline=60) is not trees[0], "three such texts are too much to keep"
