"""Reports, from inside the sandbox, an interpreter's version, paths and packages. Needs only Python 3.8.

Run as `python -I interpreter_probe.py MODULE...`. Each module is really imported: an installed package may not work
because it was built for another version or needs a library that the system lacks. Prints one JSON object.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import sysconfig
from importlib import metadata
from typing import Any, Dict, List, Tuple  # noqa: UP035 - as Python 3.8 has them


def failures(modules: List[str]) -> Dict[str, str]:  # noqa: UP006
    """The modules that cannot be imported, with the reasons."""
    found = {}
    for module in modules:
        try:
            importlib.import_module(module)
        except BaseException as error:  # noqa: BLE001 - any exception means that the import fails
            found[module] = "%s: %s" % (type(error).__name__, error)  # noqa: UP031
    return found


def standard() -> List[str]:  # noqa: UP006
    """The names of the standard library; before Python 3.10 they are read from its folders."""
    names = getattr(sys, "stdlib_module_names", None)
    if names is None:
        folders = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
        folders += [os.path.join(folder, "lib-dynload") for folder in folders]  # noqa: PTH118
        names = {module.name for module in pkgutil.iter_modules(folders)} | set(sys.builtin_module_names)
    return sorted(names)


def distributions() -> Dict[str, Tuple[str, str]]:  # noqa: UP006
    """Import names, with the name and version of the package that provides each."""
    found: Dict[str, Tuple[str, str]] = {}  # noqa: UP006
    for each in metadata.distributions():
        try:
            tops = (each.read_text("top_level.txt") or "").split()
            if not tops:
                tops = sorted({str(file).split("/")[0].split(".")[0] for file in each.files or ()})
            for top in tops:
                if top.isidentifier():
                    found.setdefault(top, (each.metadata["Name"], each.version))
        except Exception:  # noqa: BLE001, S112 - broken metadata counts as missing
            continue
    return found


def report(modules: List[str]) -> Dict[str, Any]:  # noqa: UP006
    """The complete report."""
    return {
        "version": list(sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "failures": failures(modules),
        "modules": sorted({module.name for module in pkgutil.iter_modules()}),
        "standard": standard(),
        "distributions": distributions(),
        "packages": sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}),
    }


if __name__ == "__main__":
    json.dump(report(sys.argv[1:]), sys.stdout)
