"""Waits in a sandbox for its one job, with the job's imports already loaded. Needs only Python 3.8.

The pool starts it with this source; its arguments are the text of a script (empty if not known) and module names.
The job arrives at the descriptor BOX_JOB_FD: eight bytes with the length of a JSON object with `argv` and `files`
(pairs of name and length), the object, then the files. If there is no job, the sender has ended.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from typing import Any, Dict, List, Tuple  # noqa: UP035 - as Python 3.8 has them

Script = Tuple[bytes, Any]  # noqa: UP006
Job = Tuple[Dict[str, Any], bytes]  # noqa: UP006


def prepare(modules: List[str]) -> None:  # noqa: UP006
    """Imports what it can; failures show up again in the job."""
    for module in modules:
        try:
            importlib.import_module(module)
        except BaseException:  # noqa: BLE001, S112 - a module may raise anything, even SystemExit
            continue


def compiled(text: str) -> Script:
    """A script and its code, compiled ahead for a job that starts the same script."""
    try:
        return text.encode(), compile(text, "<script>", "exec", dont_inherit=True)
    except Exception:  # noqa: BLE001 - the job reports the same error
        return b"", None


def receive(descriptor: int) -> Job:
    """Waits for the job. Ends the process if there is none."""
    with os.fdopen(descriptor, "rb") as pipe:
        data = pipe.read()
    if not data:
        os._exit(0)
    size = int.from_bytes(data[:8], "big")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def unpack(job: Job) -> List[str]:  # noqa: UP006
    """Writes the files into the working folder and returns the arguments."""
    header, content = job
    for name, size in header["files"]:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)  # noqa: PTH103, PTH120
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(content[:size])
        content = content[size:]
    return list(header["argv"])


def run(argv: List[str], ahead: Script) -> None:  # noqa: UP006
    """As `python ARGV...` would, in the module `__main__`."""
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    if not safe:
        del sys.path[0]  # "", which `-c` added
    sys.argv = argv
    place = os.path.abspath(argv[0])  # noqa: PTH100
    if argv[0] == "-m":
        if not safe:
            sys.path.insert(0, os.getcwd())  # noqa: PTH109
        sys.argv = ["-m", *argv[2:]]
        # `python -m` itself calls this; `run_module` would run it in a module of another name.
        runpy._run_module_as_main(argv[1])  # type: ignore[attr-defined]
    elif os.path.isdir(place):  # noqa: PTH112
        sys.path.insert(0, place)
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
    else:
        if not safe:
            sys.path.insert(0, os.path.dirname(place))  # noqa: PTH120
        with open(place, "rb") as file:  # noqa: PTH123
            text = file.read()
        code = ahead[1] if text and text == ahead[0] else compile(text, place, "exec", dont_inherit=True)
        names = vars(sys.modules["__main__"])
        names.update(__file__=place, __cached__=None)
        exec(code, names)  # noqa: S102 - the purpose of the sandbox


def main() -> None:
    """Waits, and runs the job. A traceback omits the frames between Python and the job."""
    number = int(os.environ.pop("BOX_JOB_FD"))
    ahead = compiled(sys.argv.pop(1))
    prepare(sys.argv[1:])
    try:
        run(unpack(receive(number)), ahead)
    except Exception as error:  # noqa: BLE001
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == "<string>":
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)


if __name__ == "box":
    main()
