"""The child's side: parses one text after the other with the requested grammar, until its input is closed."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
from typing import IO, Any

from stet_ls.validators import syntax
from stet_ls.validators.parsing import grammars
from stet_ls.validators.source import Source
from stet_ls.validators.syntax.language_pack.frames import LENGTHS, MARK, answer_of, frame

_MOST_MEMORY = 4 << 30


def main(idle: float) -> None:
    """Serves standard input until it is closed, or until there was no request for `idle` seconds."""
    answers = _take_stdout()
    _limit()
    grammars.allow_pack()
    _say(answers, frame({"ready": True}))
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123  # pathlib has no way to nowhere
        while True:
            # The only alarm that works while C code holds the interpreter: its own thread ends the process.
            faulthandler.dump_traceback_later(idle, exit=True, file=nowhere)
            request = _read(sys.stdin.buffer)
            if request is None:
                return
            asked, text = request
            faulthandler.dump_traceback_later(asked["alarm"], exit=True, file=nowhere)
            result = syntax.check_fast(Source(text), asked["language"], deadline=asked["deadline"])
            _say(answers, frame(answer_of(result)))


def _read(pipe: IO[bytes]) -> tuple[Any, str] | None:
    lengths = pipe.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    mark, header, body = LENGTHS.unpack(lengths)
    if mark != MARK:
        return None
    return json.loads(pipe.read(header)), pipe.read(body).decode("utf-8", "surrogatepass")


def _say(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(message)
    pipe.flush()


def _take_stdout() -> IO[bytes]:
    """Keeps standard output for answers; a grammar's output is discarded."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    return answers


def _limit() -> None:
    """Limits the resources of a faulty grammar, and prevents core dumps with the user's text."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limits here, or stricter ones already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


if __name__ == "__main__":
    main(float(sys.argv[1]))
