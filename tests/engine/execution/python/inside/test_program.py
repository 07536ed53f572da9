"""The text that goes into the box: joined from modules that share their names, for any Python from 3.8 on."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from stet_ls.engine.execution.python import inside

FOLDER = Path(inside.__file__).parent


def test_the_parts_of_the_program_define_each_name_once() -> None:
    names = [name for file in FOLDER.rglob("*.py") for name in defined(ast.parse(file.read_text()))]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def defined(module: ast.Module) -> set[str]:
    """What stands at the top of a module; `global`s of its functions are not bound elsewhere."""
    found = {
        each.name for each in module.body if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    for each in ast.walk(
        ast.Module([each for each in module.body if isinstance(each, ast.Assign | ast.AnnAssign)], [])
    ):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
    return found


def test_the_program_contains_its_parts_in_order_of_dependence() -> None:
    whole = ast.parse(inside.PROGRAM, feature_version=(3, 8))
    assert "stet_ls" not in inside.PROGRAM, "the box has nothing of Stet"
    modules = {file: ast.parse(file.read_text()) for file in FOLDER.rglob("*.py") if file.stem != "__init__"}
    assert defined(whole) == set().union(*map(defined, modules.values()))
    compile(inside.PROGRAM, "<box>", "exec")
    # An importing module comes after it: what is bound at the top needs it when the text begins to run.
    begins = {
        file: inside.PROGRAM.index(f'"""{ast.get_docstring(module).splitlines()[0]}')
        for file, module in modules.items()
    }  # type: ignore[union-attr]
    for file, module in modules.items():
        for each in module.body:
            if isinstance(each, ast.ImportFrom) and (each.module or "").startswith(inside.__name__):
                assert begins[file_of(each.module or "")] < begins[file], (file, each.module)


def file_of(module: str) -> Path:
    """The file of a module below `inside`, by its dotted name."""
    return FOLDER.joinpath(*module.removeprefix(f"{inside.__name__}.").split(".")).with_suffix(".py")
