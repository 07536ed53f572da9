"""The parent's side: a few children, started on demand, killed when they do not answer in time."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from stet_ls.validators.syntax.language_pack.child_process import GoneError, LateError, ParserChild, StartingError

_T = TypeVar("_T")

_NONSENSE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
_IDLE = 300.0
_MOST = 2
_STRIKES = 3
_FAIR = 0.5  # seconds: with a shorter deadline a missing answer may only be a wait for a processor


class PackError(Exception):
    """No result. The text continues "The grammar for X ..."."""


class ParserPool:
    """At most `most` children that each parse one text at a time; any thread may use it."""

    def __init__(self, argv: Sequence[str] | None = None, *, most: int = _MOST, idle: float = _IDLE) -> None:
        """`argv` is the child's command line; the default is that of `language_pack_child`."""
        self._argv = argv or [sys.executable, "-P", "-m", "stet_ls.validators.syntax.language_pack_child", f"{idle:g}"]
        self._most = most
        self._free = threading.Condition()
        self._reset()

    def _reset(self) -> None:
        self._all: set[ParserChild] = set()
        self._idle: list[ParserChild] = []
        self._strikes: Counter[str] = Counter()

    def ask(self, language: str, text: bytes, read: Callable[[Mapping[str, Any]], _T], *, deadline: float) -> _T:
        """The result of `read` on the answer about a text, within `deadline` seconds.

        Raises PackError. If the child fails, the next call uses another one. A grammar that crashed its child _STRIKES
        times in a row is not used again.
        """
        end = time.monotonic() + deadline
        if self._strikes[language] >= _STRIKES:
            raise PackError(f"failed {_STRIKES} times and is not used until the next start")
        child = self._take(end)
        kept = False
        try:
            child.await_start(end)
            fair = end - time.monotonic() > _FAIR
            answer = read(child.ask(language, text, end))
            kept = True
        except StartingError as error:
            kept = True
            raise PackError("is still being loaded; ask again") from error
        except LateError as error:
            self._strikes[language] += fair
            raise PackError(f"did not finish within {deadline:g} s") from error
        except GoneError as error:
            self._strikes[language] += 1
            raise PackError(f"ended its process ({error})") from error
        except _NONSENSE as error:
            self._strikes[language] += 1
            raise PackError("answered nonsense") from error
        finally:
            self._give_back(child, kept)
        self._strikes[language] = 0
        return answer

    def close(self) -> None:
        """Ends the children that are idle."""
        with self._free:
            while self._idle:
                self._drop(self._idle.pop())

    def forget(self) -> None:
        """Drops the children without ending them: for a forked process, whose parent uses them."""
        self._free = threading.Condition()
        for child in self._all:
            child.abandon()
        self._reset()

    def _take(self, end: float) -> ParserChild:
        with self._free:
            while True:
                while self._idle:
                    child = self._idle.pop()
                    if child.is_alive():
                        return child
                    self._drop(child)
                if len(self._all) < self._most:
                    return self._start()
                if not self._free.wait(end - time.monotonic()):
                    raise PackError("had no turn in time: others are being parsed")

    def _start(self) -> ParserChild:
        try:
            child = ParserChild(self._argv)
        except OSError as error:
            raise PackError(f"has no process to run in ({error})") from error
        self._all.add(child)
        return child

    def _give_back(self, child: ParserChild, kept: bool) -> None:
        with self._free:
            if kept:
                self._idle.append(child)
            else:
                self._drop(child)
            self._free.notify()

    def _drop(self, child: ParserChild) -> None:
        child.kill()
        self._all.remove(child)


@cache
def parser_pool() -> ParserPool:
    """The pool of this process."""
    made = ParserPool()
    atexit.register(made.close)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made.forget)
    return made
