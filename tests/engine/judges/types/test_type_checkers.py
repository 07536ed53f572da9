"""The rows of type checkers: their output, their configurations, and those of other languages at work."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.types.judge import judge
from stet_ls.engine.judges.types.type_checkers import CHECKERS
from stet_ls.validators.source import Source

TYPESCRIPT = Path(__file__).resolve().parents[4] / "editors" / "vscode" / "node_modules" / "typescript"

OUTPUTS = {
    "mypy": (
        'a.py:4:12: error: "int" has no attribute "foo"  [attr-defined]\n'
        "a.py:3:1: note: See https://mypy.readthedocs.io/\n",
        [("a.py", "4", "error", "attr-defined", '"int" has no attribute "foo"')],
    ),
    "basedpyright": (
        "/w/pkg/bad.py\n"
        '  /w/pkg/bad.py:2:14 - error: Type "int" is not assignable to declared type "str"\n'
        '  \xa0 \xa0 "int" is not assignable to "str" (reportAssignmentType)\n'
        '  /w/pkg/bad.py:3:12 - error: Import "x" could not be resolved (reportMissingImports)\n'
        "2 errors, 0 warnings, 0 notes\n",
        [
            ("/w/pkg/bad.py", "2", "error", "reportAssignmentType",
             'Type "int" is not assignable to declared type "str" "int" is not assignable to "str"'),
            ("/w/pkg/bad.py", "3", "error", "reportMissingImports", 'Import "x" could not be resolved'),
        ],
    ),
    "ty": (
        "pkg/bad.py:4:12: error[missing-attribute] Object of type `int` has no attribute `foo`\nFound 1 diagnostic\n",
        [("pkg/bad.py", "4", "error", "missing-attribute", "Object of type `int` has no attribute `foo`")],
    ),
    "pyrefly": (
        "ERROR pkg/bad.py:4:12-17: Object of class `int` has no attribute `foo` [missing-attribute]\n",
        [("pkg/bad.py", "4", "ERROR", "missing-attribute", "Object of class `int` has no attribute `foo`")],
    ),
    "tsc": (
        "src/a.ts(1,40): error TS2322: Type 'number' is not assignable to type 'string'.\n  Types differ.\n",
        [("src/a.ts", "1", "error", "TS2322", "Type 'number' is not assignable to type 'string'.")],
    ),
    "go vet": (
        '# x\n./a.go:6:9: fmt.Sprintf format %d has arg "s" of wrong type string\n'
        "vet: ./b.go:3:2: undeclared name: y\n",
        [
            ("./a.go", "6", None, None, 'fmt.Sprintf format %d has arg "s" of wrong type string'),
            ("./b.go", "3", None, None, "undeclared name: y"),
        ],
    ),
    "clippy": (
        "src/lib.rs:2:18: error[E0308]: mismatched types\nsrc/lib.rs:3:8: warning: length comparison to zero\n"
        "error: could not compile `x` (lib) due to 1 previous error\n",
        [
            ("src/lib.rs", "2", "error", "E0308", "mismatched types"),
            ("src/lib.rs", "3", "warning", None, "length comparison to zero"),
        ],
    ),
    "javac": (
        "A.java:1: warning: [rawtypes] found raw type: List\nclass A\n      ^\nA.java:2: error: incompatible types\n",
        [
            ("A.java", "1", "warning", "rawtypes", "found raw type: List"),
            ("A.java", "2", "error", None, "incompatible types"),
        ],
    ),
}  # fmt: skip
"""What each printed for a file with errors."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_is_read(name: str) -> None:
    row = next(row for row in CHECKERS if row.name == name)
    output, wanted = OUTPUTS[name]
    found = [match.groupdict() for match in row.pattern.finditer(output)]
    keys = ("path", "line", "severity", "code", "message")
    assert [tuple(" ".join(each[key].split()) if each.get(key) else None for key in keys) for each in found] == wanted


CONFIGURATIONS = {
    "mypy": {"mypy.ini": "", ".mypy.ini": "", "setup.cfg": "[metadata]\n[mypy]\n", "pyproject.toml": "[tool.mypy]\n"},
    "basedpyright": {"pyproject.toml": "[tool.basedpyright]\n"},
    "pyright": {"pyrightconfig.json": "{}", "pyproject.toml": "[tool.pyright]\n"},
    "ty": {"ty.toml": "", "pyproject.toml": "[tool.ty.rules]\n"},
    "pyrefly": {"pyrefly.toml": "", "pyproject.toml": "[tool.pyrefly]\n"},
}
HOOKS = {
    "mypy": "- repo: https://github.com/pre-commit/mirrors-mypy\n",
    "basedpyright": "- repo: https://github.com/DetachHead/basedpyright-prek-mirror\n",
    "pyright": "- repo: https://github.com/RobertCraigie/pyright-python\n",
    "ty": "- repo: https://github.com/astral-sh/ty-pre-commit\n",
    "pyrefly": "- repo: https://github.com/facebook/pyrefly-pre-commit\n",
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_is_found(name: str, tmp_path: Path) -> None:
    path = tmp_path / "src" / "a.py"
    path.parent.mkdir()
    configurations = {**CONFIGURATIONS[name], ".pre-commit-config.yaml": f"repos:\n{HOOKS[name]}"}
    for file, text in configurations.items():
        (tmp_path / file).write_text(text)
        configured = [row.name for row in CHECKERS if "python" in row.languages and row.configured(tmp_path, path)]
        assert configured == [name], file
        (tmp_path / file).unlink()
    assert not any(row.configured(tmp_path, path) for row in CHECKERS if "python" in row.languages)


def test_a_configuration_above_the_project_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    root = tmp_path / "project"
    assert not any(row.configured(root, root / "a.py") for row in CHECKERS if "python" in row.languages)


PROJECTS = {
    "go vet": (
        "go", "go", "a.go",
        {"go.mod": "module x\n\ngo 1.19\n",
         "a.go": 'package x\n\nimport "fmt"\n\nfunc F(a int) string {\n\treturn fmt.Sprintf("%d", a)\n}\n'},
        ('"%d", a', '"%d", "s"'), ('"%d", a', '"%v", a'), Ruling.FAIL,
    ),
    "clippy": (
        "cargo-clippy", "rust", "src/lib.rs",
        {"Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
         "src/lib.rs": "pub fn f(v: &[i32]) -> i32 {\n    let x: i32 = 1;\n    x + v[0]\n}\n"},
        ("= 1", '= "a"'), ("= 1", "= 2"), Ruling.FAIL,
    ),
    "javac": (
        "javac", "java", "src/p/A.java",
        {"src/p/A.java": "package p;\nclass A {\n  int f() { return new B().size(); }\n}\n",
         "src/p/B.java": "package p;\nclass B {\n  int size() { return 1; }\n}\n"},
        (".size()", ".toString()"), (".size()", ".size() + 0"), Ruling.FAIL,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROJECTS)
async def test_other_languages(name: str, runtime: Runtime, tmp_path: Path) -> None:
    program, language, file, files, wrong, right, verdict = PROJECTS[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    for each, text in files.items():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(text)
    own = replace(runtime, workspace=Workspace((tmp_path,)))

    def case(old: str, new: str) -> Case:
        before = files[file]
        return Case(
            "refactor", language, tmp_path / file, Source(before), Source(before.replace(old, new)), runtime=own
        )

    evidence = await judge(case(*wrong))
    assert (evidence.verdict, evidence.trusted) == (verdict, True), evidence
    evidence = await judge(case(*right))
    assert (evidence.verdict, evidence.detail) == (Ruling.PASS, f"no new type errors ({name})"), evidence


async def test_javac_says_nothing_without_the_projects_libraries(runtime: Runtime, tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("javac is not installed")
    before = "import org.nowhere.Lib;\nclass A {\n  int f() { return 1; }\n}\n"
    (tmp_path / "A.java").write_text(before)
    own = replace(runtime, workspace=Workspace((tmp_path,)))
    after = before.replace("return 1", 'return "a"')
    evidence = await judge(Case("refactor", "java", tmp_path / "A.java", Source(before), Source(after), runtime=own))
    assert (evidence.verdict, evidence.detail) == (Ruling.SKIPPED, "javac does not find what the file imports")


async def test_typescript_in_other_files_is_a_question(runtime: Runtime, tmp_path: Path) -> None:
    if not TYPESCRIPT.is_dir():
        pytest.skip("typescript is not installed: npm install in editors/vscode")
    shutil.copytree(TYPESCRIPT, tmp_path / "node_modules" / "typescript")
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}, "include": ["*.ts"]}')
    before = "export function size(text: string) {\n  return text.length;\n}\n"
    (tmp_path / "a.ts").write_text(before)
    (tmp_path / "b.ts").write_text("import { size } from './a';\nexport const twice: number = size('a') * 2;\n")
    own = replace(runtime, workspace=Workspace((tmp_path,)))

    def case(after: str) -> Case:
        return Case("refactor", "typescript", tmp_path / "a.ts", Source(before), Source(after), runtime=own)

    evidence = await judge(case(before.replace("text.length", "text")))
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, True)
    assert evidence.detail.startswith("tsc: 1 new type error, b.ts:2: ")
    evidence = await judge(case(before.replace("text.length", "text.size")))
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True)
    assert (await judge(case(before.replace("text.length", "text.concat().length")))).verdict is Ruling.PASS
