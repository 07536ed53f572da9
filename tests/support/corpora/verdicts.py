"""The rewrites of `corpora/verdicts` and their labels: read, split into halves, stripped of hints, and run.

The split into tuning and reporting is by a hash of what a case is called, so that a new case changes no other's half,
and was fixed before anything was measured. What stands in the folder `tuning` or `fresh` belongs to that half.
"""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from support.servers.script_runner import run_script

FOLDER = Path(__file__).resolve().parents[2] / "corpora" / "verdicts"
ENDINGS = {"python": ".py", "javascript": ".mjs", "typescript": ".ts"}
_SECTION = re.compile(r"^--- (\w+)\n", re.MULTILINE)
_ATTEMPT = {
    "python": """

def attempt(function, *given, **named):
    try:
        return repr(function(*given, **named))
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


""",
    "javascript": """
const attempt = (f) => {
  try {
    return JSON.stringify(f());
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
""",
}


class Label(StrEnum):
    """What a rewrite is."""

    RIGHT = "right"
    WRONG = "wrong"


class Half(StrEnum):
    """What a case is for: to work with, to report, or to report what an author who had not seen the judges wrote."""

    TUNING = "tuning"
    REPORTING = "reporting"
    FRESH = "fresh"


HASHED = (Half.TUNING, Half.REPORTING)


@dataclass(frozen=True)
class Rewrite:
    """A unit of a text and the text after.

    `script` proves the label; `tests` is a file of tests, "" for none; `folder` is the half whose
    folder it stands in.
    """

    label: Label
    kind: str
    name: str
    language: str
    unit: str
    before: str
    after: str
    script: str
    tests: str = ""
    folder: Half | None = None

    @property
    def id(self) -> str:
        """What it is called everywhere."""
        return f"{f'{self.folder}/' if self.folder else ''}{self.label}/{self.kind}/{self.name}"

    @property
    def half(self) -> Half:
        """The half that it belongs to, whatever else there is."""
        return self.folder or HASHED[hashlib.sha256(self.id.encode()).digest()[0] % 2]

    @property
    def is_documented(self) -> bool:
        """Whether hints, examples or tests say what it is called with."""
        if self.language == "python":
            return bool(self.tests) or self.bare() != self
        return self.language == "typescript" or "@param" in self.before

    def bare(self) -> Rewrite:
        """The same without hints of functions, examples of docstrings, and tests. Python alone is stripped."""
        if self.language != "python":
            return self
        return replace(self, before=_stripped(self.before), after=_stripped(self.after), tests="")


def rewrites() -> list[Rewrite]:
    """All cases."""
    folders = {None: FOLDER, Half.TUNING: FOLDER / Half.TUNING, Half.FRESH: FOLDER / Half.FRESH}
    return [
        case
        for half, folder in folders.items()
        for label in Label
        for file in sorted((folder / label).glob("*.txt"))
        for case in _read(label, file, half)
    ]


def _read(label: Label, file: Path, folder: Half | None) -> Iterator[Rewrite]:
    for block in re.split(r"(?m)^=== ", file.read_text(encoding="utf-8"))[1:]:
        head, *rest = _SECTION.split(block)
        name, *lines = head.splitlines()
        keys = dict(line.split(": ", 1) for line in lines)
        parts = {key: text.rstrip("\n") + "\n" for key, text in zip(rest[::2], rest[1::2], strict=True)}
        script = parts["agrees" if label is Label.RIGHT else "shows"]
        yield Rewrite(
            label, file.stem, name, keys.get("language", "python"), keys["unit"], parts["before"], parts["after"],
            script, parts.get("tests", ""), folder,
        )  # fmt: skip


def _stripped(text: str) -> str:
    """A Python text without hints of functions and without examples; the same text if it has none."""
    tree, found = ast.parse(text), False
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for each in given:
            if each is not None and each.annotation is not None:
                each.annotation, found = None, True
        if node.returns is not None:
            node.returns, found = None, True
        docs = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
        if isinstance(docs, ast.Constant) and isinstance(docs.value, str) and ">>>" in docs.value:
            docs.value, found = docs.value.partition(">>>")[0].strip() or "Nothing is said of it.", True
    return ast.unparse(tree) + "\n" if found else text


def observed(case: Rewrite, text: str, folder: Path) -> str:
    """What the script of a case shows behind a text: all that it prints and says. Fails if the script does."""
    attempt = _ATTEMPT["python" if case.language == "python" else "javascript"]
    file = folder / f"script{ENDINGS[case.language]}"
    file.write_text(text + attempt + case.script, encoding="utf-8")
    if case.language == "python":
        status, out, err = run_script(folder, file.name)
        assert status == 0, f"{case.id}: {err}"
        return f"{out}--\n{err}"
    if case.language == "typescript":
        plain = file.with_suffix(".mjs")
        subprocess.run([shutil.which("esbuild") or "esbuild", str(file), f"--outfile={plain}"], check=True, stderr=-3)
        file = plain
    done = subprocess.run(["node", file.name], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{case.id}: {done.stderr}"
    return f"{done.stdout}--\n{done.stderr}"


def write_project(case: Rewrite, folder: Path) -> Path:
    """The project that a case stands in; gives the path of the code."""
    target = folder / f"target{ENDINGS[case.language]}"
    target.write_text(case.before, encoding="utf-8")
    if case.tests:
        (folder / "test_target.py").write_text(case.tests, encoding="utf-8")
        (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n', encoding="utf-8")
    return target
