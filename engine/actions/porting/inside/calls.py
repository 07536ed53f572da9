"""Calls the functions of a ported module on given inputs; reports what each returned, as JSON keeps it."""

from __future__ import annotations

import asyncio
import copy
import importlib
import inspect
import json
import math
import os
import re
import sys
from typing import Any


def plain(value: Any) -> Any:
    """The value as JSON keeps it; what it does not keep becomes `{"$": its type}`, which no value equals."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$": repr(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    return {"$": type(value).__name__}


def snake(name: str) -> str:
    """The name of a function in Python: `net_total` for `netTotal`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", re.sub(r"(?<=[A-Z])([A-Z])(?=[a-z])", r"_\1", name)).lower()


def outcome(called: Any, values: list[Any]) -> dict[str, Any]:
    """What a call returns or raises."""
    try:
        result = called(*copy.deepcopy(values))
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        return {"value": plain(result)}
    except Exception as error:
        return {"error": type(error).__name__}


def main() -> None:
    """Runs the calls of the file that is the first argument."""
    report = int(os.environ.pop("BOX_REPORT_FD"))
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    sys.path[:0] = [os.getcwd(), os.path.dirname(os.path.abspath(job["module"]))]
    module = importlib.import_module(job["name"])
    named = {name: getattr(module, name, None) or getattr(module, snake(name), None) for name in job["functions"]}
    missing = [name for name, called in named.items() if not callable(called)]
    calls = [(named[each["name"]], each) for each in job["calls"]]
    outcomes = [outcome(called, each["values"]) if callable(called) else None for called, each in calls]
    with os.fdopen(report, "w", encoding="utf-8") as file:
        json.dump({"missing": missing, "outcomes": outcomes}, file)


main()
