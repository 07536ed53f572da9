"""Syntax trees from text and as text: in threads, and with numbers that Python writes only as hexadecimals."""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stet_ls.validators.ast_text import dump, is_literal_call, parse_module, try_parse, try_parse_expression, unparse

ROOT = Path(__file__).parents[2]

LONG = f"0x{'f' * 5_000}"


@pytest.mark.parametrize(
    "text", [f"x = -{LONG}", f"{LONG}.bit_length()", f"match x:\n    case {LONG}:\n        f'{{{LONG}}}'"]
)
def test_long_numbers_are_written_so_that_they_can_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        ast.unparse(ast.parse(text))
    again = unparse(ast.parse(text))
    assert LONG in again
    assert dump(ast.parse(again)) == dump(ast.parse(text)) != dump(ast.parse(text.replace("fff", "ffe")))


def test_others_are_written_as_ever_and_no_tree_is_changed() -> None:
    tree = ast.parse(f"a = 0xff, True, {LONG}")
    assert unparse(tree) == f"a = (255, True, {LONG})"
    assert isinstance(tree.body[0], ast.Assign)
    assert all(isinstance(each, ast.Constant) for each in ast.walk(tree.body[0].value) if hasattr(each, "value"))


@pytest.fixture
def busy() -> Iterator[None]:
    """Threads take turns, and garbage is collected, as often as Python can."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50, 2, 2)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


class Cycle:
    """Garbage that runs code when it is collected, so that threads take turns in the middle of a parse."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.mark.usefixtures("busy")
def test_threads_may_parse_at_once() -> None:
    text = "".join(
        f"def f{number}(a, b):\n    return a + b * ([1, 2, (3, 4)][0] + {number})\n" for number in range(200)
    )

    def parsed(_: int) -> int:
        garbage = [Cycle() for _ in range(20)]
        del garbage
        return len(parse_module(text).body)

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(parsed, range(100))) == {200}


def test_no_code_parses_past_the_lock() -> None:
    """Programs of the box and of child processes have a single thread, and cannot import Stet."""
    alone = ("engine/runners/inside/", "validators/checkers/tools/python.py", "validators/ast_text.py")
    files = [file for room in ("server", "engine", "validators") for file in (ROOT / room).rglob("*.py")]
    names = [str(file.relative_to(ROOT)) for file in files if re.search(r"\bast\.parse\(", file.read_text())]
    assert sorted(name for name in names if not name.startswith(alone)) == []


@pytest.mark.parametrize("text", ["def f(:", "x = '\0'", "(" * 500, "-" * 100_000 + "1"])
def test_a_text_that_does_not_parse_is_none(text: str) -> None:
    assert try_parse(text) is None
    assert try_parse_expression(text) is None


def test_a_call_with_literals_alone_is_recognized() -> None:
    assert is_literal_call("f(1, [-2], key={'a': None})")
    assert not any(map(is_literal_call, ("f(x)", "f(g(1))", "a.f(1)", "f(*[1])", "1 + 1", "f(")))
