"""Compared calls as a Python file that can be run."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.python.inside import LEFT_OUT
from stet_ls.engine.execution.python.inside.values import awaitables, database, doubles
from stet_ls.engine.judges.attachments import fitting

_HEAD = '''\
"""{title}

Run this file with Python 3.8 or newer, in the project if the code imports from it. It runs the code on your machine
without a sandbox: read it first.
"""

CALLS = [
{calls}]
"""Setup, call, the names whose values count afterwards, and whether its input was called before."""

OLD = {old}

NEW = {new}

import contextlib
import copy
import io
import re
import sys

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

{helpers}
def outcome(text, setup, call, names):
    """Everything that a caller could notice."""
    results, space, printed = [], {{"__name__": {module!r}, "__file__": __file__}}, io.StringIO()
    effects = prepare(space)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(text, "<code>", "exec"), space)
            space["__out__"] = lambda value: results.append(repr(copy.deepcopy(value)))
            exec(setup, space)
            exec(call, space)
    except BaseException as error:
        results.append("raises " + type(error).__name__ + ": " + str(error))
    values = ["{{}} = {{!r}}".format(name, space.get(name)) for name in names]
    results, values = ([re.sub(" at 0x[0-9a-f]+", "", each) for each in found] for found in (results, values))
    return results, values, printed.getvalue(), effects()


def main():
    differ = 0
    for setup, call, names, _ in CALLS:
        old, new = outcome(OLD, setup, call, names), outcome(NEW, setup, call, names)
        if old != new:
            differ += 1
            print((setup + "\\n" + call).strip(), "was: {{}}".format(old), "now: {{}}".format(new), "", sep="\\n")
    again = sum(repeated for *_, repeated in CALLS)
    of = " ({{}} inputs, {{}} of them called again)".format(len(CALLS) - again, again) if 0 < again < len(CALLS) else ""
    print("{{}} of {{}} calls differ{{}}".format(differ, len(CALLS), of))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
'''


_DOUBLES = '''\
def doubles(space):
    """Gives the calls stand-ins that record how they are used."""
    book = UseRecord(NAMED, failures(CAUGHT, space))
    space["__double__"], space["__later__"] = double_maker(book), AsyncItems
    space["__awaited__"] = awaited_function
    return lambda: book.calls


'''
_DATABASES = '''\
def databases(space):
    """Gives the calls databases in memory."""
    space["__database__"] = database
    return list


'''
_FILES = '''\
def files(space):
    """Gives the calls a folder with files, which is the current one, and removes it afterwards."""
    import os
    import tempfile

    folder, home = tempfile.TemporaryDirectory(), os.getcwd()

    def make(texts):
        for name, text in texts.items():
            path = os.path.join(folder.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text.encode())
        os.chdir(folder.name)

    def left():
        os.chdir(home)
        files = []
        for path in sorted(os.path.join(base, name) for base, _, names in os.walk(folder.name) for name in names):
            with open(path, "rb") as file:
                files.append((os.path.relpath(path, folder.name), file.read()))
        folder.cleanup()
        return files

    space["__files__"] = make
    return left


'''
_PREPARE = '''\
def prepare(space):
    """Gives the calls what they use besides the code; returns what reports the effects on it."""
    ends = [each(space) for each in ({used})]
    return lambda: [each() for each in ends]


'''


def _helpers(calls: Sequence[Call], named: Sequence[int | str | None], caught: Sequence[str]) -> str:
    """What the calls use besides the code; `named` is what their stand-ins answer with, `caught` how they fail."""
    answers = _DOUBLES.replace("NAMED", repr(tuple(named))).replace("CAUGHT", repr(tuple(caught)))
    known = {
        "doubles": (("__double__(", "__later__(", "__awaited__("), _source(awaitables) + _source(doubles) + answers),
        "databases": (("__database__(",), _source(database) + _DATABASES),
        "files": (("__files__(",), _FILES),
    }
    written = "\n".join(each.setup + each.body for each in calls)
    used = [name for name, (signs, _) in known.items() if any(sign in written for sign in signs)]
    return "".join(known[name][1] for name in used) + _PREPARE.format(used="".join(f"{name}, " for name in used))


def _source(module: ModuleType) -> str:
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    return LEFT_OUT.sub("", text.partition("from __future__ import annotations\n")[2]).strip() + "\n\n\n"


def comparison(
    name: str,
    title: str,
    module: str,
    texts: tuple[str, str],
    calls: Sequence[Call],
    named: Sequence[int | str | None] = (),
    caught: Sequence[str] = (),
) -> Attachment | None:
    """A file that runs calls on an old and a new text and prints where they differ; its exit status is 1 if any do.

    Holds as many calls as fit into an attachment; None if not even one does because the texts are too long. `named` are
    the values that stand-ins answer with, `caught` the errors that they may fail with.
    """
    rows = [f"    ({call.setup!r}, {call.body!r}, {list(call.names)!r}, {call.again!r}),\n" for call in calls]
    old, new = map(_literal, texts)
    helpers = _helpers(calls, named, caught)
    listed = fitting(rows, title, _HEAD, old, new, module, helpers)
    if listed is None:
        return None
    text = _HEAD.format(
        title=_wrapped(listed.title), calls=listed.rows, helpers=helpers, module=module, old=old, new=new
    )
    return Attachment.of(name, "python", text)


def _literal(text: str) -> str:
    """A text as a readable literal."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').replace("\r", "\\r").replace("\0", "\\0")
    return f'"""\\\n{escaped}"""' if not escaped.endswith('"') else f'"""\\\n{escaped[:-1]}\\""""'


def _wrapped(text: str) -> str:
    """Lines of a docstring that show this text and cannot end it."""
    lines = textwrap.fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
