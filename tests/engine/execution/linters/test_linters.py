"""Linters that build the code: in the sandbox, on the buffer's text, with findings at their places."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.linters.language_table import ROWS
from stet_ls.engine.execution.linters.run import lint_in_sandbox
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.validators.source import Source

GO = 'package shop\n\nimport "fmt"\n\nfunc Show(n int) {\n\tfmt.Printf("%s\\n", n)\n}\n'
RUST = "pub fn size(v: &Vec<i32>) -> bool {\n    return v.len() == 0;\n}\n"
JAVA = "import java.util.List;\n\nclass Shop {\n    int size(List items) {\n        return items.size();\n    }\n}\n"
CPP = "int add(int a, int b) {\n    int unused = 1;\n    return a + b;\n}\n"
CASES = {
    "go": (
        "shop.go",
        GO,
        (6, "fmt.Printf format %s has arg n of wrong type int"),
        {"go.mod": "module shop\n\ngo 1.19\n"},
    ),
    "rust": ("shop.rs", RUST, (2, "length comparison to zero"), {}),
    "java": ("Shop.java", JAVA, (4, "found raw type: List"), {}),
    "cpp": ("shop.cpp", CPP, (2, "unused variable"), {}),
}
_PROGRAMS = {"go": "go", "rust": "clippy-driver", "java": "javac", "cpp": "clang++"}


@pytest.mark.parametrize("language", [pytest.param(each, marks=needs(_PROGRAMS[each])) for each in CASES])
async def test_a_finding_is_at_its_line(language: str, runtime: Runtime, tmp_path: Path) -> None:
    name, text, (line, words), files = CASES[language]
    for other, content in files.items():
        (tmp_path / other).write_text(content)
    (tmp_path / name).write_text("// the disk holds another text\n")
    box = Runtime(runtime.sandbox, None, Workspace((tmp_path,)))
    found = await lint_in_sandbox(box, language, tmp_path / name, Source(text))
    assert found is not None
    assert not isinstance(found[1], str), found
    assert any(each.line + 1 == line and words in each.message for each in found[1]), found
    assert (tmp_path / name).read_text().startswith("// the disk"), "nothing is written into the project"


async def test_a_tool_that_is_missing_is_named(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("PATH", str(tmp_path))
    box = Runtime(runtime.sandbox, None, Workspace((tmp_path,)))
    found = await lint_in_sandbox(box, "java", tmp_path / "A.java", Source(JAVA))
    assert found == ("javac -Xlint", "javac is not on this machine (a JDK, 17 or later (apt install default-jdk))")
    assert await lint_in_sandbox(box, "python", tmp_path / "a.py", Source("")) is None


def test_errors_are_left_to_the_syntax_check() -> None:
    text = "a.cpp:1:2: error: expected ';'\na.cpp:3:1: warning: unused variable 'x' [-Wunused-variable]\n"
    assert [(each.line, each.code) for each in ROWS["cpp"].read(text)] == [(3, "-Wunused-variable")]
