"""The judge `types`: the project's own type checker on the text before and after."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import in_each_box

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.execution.runtime import RunExtent, Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.types import checker_run
from stet_ls.engine.judges.types import judge as types_judge
from stet_ls.engine.judges.types.judge import judge
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.source import Source

STRICT = "[tool.mypy]\nstrict = true\n"
BEFORE = "def size(text: str) -> int:\n    return len(text)\n"
WRONG = "def size(text: str) -> int:\n    return text\n"
NODE_MODULES = Path(__file__).resolve().parents[4] / "editors" / "vscode" / "node_modules"
Checked = Callable[..., "Case"]

pytest.importorskip("mypy", reason="mypy is in requirements/dev.txt")


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No test sees what another one left."""
    for known in (types_judge._BASELINES, types_judge._SLOW, types_judge._SEEING, checker_run._KEPT):
        known.clear()  # type: ignore[attr-defined]


@pytest.fixture
def project(runtime: Runtime, tmp_path: Path) -> Checked:
    """A case in a project whose Python has mypy."""

    def case(
        files: dict[str, str], after: str, *, path: str = "a.py", language: str = "python", **more: object
    ) -> Case:  # fmt: skip
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        interpreter = Interpreter(
            Path(sys.executable), sys.version_info[:3], mounts.interpreter(), modules=frozenset({"mypy"})
        )
        own = replace(runtime, python=bare_environment(interpreter), workspace=Workspace((tmp_path,)))
        own = replace(own, **{key: more.pop(key) for key in ("workspace", "extent", "until") if key in more})
        return Case("refactor", language, tmp_path / path, Source(files[path]), Source(after), runtime=own, **more)  # type: ignore[arg-type]

    return case


def verdict_of(evidence: Evidence) -> tuple[Ruling, bool, str]:
    return evidence.verdict, evidence.trusted, evidence.detail


@in_each_box
async def test_a_new_error_in_the_changed_function_refutes(project: Checked) -> None:
    case = project({"pyproject.toml": STRICT, "a.py": BEFORE}, WRONG)
    assert verdict_of(await judge(case)) == (
        Ruling.FAIL,
        True,
        'mypy: 1 new type error, line 2: Incompatible return value type (got "str", expected "int") [return-value]',
    )


async def test_no_new_errors_pass(project: Checked) -> None:
    old = 'def wrong() -> int:\n    return "old"\n\n\n'
    case = project({"pyproject.toml": STRICT, "a.py": old + BEFORE}, "# moved\n" + old + BEFORE.replace("text", "word"))
    assert verdict_of(await judge(case)) == (Ruling.PASS, False, "no new type errors (mypy)")


async def test_an_error_elsewhere_in_the_file_is_a_question(project: Checked) -> None:
    user = "\n\ndef twice(text: str) -> int:\n    return size(text) * 2\n"
    after = BEFORE.replace("-> int", "-> str").replace("len(text)", "text") + user
    case = project({"mypy.ini": "[mypy]\nstrict = True\n", "a.py": BEFORE + user}, after)
    verdict, trusted, detail = verdict_of(await judge(case))
    assert (verdict, trusted) == (Ruling.UNKNOWN, True)
    assert detail.startswith("mypy: 1 new type error, line 6: ")


async def test_an_old_error_of_a_renamed_variable_is_not_new(project: Checked) -> None:
    before = "def f(xs: list[str]) -> int:\n    total: int = xs\n    return total\n"
    after = "def f(rows: list[str]) -> int:\n    count: int = rows.copy\n    return count\n"
    case = project({"mypy.ini": "[mypy]\n", "a.py": before}, after)
    assert (await judge(case)).verdict is Ruling.PASS


async def test_missing_annotations_are_only_reported(project: Checked) -> None:
    after = "def _one(text):\n    return len(text)\n\n\n" + BEFORE
    evidence = await judge(project({"pyproject.toml": STRICT, "a.py": BEFORE}, after))
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False)
    assert "no-untyped-def" in evidence.detail


async def test_four_thousand_old_errors_do_not_count(project: Checked) -> None:
    old = "".join(f'v{number}: int = "{number}"\n' for number in range(4000))
    files = {"mypy.ini": "[mypy]\n", "a.py": old + BEFORE}
    assert (await judge(project(files, old + BEFORE.replace("text", "word")))).verdict is Ruling.PASS
    evidence = await judge(project(files, old + WRONG))
    assert (evidence.verdict, evidence.count) == (Ruling.FAIL, 1)


SILENT = """
from mypy.plugin import Plugin


class Silent(Plugin):
    def __init__(self, options):
        super().__init__(options)
        options.ignore_errors = True


def plugin(version):
    return Silent
"""


@pytest.mark.parametrize(
    "files",
    [
        {"mypy.ini": "[mypy]\nignore_errors = True\n"},
        {"mypy.ini": "[mypy]\n[mypy-a]\nignore_errors = True\n"},
        {"mypy.ini": "[mypy]\nplugins = silent.py\n", "silent.py": SILENT},
    ],
    ids=["all errors ignored", "those of the file ignored", "a plugin that drops them"],
)
async def test_a_checker_that_reports_no_errors_proves_nothing(project: Checked, files: dict[str, str]) -> None:
    for after in (WRONG, BEFORE.replace("text", "word")):
        evidence = await judge(project({**files, "a.py": BEFORE}, after))
        assert evidence.verdict is not Ruling.PASS, evidence
        assert not evidence.trusted


async def test_a_checker_is_known_to_report_errors_for_a_while(project: Checked) -> None:
    case = project({"mypy.ini": "[mypy]\n", "a.py": BEFORE}, BEFORE.replace("text", "word"))
    assert (await judge(case)).verdict is Ruling.PASS
    assert list(types_judge._SEEING) == [(case.path, "mypy")]


async def test_unsaved_buffers_count(project: Checked, tmp_path: Path) -> None:
    before = "from b import width\n\n\ndef f() -> int:\n    return 1\n"
    case = project(
        {"mypy.ini": "[mypy]\n", "b.py": "def width() -> str: return ''\n", "a.py": before},
        before.replace("1", "width()"),
        workspace=Workspace((tmp_path,), (Buffer(tmp_path / "b.py", 1, "def width() -> int: return 1\n"),)),
    )
    assert (await judge(case)).verdict is Ruling.PASS


async def test_a_plugin_runs_in_the_sandbox(project: Checked, tmp_path: Path) -> None:
    """It has no network and writes nothing outside; a plug-in is code of the project."""
    mark = tmp_path.parent / f"{tmp_path.name}-written"
    plugin = (
        "import pathlib\nfrom mypy.plugin import Plugin\n"
        f"try:\n    pathlib.Path({str(mark)!r}).write_text('x')\nexcept OSError:\n    pass\n"
        "pathlib.Path('here').write_text('x')\n"
        "def plugin(version):\n    return Plugin\n"
    )
    case = project({"mypy.ini": "[mypy]\nplugins = own.py\n", "own.py": plugin, "a.py": BEFORE}, WRONG)
    assert (await judge(case)).verdict is Ruling.FAIL  # it ran, with the plug-in
    assert not mark.exists()
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    ("config", "reason"),
    [("[mypy]\nplugins = /outside/of/it.py\n", "Can't find plugin"), ("[mypy]\nplugins = own.py\n", "own.py")],
    ids=["a file outside", "a plug-in that fails"],
)
async def test_a_checker_that_fails_is_reported(project: Checked, config: str, reason: str) -> None:
    case = project({"mypy.ini": config, "own.py": "raise SystemExit('own.py gave up')\n", "a.py": BEFORE}, WRONG)
    verdict, trusted, detail = verdict_of(await judge(case))
    assert (verdict, trusted) == (Ruling.UNKNOWN, False)
    assert detail.startswith("types not checked: mypy: it failed: ")
    assert reason in detail


async def test_a_checker_that_hangs_is_stopped_and_not_started_again(
    project: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    rows = tuple(replace(row, limits=replace(row.limits, seconds=2.0)) for row in types_judge.CHECKERS)
    monkeypatch.setattr(types_judge, "CHECKERS", rows)
    hangs = "import time\ntime.sleep(600)\nwhile True: pass\n"
    case = project({"mypy.ini": "[mypy]\nplugins = own.py\n", "own.py": hangs, "a.py": BEFORE}, WRONG)
    assert "types not checked: mypy: too slow" in (await judge(case)).detail
    began = time.monotonic()
    assert (await judge(case)).detail == "types not checked: mypy was too slow for this project before"
    assert time.monotonic() - began < 1


async def test_a_checker_that_is_not_installed_is_named(project: Checked) -> None:
    case = project({"pyproject.toml": "[tool.pyrefly]\n", "a.py": BEFORE}, WRONG)
    if shutil.which("pyrefly"):
        pytest.skip("pyrefly is installed")
    assert verdict_of(await judge(case)) == (Ruling.SKIPPED, False, "pyrefly is configured but not installed here")


async def test_the_users_tools_setting_disables_it(project: Checked) -> None:
    files = {"pyproject.toml": STRICT, "a.py": BEFORE}
    off = Toolbox(disabled=frozenset({"mypy", "ty"}))
    assert (await judge(project(files, WRONG, tools=off))).verdict is Ruling.SKIPPED


async def test_the_quick_budget_starts_no_slow_checker(project: Checked) -> None:
    case = project({"pyproject.toml": STRICT, "a.py": BEFORE}, WRONG, extent=RunExtent.BRIEF)
    assert (await judge(case)).detail == "mypy not run: it needs the budget `standard` or larger"


async def test_a_remembered_baseline_refutes_nothing_by_itself(project: Checked, tmp_path: Path) -> None:
    """Another file changed since: its error is in the old text, too."""
    before = "from b import width\n\n\ndef f() -> int:\n    return width()\n"
    files = {"mypy.ini": "[mypy]\n", "b.py": "def width() -> int: return 1\n", "a.py": before}
    after = before.replace("width()\n", "width() + 0\n")
    assert (await judge(project(files, after))).verdict is Ruling.PASS
    changed = {**files, "b.py": "def width() -> int: return 1\ndef other() -> int: return 'x'\n"}
    assert (await judge(project(changed, after))).verdict is Ruling.PASS


@pytest.fixture
def ty() -> None:
    if shutil.which("ty", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("ty is not installed: pip install 'stet-ls[types]'")


@pytest.mark.usefixtures("ty")
async def test_python_without_a_checker_is_judged_where_it_is_annotated(project: Checked) -> None:
    evidence = await judge(project({"a.py": BEFORE}, WRONG))
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True)
    assert evidence.detail.startswith("ty: 1 new type error, line 2: ")


@pytest.mark.usefixtures("ty")
@pytest.mark.parametrize(
    "after",
    ["def size(text):\n    return (1).nothing\n", "import nowhere\n\n\n" + BEFORE],
    ids=["no annotations", "a package that is not here"],
)
async def test_what_is_not_annotated_is_not_judged(project: Checked, after: str) -> None:
    case = project({"a.py": "def size(text):\n    return len(text)\n" if "(text):" in after else BEFORE}, after)
    assert (await judge(case)).verdict is Ruling.PASS


@pytest.mark.usefixtures("ty")
async def test_other_errors_of_an_unconfigured_checker_are_not_reported(project: Checked) -> None:
    user = "\n\ndef twice(text: str) -> int:\n    return size(text) * 2\n"
    after = BEFORE.replace("-> int", "-> list[str]").replace("len(text)", "[text]") + user
    assert (await judge(project({"a.py": BEFORE + user}, after))).verdict is Ruling.PASS
