"""Runs a JavaScript module on inputs that its tests and its documentation show.

The inputs are those that the tests of the module show, written out there, variants of them of the same kinds, and
values of the kinds that its documentation names (`@param {number} price`). Others say nothing: JavaScript converts
what it is not meant to get, and other languages raise.
"""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path

from stet_ls.engine.actions.porting.comparison import ModuleCalls, report_of, why_failed
from stet_ls.engine.execution.javascript.inputs.brackets import end_of_brackets
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.spec import TESTS, Overlay, RunSpec

_PROGRAM = Path(__file__).parent / "inside" / "calls.mjs"
_MOST = 150
"""Calls of one function."""
_CALL = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)\(")
_DOC = re.compile(r"/\*\*(?P<doc>(?:(?!\*/).)*)\*/\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s+|const\s+)"
                  r"(?P<name>[\w$]+)", re.DOTALL)  # fmt: skip
_PARAM = re.compile(r"@param\s+\{(?P<kind>[^}]*)\}")


async def javascript_calls(runtime: Runtime, root: Path, source: str, text: str, tests: str) -> ModuleCalls | str:
    """The calls of the module `source` (a path below `root`); or why they could not be run."""
    try:
        node = toolchain.find("node", install=NODE)
    except MissingToolError as missing:
        return f"{missing} is not installed: {missing.install}"
    place = f".stet-{secrets.token_hex(8)}"
    module_copy = str(Path(source).with_name(f"{Path(source).stem}-{place[6:]}.mjs"))
    job = {
        "modules": [source, module_copy],
        "calls": [call for part in (tests, text) for call in shown_calls(part)],
        "typed": typed_parameters(text),
        "most": _MOST,
    }
    files = {
        f"{place}/calls.mjs": _PROGRAM.read_bytes(),
        f"{place}/job.json": json.dumps(job).encode(),
        module_copy: text.encode("utf-8", "surrogatepass"),  # for a module with `export` in a project of CommonJS
    }
    argv = (str(node.path), "--no-warnings", f"{place}/calls.mjs", f"{place}/job.json")
    env = {"TZ": "UTC", "NO_COLOR": "1", "PATH": f"{node.path.parent}:/usr/bin:/bin"}
    buffers = {source: text.encode("utf-8", "surrogatepass")}
    spec = RunSpec(
        argv, files=files, binds=node.binds, overlay=Overlay(root, buffers), env=env, limits=TESTS, report=True
    )
    ran = await runtime.sandbox.run(spec)
    found = report_of(ran)
    if found is None:
        return f"{source} could not be run: {why_failed(ran)}"
    return ModuleCalls(tuple(found["functions"]), tuple(found["skipped"]), tuple(found["calls"]))


def shown_calls(text: str) -> list[tuple[str, str]]:
    """The calls that a text writes out: the function and its arguments as source text. Definitions are among them."""
    found = dict[tuple[str, str], None]()
    for match in _CALL.finditer(text):
        end = end_of_brackets(text, match.end())
        if end is not None:
            found[match["name"], text[match.end() : end - 1]] = None
    return list(found)


def typed_parameters(text: str) -> dict[str, list[str]]:
    """The kinds of the parameters of each function, as its documentation names them."""
    found = {}
    for match in _DOC.finditer(text):
        if kinds := [each["kind"].strip().lower() for each in _PARAM.finditer(match["doc"])]:
            found[match["name"]] = kinds
    return found
