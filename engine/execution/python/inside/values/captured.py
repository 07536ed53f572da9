"""Restores the objects with which tests called the code (`runners/inside/captured.py` copies them)."""

from __future__ import annotations

import base64
import builtins
import importlib
import importlib.util
import marshal
import os
import sys
import types
from typing import Any


class NotRestored(Exception):
    """Captured arguments that cannot be loaded here: the call shows nothing about the code."""


class CapturedArguments:
    """Captured arguments by their number, copied once for each call.

    A class of the target's module is that of the text under test, under whichever name the tests imported it.
    """

    def __init__(self, held: dict[str, Any], name: str) -> None:
        self.data, self.module, self.name = held["data"], held["module"], name
        self.restored: dict[int, Any] = {}
        for each, path in held["files"].items():
            present(each, os.path.abspath(path))
        if self.data:
            import pickle

            self.loader: Any = type("Loader", (pickle.Unpickler,), {
                "find_class": lambda loader, module, name: pickle.Unpickler.find_class(loader, self.own(module), name),
                "persistent_load": lambda loader, key: self.named(*key),
            })  # fmt: skip

    def own(self, module: str) -> str:
        return self.name if module == self.module else module

    def named(self, kind: str, first: Any, *rest: Any) -> Any:
        """A module, or a function that no import finds."""
        if kind == "module":
            return importlib.import_module(self.own(first))
        name, names, defaults, by_name, cells = rest
        space = {"__builtins__": builtins, **names}
        closure = tuple(map(types.CellType, cells))
        code = marshal.loads(first)  # noqa: S302 - inside of the sandbox, where any code may run
        made = types.FunctionType(code, space, name, defaults, closure)
        made.__kwdefaults__ = by_name
        return made

    def begin(self) -> None:
        self.restored = {}

    def __getitem__(self, number: int) -> Any:
        import io

        if number not in self.restored:
            try:
                self.restored[number] = self.loader(io.BytesIO(base64.b64decode(self.data[number]))).load()
            except Exception as error:
                raise NotRestored("captured arguments cannot be loaded") from error
        return self.restored[number]


def present(name: str, path: str) -> None:
    """Imports a module of the project; one of tests may be in a folder that only pytest adds to the path."""
    try:
        importlib.import_module(name)
    except BaseException:
        try:
            spec: Any = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
