"""Grammars that no one has tested run in a child: whatever one does costs one verdict, and nothing else."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stet_ls.validators import syntax
from stet_ls.validators.findings import Status, SyntaxResult
from stet_ls.validators.install_hints import install_command
from stet_ls.validators.language_table.row import Language
from stet_ls.validators.languages import LANGUAGES, language, language_of
from stet_ls.validators.source import Source, Span
from stet_ls.validators.syntax import language_pack
from stet_ls.validators.syntax.language_pack.child_pool import ParserPool, parser_pool

PACKED = [row for row in LANGUAGES if row.packed and row.packed not in language_pack.DENIED]
TIMEOUT = 60.0
"""Seconds for what has no reason to fail; the machine may be busy."""
MARGIN = 30.0
"""Seconds that a deadline may be overrun on a machine that is busy."""
HASKELL = Source('main :: IO ()\nmain = putStrLn "é"\n')

# A child that speaks the protocol and does what its text tells it.
OBEDIENT = """
import json, os, signal, sys, time
from stet_ls.validators.syntax.language_pack.frames import LENGTHS, frame
out = sys.stdout.buffer
def say(message): out.write(message); out.flush()
BEFORE
say(frame({"ready": True}))
while lengths := sys.stdin.buffer.read(LENGTHS.size):
    _, header, body = LENGTHS.unpack(lengths)
    asked, text = json.loads(sys.stdin.buffer.read(header)), sys.stdin.buffer.read(body).decode()
    verdict = {"status": "ok", "language": asked["language"], "findings": [], "reason": ""}
    exec(text)
    say(frame({"verdict": verdict}))
"""


@pytest.fixture
def real() -> Iterator[ParserPool]:
    """The real child with the real language pack, and no one else to use it."""
    made = ParserPool()
    yield made
    made.close()


@pytest.fixture
def obedient() -> Iterator[ParserPool]:
    made = ParserPool([sys.executable, "-c", OBEDIENT.replace("BEFORE", "")])
    yield made
    made.close()


def row(name: str) -> Language:
    found = language(name)
    assert found is not None
    return found


def ask(by: ParserPool, text: str | Source, name: str = "haskell", deadline: float = TIMEOUT) -> SyntaxResult:
    source = Source(text) if isinstance(text, str) else text
    return language_pack.check_fast(source, row(name), deadline=deadline, by=by, denied={})


def warm(by: ParserPool) -> None:
    assert (
        ask(by, HASKELL if by._argv[-2] == "stet_ls.validators.syntax.language_pack_child" else "pass").status
        is Status.OK
    )


def ended(process_id: int) -> bool:
    """True once a process that may not be ours has ended; waits for that."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    with open(descriptor, "rb"):  # noqa: PTH123
        return bool(select.select([descriptor], [], [], TIMEOUT)[0])


@pytest.mark.timeout(300)
def test_150_languages_are_parsed(real: ParserPool) -> None:
    assert len(PACKED) == 150
    unparsed = {each.id: verdict.reason for each in PACKED if (verdict := ask(real, "x\n", each.id)).reason}
    assert unparsed == {}


@pytest.mark.parametrize(
    ("file", "valid", "broken"),
    [
        ("a.hs", 'main = putStrLn "x"\n', 'main = putStrLn ("x"\n'),
        ("a.ex", "def f do\n  1\nend\n", "def f do\n  (1\nend\n"),
        ("a.zig", "const x: u8 = 1;\n", "const x: u8 = ;\n"),
        ("a.dart", "void main() {}\n", "void main( {}\n"),
        ("a.scala", "object A { val x = 1 }\n", "object A { val x = \n"),
        ("a.sol", "contract A { uint x; }\n", "contract A { uint x; \n"),
        ("main.tf", 'a "b" {\n  c = 1\n}\n', 'a "b" {\n  c = \n}\n'),
        ("Dockerfile", "FROM a\nRUN b\n", "FROM\n"),
        ("a.f90", "program a\nend program a\n", "program a\nif (\nend program a\n"),
        ("a.jl", "f(x) = x + 1\n", "f(x = x + 1\n"),
        ("go.mod", "module example.com/a\n\ngo 1.22\n", "module\n"),
        ("a.proto", 'syntax = "proto3";\n', "syntax = \n"),
    ],
)
def test_files_are_recognized_by_their_names_and_judged(file: str, valid: str, broken: str) -> None:
    """At the door that everybody uses, with what the child says about places."""
    name = language_of(file)
    assert syntax.check_fast(Source(valid), name, deadline=TIMEOUT).status is Status.OK
    verdict = syntax.check(Source(broken), name, deadline=TIMEOUT)
    assert verdict.status is Status.ERROR
    assert verdict.language == name
    assert not verdict.may_block, "no one has measured these grammars: they advise"
    assert all(finding.span.end <= len(Source(broken).data) and finding.message for finding in verdict.findings)


def test_messages_and_places_are_as_good_as_those_of_the_core(real: ParserPool) -> None:
    text = Source('-- é\ud83d\nmain = putStrLn ("x"\n')
    finding = ask(real, text).findings[0]
    assert finding.message.startswith("line 2: '(' is never closed")
    assert text.slice(finding.span) == "("
    assert finding.line == 1


@pytest.mark.parametrize("hanging", ["x", "x" + "\n" * 3_000_000], ids=["small", "larger than a pipe"])
def test_a_grammar_that_never_ends_costs_one_verdict(real: ParserPool, hanging: str) -> None:
    warm(real)
    (child,) = real._idle
    started = time.monotonic()
    verdict = ask(real, hanging, "cobol", deadline=3.0)
    assert time.monotonic() - started < 3.0 + MARGIN
    assert verdict.status is Status.UNKNOWN
    assert verdict.reason == "not parsed: COBOL's grammar did not finish within 3 s"
    assert not child.is_alive()
    assert ask(real, HASKELL).status is Status.OK
    assert ask(real, "x", "cobol", deadline=1.0).status is Status.UNKNOWN
    assert ask(real, HASKELL).status is Status.OK


def test_while_one_grammar_hangs_others_answer(real: ParserPool) -> None:
    with ThreadPoolExecutor(2) as pool:
        hanging = pool.submit(ask, real, "x", "cobol", TIMEOUT)
        assert pool.submit(ask, real, HASKELL).result().status is Status.OK
        assert not hanging.done()
        (child,) = real._all - set(real._idle)
        os.kill(child._process.pid, signal.SIGKILL)  # no need to wait until its time is over
        assert hanging.result().reason == "not parsed: COBOL's grammar ended its process (SIGKILL)"


def test_many_threads_ask_at_once(real: ParserPool) -> None:
    texts = [f'main = putStrLn {"(" * (n % 2)}"{n}"\n' for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(lambda text: ask(real, text), texts))
    assert [verdict.status for verdict in verdicts] == [Status.OK, Status.ERROR] * 12
    assert len(real._idle) <= 2


async def test_who_is_cancelled_leaves_nothing_behind_that_others_wait_for(real: ParserPool) -> None:
    await asyncio.to_thread(warm, real)
    task = asyncio.create_task(asyncio.to_thread(ask, real, "x", "cobol", 2.0))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await asyncio.to_thread(ask, real, HASKELL)).status is Status.OK


def test_the_first_question_does_not_wait_for_the_start_longer_than_it_may() -> None:
    slow = ParserPool([sys.executable, "-c", OBEDIENT.replace("BEFORE", "sys.stdin.buffer.read(1)")])
    started = time.monotonic()
    verdict = ask(slow, "pass", deadline=0.2)
    assert time.monotonic() - started < 0.2 + MARGIN
    assert verdict.reason == "not parsed: Haskell's grammar is still being loaded; ask again"
    (child,) = slow._idle
    assert child.is_alive(), "a slow start is no fault"
    os.write(child._in.fileno(), b"x")
    assert ask(slow, "pass").status is Status.OK
    assert slow._idle == [child]
    slow.close()


def test_a_text_that_gets_no_turn_is_reported(tmp_path: Path) -> None:
    one = ParserPool([sys.executable, "-c", OBEDIENT.replace("BEFORE", "")], most=1)
    warm(one)
    with ThreadPoolExecutor(1) as pool:
        taken = threading.Event()
        take = one._take

        def taking(end: float) -> object:
            child = take(end)
            taken.set()
            return child

        one._take = taking  # type: ignore[method-assign, assignment]
        over = tmp_path / "over"
        hanging = pool.submit(ask, one, f"while not os.path.exists({str(over)!r}): time.sleep(0.01)")
        assert taken.wait(TIMEOUT)
        reason = ask(one, "pass", deadline=0.1).reason
        over.touch()
        assert reason == "not parsed: Haskell's grammar had no turn in time: others are being parsed"
        assert hanging.result().status is Status.OK
    assert ask(one, "pass").status is Status.OK
    one.close()


FAULTS = {
    "crashes": ("os.kill(os.getpid(), signal.SIGSEGV)", "ended its process (SIGSEGV)"),
    "leaves": ("sys.exit(3)", "ended its process (status 3)"),
    "prints words": ("say(b'Segmentation fault, said the grammar')", "answered nonsense"),
    "prints a lot": ("say(b'stet' + b'\\xff' * 5_000_000)", "answered nonsense"),
    "promises gigabytes": ("say(LENGTHS.pack(b'stet', 4_000_000_000, 0))", "answered nonsense"),
    "answers no JSON": ("say(LENGTHS.pack(b'stet', 3, 0) + b'{a}')", "answered nonsense"),
    "answers deep JSON": ("say(LENGTHS.pack(b'stet', 100_000, 0) + b'[' * 100_000)", "answered nonsense"),
    "answers a list": ("say(LENGTHS.pack(b'stet', 2, 0) + b'[]')", "answered nonsense"),
    "answers something else": ("say(frame({'hello': 1}))", "answered nonsense"),
    "contradicts itself": ("verdict['status'] = 'error'", "answered nonsense"),
    "knows no status": ("verdict['status'] = 'fine'", "answered nonsense"),
    "has no findings": ("verdict['findings'] = [1]", "answered nonsense"),
    "points outside": (
        "verdict['status'] = 'error'; verdict['findings'] = [{'span': {'start': 1, 'end': 10_000}, 'message': 'm', "
        "'severity': 'error', 'code': '', 'line': 0, 'suggestions': [], 'related': [], 'signature': ''}]",
        "answered nonsense",
    ),
}


@pytest.mark.parametrize(("fault", "reason"), FAULTS.values(), ids=FAULTS)
def test_a_child_that_goes_wrong_costs_one_verdict(obedient: ParserPool, fault: str, reason: str) -> None:
    verdict = ask(obedient, fault)
    assert verdict.status is Status.UNKNOWN
    assert verdict.reason == f"not parsed: Haskell's grammar {reason}"
    assert ask(obedient, "pass").status is Status.OK


def test_a_place_inside_of_the_text_is_taken(obedient: ParserPool) -> None:
    """What the case "points outside" rests on."""
    fault, _ = FAULTS["points outside"]
    (finding,) = ask(obedient, fault.replace("10_000", "10")).findings
    assert finding.span == Span(1, 10)


def test_a_grammar_that_crashes_its_child_three_times_is_disabled(obedient: ParserPool) -> None:
    for _ in range(3):
        assert "SIGSEGV" in ask(obedient, "os.kill(os.getpid(), signal.SIGSEGV)").reason
    assert (
        ask(obedient, "pass").reason
        == "not parsed: Haskell's grammar failed 3 times and is not used until the next start"
    )
    assert ask(obedient, "pass", "elixir").status is Status.OK, "the others are not to blame"


def test_the_child_gets_nothing_secret(obedient: ParserPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_API_KEY", "sk-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    said = ask(obedient, "verdict['reason'] = ' '.join(os.environ.values())").reason
    assert said
    assert "secret" not in said


def test_the_child_leaves_after_idling() -> None:
    brief = ParserPool(idle=2.0)
    warm(brief)
    (child,) = brief._idle
    assert ended(child._process.pid)
    assert ask(brief, HASKELL).status is Status.OK
    brief.close()


@pytest.mark.parametrize("hanging", [True, False], ids=["hanging", "idle"])
def test_the_child_dies_with_its_parent(hanging: bool) -> None:
    """Also of `kill -9`, also while its grammar loops and reads no pipe: it has set itself an alarm."""
    code = """
import sys, time
from stet_ls.validators.syntax.language_pack.child_process import ParserChild
from stet_ls.validators.syntax.language_pack.frames import frame
child = ParserChild([sys.executable, "-m", "stet_ls.validators.syntax.language_pack_child", "600"])
child.await_start(time.monotonic() + 60)
"""
    if hanging:
        code += """
child._send(memoryview(frame({"language": "cobol", "deadline": 1, "alarm": 2}, b"x")))
"""
    code += "print(child._process.pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.kill()
    assert ended(child)


def test_a_forked_process_has_children_of_its_own() -> None:
    """`stet check` works in several processes; here all children are at work at the moment of the fork."""
    code = """
import os, time
from stet_ls.validators import syntax
from stet_ls.validators.syntax.language_pack.child_pool import parser_pool
from stet_ls.validators.source import Source
def ask(): return syntax.check_fast(Source('main = putStrLn "x"'), "haskell", deadline=60)
assert ask().status == "ok"
taken = [parser_pool()._take(time.monotonic() + 60) for _ in range(2)]
if (process_id := os.fork()) == 0:
    status = ask().status
    parser_pool().close()
    os._exit(0 if status == "ok" else 1)
assert os.waitpid(process_id, 0)[1] == 0
for child in taken:
    assert child.is_alive()
    parser_pool()._give_back(child, kept=True)
assert ask().status == "ok"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=2 * TIMEOUT)


def test_this_process_never_loads_the_pack() -> None:
    code = """
import sys
from stet_ls.validators import syntax, structure
from stet_ls.validators.source import Source
assert syntax.check(Source("x = ("), "nix", deadline=60).status == "error"
assert structure.units(Source("x = 1"), "nix") == ()
print([name for name in sys.modules if name.startswith("tree_sitter_language_pack")])
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


def test_without_the_extra_its_install_command_is_named() -> None:
    code = """
import sys
sys.modules["tree_sitter_language_pack"] = None
from stet_ls.validators import syntax
from stet_ls.validators.source import Source
print(syntax.check_fast(Source("x"), "nix").reason)
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == f"not parsed: no grammar for Nix; `{install_command('all-languages')}` brings one"


def test_a_grammar_on_the_deny_list_is_not_even_tried() -> None:
    verdict = syntax.check_fast(Source("x"), "cobol")
    assert verdict.status is Status.UNKNOWN
    assert verdict.reason == (
        "not parsed: the grammar for COBOL is not used, because it does not terminate on some texts"
    )


@pytest.fixture(scope="module", autouse=True)
def _no_child_outlives_the_tests() -> Iterator[None]:
    yield
    parser_pool().close()
