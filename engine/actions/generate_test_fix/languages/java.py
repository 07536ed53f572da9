"""Java for the loop, without JUnit: each test is a program that calls one method of the class of tests."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from stet_ls.engine.actions.generate_test_fix.signatures_only import SignatureOutline
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

JAVA = SignatureOutline("java", frozenset({"package_declaration", "import_declaration"}))
RULES = (
    "Write one class with methods `static void test…()` without parameters, and no main: each is run as a program.",
    "Check with `assert condition : actual;` alone. There is no JUnit.",
)
ASSERTS = r"\bassert\b|\bthrow\s+new\s+AssertionError\b"
_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.]+)\s*;[^\n]*\n?", re.MULTILINE)


def unloadable(about: CodeUnderTest) -> str:
    """Why other classes cannot call the unit, as text; "" if they can."""
    found = [each for each in units(Source(about.text), "java") if each.qualified == about.unit]
    if any(re.search(r"\bprivate\b", each.signature) for each in found):
        return f"`{about.unit}` is private, so no test can call it"
    return ""


def tests(code: str) -> tuple[str, ...]:
    """The test methods, each of which gets a program."""
    methods = (each for each in units(Source(code), "java") if each.kind == "method" and each.name.startswith("test"))
    return tuple(each.name for each in methods if re.search(rf"\bvoid {each.name}\(\s*\)", each.signature))


def ready(code: str, about: CodeUnderTest, place: Path) -> str:
    """The class of tests, named after its file, in the code's package, and accessible to the programs that call it."""
    source = _PACKAGE.sub("", code)
    own = next((each.name for each in units(Source(source), "java") if each.kind == "class"), "")
    if own:
        source = re.sub(rf"\b{re.escape(own)}\b", lambda _: place.stem, source)
    source = re.sub(rf"^import\s+[\w.]+\.{re.escape(about.outermost)}\s*;[^\n]*\n", "", source, flags=re.MULTILINE)
    source = re.sub(r"\bprivate\s+(?=(?:static\s+)?void\s+test)", "", source)
    package = _PACKAGE.search(about.text)
    return f"package {package[1]};\n\n{source.lstrip()}" if package is not None else source


def program(file: PurePosixPath, code: str, test: str, number: int) -> tuple[PurePosixPath, str]:
    """The program of one test."""
    name = f"{file.stem}{number}Test"
    package = _PACKAGE.search(code)
    head = f"package {package[1]};\n\n" if package is not None else ""
    call = f"new {file.stem}().{test}();"
    main = f"  public static void main(String[] arguments) throws Throwable {{\n    {call}\n  }}\n"
    return file.with_name(f"{name}.java"), f"{head}class {name} {{\n{main}}}\n"


def root(about: CodeUnderTest) -> Path | None:
    """The root folder of the file's package, where the compiler finds the project's other classes."""
    package = _PACKAGE.search(about.text)
    parts = package[1].split(".") if package is not None else []
    folder = about.path.parent
    top = Path(*folder.parts[: len(folder.parts) - len(parts)]) if parts else folder
    is_package = folder.parts[len(folder.parts) - len(parts) :] == tuple(parts)
    return top if about.root is not None and is_package and top.is_relative_to(about.root) else about.root
