"""Judging texts as one types: a buffer at once, keystrokes in a large file, and what other threads feel of it."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.row import Row

from stet_ls.validators import syntax
from stet_ls.validators.languages import language
from stet_ls.validators.parsing import parse
from stet_ls.validators.parsing.tree_cache import TreeCache
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.syntax import language_pack
from stet_ls.validators.syntax.language_pack.child_pool import ParserPool

SAMPLES = Path(__file__).resolve().parents[1] / "validators" / "corpus" / "samples"
NAMES = ("python", "javascript", "typescript", "go", "rust", "java", "cpp", "csharp")
TYPING = 0.4
"""Seconds that a keystroke's verdict may take: the checks that read a whole large tree come later, after a rest."""
TIMEOUT = 30.0
ROUNDS = 40


def rows() -> Iterator[Row]:
    """A buffer, keystrokes, stalls, and the child of the language pack."""
    for name in NAMES:
        yield Row(f"500 lines of {name}, new: instant verdict", _many(_buffer(name)), "P50 5 ms, P95 15 ms")
    yield _against_python()
    for name in NAMES:
        yield Row(f"10,000 lines of {name}: keystroke that parses", _many(_keystrokes(name, "x")), "20 ms")
        yield Row(f"10,000 lines of {name}: keystroke that breaks", _many(_keystrokes(name, "(")), "120 ms")
    yield from _stalls()
    yield from _packed()


def _text(name: str, lines: int) -> str:
    """The samples of a language, again and again."""
    samples = [path.read_text(encoding="utf-8") for path in sorted((SAMPLES / name).iterdir())]
    text = ""
    while (count := text.count("\n")) < lines:
        text += samples[count % len(samples)]
    return text.replace("from __future__ import annotations\n", "")


def _buffer(name: str) -> Iterator[float]:
    """The verdict on a text of which nothing is known."""
    text = _text(name, 500)
    for _ in range(ROUNDS):
        parse._memory = TreeCache()
        yield _worked(lambda: syntax.check_fast(Source(text), name, deadline=TIMEOUT))


def _keystrokes(name: str, key: str) -> Iterator[float]:
    """A key within a word somewhere in a large file, measured; then it is taken back."""
    source = Source(_text(name, 10_000))
    syntax.check_fast(source, name, deadline=TIMEOUT)
    for round_ in range(ROUNDS):
        line = (round_ * 1663 + 700) % source.line_count
        at = source.line_span(line).end
        while at and not source.data[at - 1 : at + 1].isalpha():
            at -= 1
        after = source.splice([Splice(Span(at, at), key)])
        seconds = _worked(lambda: syntax.check_fast(after, name, deadline=TYPING))  # noqa: B023  # called at once
        if parse.parse(after, name).root.has_error == (key == "("):  # an `x` within a keyword breaks it too
            yield seconds
        syntax.check_fast(source, name, deadline=TIMEOUT)


def _against_python() -> Row:
    """Next to the language's own parser, in process and as a command."""
    text = _text("python", 500)
    own = _median(_buffer("python"))
    native = _median(_worked(lambda: ast.parse(text)) for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.py")
        file.write_text(text, encoding="utf-8")
        argv = [sys.executable, "-m", "compileall", "-q", "-f", str(file)]
        command = _median(_timed(lambda: subprocess.run(argv, check=True)) for _ in range(5))
    return Row(
        "500 lines of python against its own tools", f"{own / native:.1f} x ast.parse, {own / command:.2f} x compileall"
    )


def _stalls() -> Iterator[Row]:
    """The longest time for which a thread that is always ready did not get its turn."""
    text = _text("python", 70_000)[:2_000_000]
    text = text[: text.rindex("\nclass ")] + "\n"
    source = Source(text)

    def prepare() -> None:
        assert source.starts
        parse.clean(source)
        hash(source.text)

    parse._memory = TreeCache()
    for what, work in (
        ("bytes and lines", prepare),
        ("parse", lambda: parse.parse(source, "python", deadline=TIMEOUT)),
        ("keystroke", lambda: syntax.check_fast(source.splice([Splice(Span(9, 9), "x")]), "python", deadline=TIMEOUT)),
        ("the same at once: Parser.parse(bytes)", lambda: parse.grammars.parser("python").parse(source.data)),
    ):
        stall, seconds = stalled(work)
        goal = "-" if "at once" in what else "30 ms"
        yield Row(f"2 MB, {what}: other threads wait", f"{stall * 1e3:.0f} ms of {seconds * 1e3:.0f} ms", goal)


def stalled(work: Callable[[], object]) -> tuple[float, float]:
    """The longest wait of a busy thread while `work` ran, and how long that took, both in seconds."""
    done, ready = threading.Event(), threading.Event()
    longest = 0.0

    def watch() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not done.is_set():
            ready.set()
            time.sleep(0.001)
            now = time.perf_counter()
            longest = max(longest, now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    ready.wait()
    seconds = _timed(work)
    done.set()
    watcher.join()
    return longest, seconds


def _packed() -> Iterator[Row]:
    """The child that parses with grammars of the language pack."""
    pool = ParserPool()
    haskell, cobol = language("haskell"), language("cobol")
    assert haskell
    assert cobol
    source = Source("".join(f"f{n} :: Int -> Int\nf{n} x = x + {n}\n" for n in range(250)))
    ask = lambda text, row, deadline: language_pack.check_fast(text, row, deadline=deadline, by=pool, denied={})  # noqa: E731
    yield Row(
        "language pack: first verdict, child started", f"{_timed(lambda: ask(source, haskell, TIMEOUT)) * 1e3:.0f} ms"
    )
    times = [_timed(lambda: ask(Source(f"-- {n}\n{source.text}"), haskell, TIMEOUT)) for n in range(ROUNDS)]  # noqa: B023
    yield Row("language pack: 500 lines of Haskell, changed", _quantiles(times))
    hang = _timed(lambda: ask(Source("x"), cobol, 0.5))
    after = _timed(lambda: ask(source, haskell, TIMEOUT))
    yield Row(
        "language pack: a hang, deadline 0.5 s; the next", f"{hang:.2f} s; {after * 1e3:.0f} ms", "0.5 s; a start"
    )
    pool.close()


def _timed(work: Callable[[], object]) -> float:
    """Seconds by the clock: for what happens in other threads and processes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _worked(work: Callable[[], object]) -> float:
    """Seconds of this thread's processor: what else the machine does is left out."""
    started = time.thread_time()
    work()
    return time.thread_time() - started


def _many(times: Iterator[float]) -> str:
    return _quantiles(list(times))


def _median(times: Iterator[float]) -> float:
    measured = sorted(times)
    return measured[len(measured) // 2]


def _quantiles(times: list[float]) -> str:
    measured = sorted(times)
    p50, p95 = (measured[int(len(measured) * share)] * 1e3 for share in (0.5, 0.95))
    return f"P50 {p50:.1f} ms, P95 {p95:.1f} ms"
