"""`stet check` next to the tools that a person would run otherwise: a thousand files, many languages, one file."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.row import Row
from support.processes.stet import stet_argv

FILES = 1000
RUFF = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--quiet"]
SNIPPETS = {
    "js": "export function f{n}(a, b) {{\n  const c = [a, b, {n}];\n  return c.map((x) => x + 1);\n}}\n",
    "ts": "export function f{n}(a: number, b: number): number[] {{\n  const c = [a, b, {n}];\n  return c;\n}}\n",
    "go": "func F{n}(a, b int) []int {{\n\tc := []int{{a, b, {n}}}\n\treturn c\n}}\n",
    "rs": "pub fn f{n}(a: i32, b: i32) -> Vec<i32> {{\n    vec![a, b, {n}]\n}}\n",
    "java": "class C{n} {{\n  int[] f(int a, int b) {{\n    return new int[] {{a, b, {n}}};\n  }}\n}}\n",
    "cs": "class C{n} {{\n  int[] F(int a, int b) {{\n    return new[] {{a, b, {n}}};\n  }}\n}}\n",
    "cpp": "int f{n}(int a, int b) {{\n  int c[] = {{a, b, {n}}};\n  return c[0];\n}}\n",
    "toml": "[table{n}]\na = [1, 2, {n}]\nb = 'text'\n",
    "py": "def f{n}(a, b):\n    c = [a, b, {n}]\n    return [x + 1 for x in c]\n",
}
"""One unit of each language; a file has forty."""
_UNITS = 40


def rows() -> Iterator[Row]:
    """A thousand Python files, forty of each of nine languages, one file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["STET_HOME"] = str(folder / "home")
        yield from _thousand(_copied(folder / "python"))
        yield from _languages(_written(folder / "languages"))
        yield from _single(folder)


def _copied(folder: Path) -> Path:
    """The first thousand files of this interpreter's library that are UTF-8, with what was installed with it."""
    roots = [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")]
    found = (file for root in roots for file in sorted(Path(root).rglob("*.py")))
    count = 0
    for file in found:
        data = file.read_bytes()
        if count == FILES:
            break
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        place = folder / f"{count // 50:02}" / f"{count:04}_{file.name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, newline="")
        count += 1
    return folder


def _thousand(folder: Path, rounds: int = 3) -> Iterator[Row]:
    """Interleaved; a round of each before, so that the file system's cache is warm for all."""
    argvs = {
        "stet": stet_argv("check", str(folder)),
        "ruff": [*RUFF, str(folder)],
        "compileall": [sys.executable, "-m", "compileall", "-q", "-f", str(folder)],
        "compiled before": [sys.executable, "-m", "compileall", "-q", str(folder)],
        "stet --lint": stet_argv("check", "--lint", str(folder)),
    }
    times = _interleaved(argvs, rounds)
    megabytes = sum(file.stat().st_size for file in folder.rglob("*.py")) / 1e6
    mine, ruff, compiled, idle = (times[name] for name in ("stet", "ruff", "compileall", "compiled before"))
    what = f"check, {FILES} Python files, {megabytes:.0f} MB"
    yield Row(what, f"{mine:.2f} s = {mine / (ruff + compiled):.2f} x (ruff + compileall)", "2 x")
    yield Row("  where compileall has nothing to do", f"{mine / (ruff + idle):.2f} x (ruff + compileall)", "2 x")
    yield Row("  ruff check; compileall -f; compileall", f"{ruff:.2f} s; {compiled:.2f} s; {idle:.2f} s")
    linted = times["stet --lint"]
    yield Row("  check --lint, the same files", f"{linted:.2f} s = {linted / ruff:.1f} x ruff check")


def _written(folder: Path) -> Path:
    folder.mkdir()
    for end, unit in SNIPPETS.items():
        head = "package a\n" if end == "go" else ""
        for n in range(40):
            text = head + "".join(unit.format(n=n * _UNITS + each) for each in range(_UNITS))
            (folder / f"{end}{n}.{end}").write_text(text)
    return folder


def _languages(folder: Path) -> Iterator[Row]:
    """All at once, by one process and by as many as there are processors."""
    count = len(list(folder.iterdir()))
    tools = [tool for tool in ("node", "gofmt", "rustfmt", "javac", "clang", "oxlint") if shutil.which(tool)]
    one, all_ = (_seconds(stet_argv("check", *jobs, str(folder))) for jobs in (("--jobs", "1"), ()))
    yield Row(f"check, {count} files of {len(SNIPPETS)} languages", f"{all_:.1f} s; by one process {one:.1f} s")
    yield Row("  native tools that took part", " ".join(tools) or "none")


def _single(folder: Path) -> Iterator[Row]:
    file = folder / "one.py"
    file.write_text(SNIPPETS["py"].format(n=1) * 60)
    argvs = {
        "stet": stet_argv("check", str(file)),
        "ruff": [*RUFF, str(file)],
        "python": [sys.executable, "-c", "pass"],
        "compile": [sys.executable, "-m", "py_compile", str(file)],
    }
    times = _interleaved(argvs, 10)
    number = f"{times['stet'] * 1e3:.0f} ms = {times['stet'] / times['python']:.1f} x python -c pass"
    yield Row("check, one file of 240 lines", number)
    yield Row("  python -m ruff check; py_compile", f"{times['ruff'] * 1e3:.0f} ms; {times['compile'] * 1e3:.0f} ms")


def _interleaved(argvs: dict[str, list[str]], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in argvs}
    for round_ in range(rounds + 1):
        for name, argv in argvs.items():
            seconds = _seconds(argv)
            if round_:
                times[name].append(seconds)
    return {name: statistics.median(values) for name, values in times.items()}


def _seconds(argv: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started
