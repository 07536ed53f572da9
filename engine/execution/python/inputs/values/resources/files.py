"""Files for parameters that are paths: real ones, in a folder of their own for each call (`inside/scratch.py`)."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass, replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.python.inputs.subject import Parameter, Subject, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.resources.file_contents import contents_for
from stet_ls.validators.ast_text import unparse

MOST_FILES = 44
_OPENING = frozenset({
    "open", "Path", "copy", "copyfile", "move", "exists", "isfile", "isdir", "listdir", "scandir", "walk", "replace",
    "rename", "remove", "unlink", "makedirs", "mkdir", "getsize", "fdopen",
})  # fmt: skip
_OF_PATHS = frozenset({
    "read_text", "read_bytes", "write_text", "write_bytes", "open", "exists", "is_file", "is_dir", "iterdir", "glob",
    "rglob", "mkdir", "unlink", "stat", "touch", "rename",
})  # fmt: skip
_OF_FOLDERS = frozenset({"iterdir", "glob", "rglob", "listdir", "scandir", "walk"})
_FOLDER = re.compile(r"(\w*_)?(folder|dir|directory|root)")
_SEVERAL = re.compile(r"(\w*_)?(paths|files|filenames|file_names)")
_TEXTS = (
    "h\na\n\nb\n", "a,b\n1,2\n3,4\n", '{"a": 1, "b": [1, 2], "c": {"d": "x"}}', "",
    "key=value\n# note\n\nx = 1\n  y=2 \n", "one two\ntwo  three\none\n", "no end of line", "é ü\r\nx\r\n\r\n",
    "[s]\na = 1\n[t]\n", "3\n1\n2\n", "\n\n", "[1, 2, 2]", "error: a\ninfo: b\nerror: c\n", "\ufeffa\n",
    "name,age\n\"x, y\",3\nz,\n", "\tq\n \n", "line {n}\n" * 2_500,
)  # fmt: skip
_MISSING = "missing.txt"


@dataclass(frozen=True, slots=True)
class _Paths:
    """The parameters that are paths, and whether one is a folder or a list of paths; `is_text` if not `Path` objects,
    `is_alone` if it is the only one.
    """

    name: str
    is_folder: bool
    is_many: bool
    is_text: bool
    is_alone: bool = True

    def value(self, number: int, at: int) -> str:
        if self.is_many:
            return (
                "[" + ", ".join(self._path(name) for name in ("data.txt", "b.txt", "d/c.csv")[: 1 + number % 3]) + "]"
            )
        if self.is_folder:
            return self._path(("d", ".", "new", "d/e")[number % 4])
        if at:
            return self._path(("new.txt", "b.txt")[number % 2])
        if number % 11 > 8:
            return self._path("new.txt" if self.is_alone and number % 11 == 9 else _MISSING)
        return self._path("data.txt")

    def _path(self, name: str) -> str:
        return repr(name) if self.is_text else f"__import__('pathlib').Path({name!r})"


def with_files(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls of a unit; first of all, if it has parameters that are paths, some with files there."""
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    paths = [found for each in subject.parameters if (found := _paths(each, subject))] if subject else []
    if not paths:
        return calls
    paths = [replace(each, is_alone=len(paths) == 1) for each in paths]
    more = []
    made = contents_for(subject.node) if subject else []
    texts = [text for pair in itertools.zip_longest(made, _TEXTS) for text in pair if text is not None]
    for number, call in enumerate(calls[:MOST_FILES]):
        if call.origin == "example":
            continue
        content = texts[number % len(texts)].replace("{n}", str(number))
        lines = dict(line.partition(" = ")[::2] for line in call.setup.splitlines() if " = " in line)
        for at, each in enumerate(paths):
            lines[each.name] = each.value(number // len(paths), at)
        written = "".join(f"\n{name} = {value}" for name, value in lines.items())
        # `* n` keeps a long file's text short.
        shown = repr(content) if len(content) < 500 else f"{_TEXTS[-1][:9]!r} * 2500"
        files = f"{{'data.txt': {shown}, 'b.txt': 'b\\nc\\n', 'd/c.csv': 'a,b\\n5,6\\n', 'd/e/f.txt': 'x'}}"
        more.append(replace(call, setup=f"__files__({files}){written}", names=tuple(dict.fromkeys(lines))))
    # `open(4)` is a descriptor of whatever runs the calls.
    names = "|".join(re.escape(each.name) for each in paths)
    is_number = re.compile(rf"(?m)^({names}) = (-?\d|True|False)")
    others = (call for call in calls if not is_number.search(call.setup))
    return (*dict.fromkeys(more), *others)


def _paths(parameter: Parameter, subject: Subject) -> _Paths | None:
    """A parameter as paths, if its hint says so or the code opens it; a text of that name alone may be anything."""
    hint = unparse(parameter.annotation) if parameter.annotation is not None else ""
    name = parameter.name
    is_typed = re.search(r"\b(Path|PathLike)\b", hint) is not None
    is_many = _SEVERAL.fullmatch(name) is not None
    methods, functions = _uses(name, subject.node, is_many=is_many)
    if name[0] == "*" or not (is_typed or methods & _OF_PATHS or functions & _OPENING):
        return None
    is_text = "str" in hint or not (is_typed or methods & _OF_PATHS)
    is_folder = bool((methods | functions) & _OF_FOLDERS) or _FOLDER.fullmatch(name) is not None
    return _Paths(name, is_folder, is_many, is_text)


def _uses(name: str, node: ast.AST, *, is_many: bool) -> tuple[set[str], set[str]]:
    """The methods of a parameter, or of its items, and the functions that it is passed to."""
    loops = (each for each in ast.walk(node) if isinstance(each, ast.For | ast.comprehension))
    items = {each.target.id for each in loops if isinstance(each.target, ast.Name) and is_many
             and isinstance(each.iter, ast.Name) and each.iter.id == name}  # fmt: skip
    names, methods, functions = {name} | items, set(), set()
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in names:
            methods.add(each.attr)
        if isinstance(each, ast.Call) and any(isinstance(arg, ast.Name) and arg.id in names for arg in each.args):
            functions.add(each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", ""))
    return methods, functions
