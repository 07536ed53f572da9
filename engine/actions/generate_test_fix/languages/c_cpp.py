"""C and C++ for the loop: each test is a program that includes the code, so one crash does not affect the others."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from stet_ls.engine.actions.generate_test_fix.signatures_only import SignatureOutline
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units

_KEPT = frozenset({"preproc_include", "using_declaration", "alias_declaration"})
C, CPP = SignatureOutline("c", _KEPT), SignatureOutline("cpp", _KEPT)
RULES = (
    "Write functions `void test_…()` without parameters, and no main: each is run as a program of its own.",
    "Check with `assert` alone; no framework.",
)
ASSERTS = r"(?<!static_)\bassert\s*\("
_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?P<path>[^"\n]+)"[^\n]*\n?', re.MULTILINE)
_SOURCES = (".c", ".cc", ".cpp", ".cxx")


def unloadable(about: CodeUnderTest, language: str) -> str:
    """Why a test program cannot include the file, as text; "" if it can."""
    if any(each.qualified == "main" for each in units(Source(about.text), language)):
        return "the file has a main of its own, and a program has one alone"
    for match in _QUOTED.finditer(about.text):
        header = Path(os.path.normpath(about.path.parent / match["path"]))
        within = header.is_relative_to(about.root or about.path.parent)  # other folders are not read
        if within and header.stem != about.path.stem and _is_linked(header):
            return f"it is linked with the code behind {match['path']}, and only the project knows how"
    return ""


def _is_linked(header: Path) -> bool:
    try:
        return any(header.with_suffix(suffix).is_file() for suffix in _SOURCES)
    except (OSError, ValueError):  # the path comes from untrusted text
        return False


def tests(language: str) -> Callable[[str], tuple[str, ...]]:
    """The test functions, each of which gets a program."""

    def found(code: str) -> tuple[str, ...]:
        named = (unit for unit in units(Source(code), language) if unit.name.startswith("test"))
        return tuple(unit.name for unit in named if unit.signature.endswith(("()", "(void)")))

    return found


def ready(language: str) -> Callable[[str, CodeUnderTest, Path], str]:
    """The tests after the included code: without a main, with assertions that are not compiled away."""

    def made(code: str, about: CodeUnderTest, place: Path) -> str:
        source = Source(_QUOTED.sub("", code))
        mains = [Splice(each.span, "") for each in units(source, language) if each.qualified == "main"]
        head = f'#include "{about.seen_from(place)}"\n#undef NDEBUG\n#include <assert.h>\n'
        return f"{head}\n{source.splice(mains).text.strip()}\n"

    return made


def program(file: PurePosixPath, code: str, test: str, number: int) -> tuple[PurePosixPath, str]:
    """The program of one test, with the same line numbers as the file of all tests."""
    name = file.with_name(f"{file.stem}_{number}{file.suffix}")
    return name, f"{code}\nint main(void) {{\n  {test}();\n  return 0;\n}}\n"
