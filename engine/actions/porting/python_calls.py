"""Runs a port in Python on the calls of the module that it was made from."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from stet_ls.engine.actions.porting.comparison import ModuleCalls, PortComparison, port_compared, report_of, why_failed
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.spec import TESTS, Overlay, RunSpec

_PROGRAM = Path(__file__).parent / "inside" / "calls.py"


async def python_compared(runtime: Runtime, root: Path, target: str, text: str, known: ModuleCalls) -> PortComparison:
    """The port `target` on the calls of the module."""
    assert runtime.python is not None, "the caller asks for a Python first"
    place = f".stet-{secrets.token_hex(8)}"
    job = {
        "module": target,
        "name": Path(target).stem,
        "functions": known.functions,
        "calls": [{"name": each["name"], "values": each["values"]} for each in known.calls],
    }
    files = {f"{place}/calls.py": _PROGRAM.read_bytes(), f"{place}/job.json": json.dumps(job).encode()}
    spec = RunSpec(
        (str(runtime.python.path), f"{place}/calls.py", f"{place}/job.json"), files=files, binds=runtime.python.binds,
        overlay=Overlay(root, {target: text.encode("utf-8", "surrogatepass")}), env=runtime.python.env, limits=TESTS,
        report=True,
    )  # fmt: skip
    ran = await runtime.sandbox.run(spec)
    return port_compared(known, report_of(ran), target, why_failed(ran))
