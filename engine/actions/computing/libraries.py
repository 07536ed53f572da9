"""The packages that programs get: what they import, and what the task requires."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stet_ls.engine.sandbox.environments.known_packages import DISTRIBUTIONS, normalized

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MODULES = {normalized(package): module for module, package in reversed(tuple(DISTRIBUTIONS.items()))}


def importing(libraries: Iterable[str]) -> str:
    """A program that imports the required libraries, so that environments are built for them."""
    return "".join(f"import {module}\n" for module in map(module_of, libraries) if module.isidentifier())


def module_of(library: str) -> str:
    """The module of a library by the name of its package or module; versions do not count."""
    found = _NAME.match(library.strip())
    name: str = found[0] if found else ""
    return _MODULES.get(normalized(name)) or name.replace("-", "_").partition(".")[0]
