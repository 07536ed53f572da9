"""The table of languages that the loop supports. A job in any other language skips the loop and reports it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from stet_ls.engine.actions.generate_test_fix import assert_count
from stet_ls.engine.actions.generate_test_fix.assert_count import AssertCount
from stet_ls.engine.actions.generate_test_fix.languages import c_cpp, go, java, javascript, python, rust
from stet_ls.engine.actions.generate_test_fix.signatures_only import SignatureOutline
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.engine.actions.generated_tests.suite_split import tests_in, without
from stet_ls.engine.api.request import Request
from stet_ls.engine.diagnosis.code_facts import code_facts
from stet_ls.engine.diagnosis.diagnosis import CodeFacts
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import expected_tests
from stet_ls.engine.runners.plan import SuiteOwner
from stet_ls.validators.structure import units

Facts = Callable[[Request, str, Runtime, Mapping[str, str], frozenset[str]], CodeFacts]
"""Arguments: the request for the tests, the unit, the runtime, the texts by path, and the available modules."""


def _facts(asked: Request, unit: str, runtime: Runtime, texts: Mapping[str, str], modules: frozenset[str]) -> CodeFacts:
    names = frozenset(each.qualified for each in units(asked.source, asked.language))
    return CodeFacts(frozenset(texts), unit=unit, asked=names, modules=modules, texts=texts)


def _python_facts(
    asked: Request, unit: str, runtime: Runtime, texts: Mapping[str, str], modules: frozenset[str]
) -> CodeFacts:
    return code_facts(asked.source.text, unit, environment=runtime.python, texts=texts, modules=modules)


@dataclass(frozen=True, slots=True)
class LoopLanguage:
    """Support of a language in the loop.

    `specification(before, after, unit)` is the candidate `after` without its bodies; `new_unit(before, after)` the
    unit it added; `tests` the ids in a text of tests, after the file name; `asserts` a pattern of its assertions (""
    for Python's, which are parsed); `ready` completes such a text for its path; `why_untestable` says why no test can
    call the unit. `file` names the tests of a {stem}; `unsaved` is the assumed path of a document without a file,
    never written or read. `rules` are for the writer of the tests.

    `without(code, tests)` is a text without some tests, if single tests can be removed. `facts` builds what the
    diagnosis of failures may use. `suite` is the owner of the tests for the runner, if the path does not decide it.

    `framework` names the runner if it is not the first that fits. `folder` is the folder of the tests (None: that of
    the project's tests), `root` the part of the open folder that the build sees. `program(file, code, test, number)`
    is the file that runs one test, if the runner only runs programs.
    """

    specification: Callable[[str, str, str], str | None]
    new_unit: Callable[[str, str], str]
    tests: Callable[[str], tuple[str, ...]]
    asserts: str
    file: str
    unsaved: str
    rules: tuple[str, ...] = ()
    why_untestable: Callable[[CodeUnderTest], str] = lambda _about: ""
    ready: Callable[[str, CodeUnderTest, Path], str] = lambda code, _about, _place: code
    without: Callable[[str, Collection[str]], str] = lambda code, _tests: code
    facts: Facts = _facts
    suite: SuiteOwner | None = None
    framework: str = ""
    folder: Callable[[CodeUnderTest], Path] | None = None
    root: Callable[[CodeUnderTest], Path | None] = lambda about: about.root
    program: Callable[[PurePosixPath, str, str, int], tuple[PurePosixPath, str]] | None = None

    def count(self, text: str) -> AssertCount:
        """Counts the tests and assertions of a text."""
        if not self.asserts:
            return assert_count.count(text)
        tests = self.tests(text)
        return AssertCount(len(tests), len(re.findall(self.asserts, text)) if tests else 0)


def _file_folder(about: CodeUnderTest) -> Path:
    return about.path.parent


def _native(outline: SignatureOutline, suffix: str) -> LoopLanguage:
    language = outline.language
    return LoopLanguage(
        outline.specification,
        outline.new_unit,
        c_cpp.tests(language),
        c_cpp.ASSERTS,
        f"test_{{stem}}_from_its_specification{suffix}",
        f"/unsaved/solution{suffix}",
        c_cpp.RULES,
        partial(c_cpp.unloadable, language=language),
        c_cpp.ready(language),
        folder=_file_folder,
        program=c_cpp.program,
    )


def _script(
    outline: SignatureOutline, tests: Callable[[str], Iterable[str]], suffix: str, framework: str
) -> LoopLanguage:
    return LoopLanguage(
        outline.specification,
        outline.new_unit,
        lambda code: tuple(tests(code)),
        javascript.ASSERTS,
        f"{{stem}}_from_its_specification.test{suffix}",
        f"/unsaved/solution{suffix}",
        javascript.RULES,
        javascript.unloadable,
        javascript.ready,
        framework=framework,
    )


LOOP_LANGUAGES: Mapping[str, LoopLanguage] = {
    "python": LoopLanguage(
        python.specification,
        python.new_unit,
        lambda code: tuple(test.id for test in tests_in(code)),
        "",
        "test_{stem}_from_its_specification.py",
        "/unsaved/solution.py",
        without=without,
        facts=_python_facts,
    ),
    "javascript": _script(javascript.JAVASCRIPT, expected_tests.javascript, ".mjs", "node"),
    "typescript": _script(javascript.TYPESCRIPT, expected_tests.typescript, ".ts", "typescript"),
    "go": LoopLanguage(
        go.GO.specification,
        go.GO.new_unit,
        go.tests,
        go.ASSERTS,
        "{stem}_from_its_specification_test.go",
        "/unsaved/solution.go",
        go.RULES,
        ready=go.ready,
        folder=_file_folder,
        root=go.root,
        suite=SuiteOwner.GENERATED,  # the name of its module is irrelevant, but it needs one
    ),
    "rust": LoopLanguage(
        rust.RUST.specification,
        rust.RUST.new_unit,
        rust.tests,
        rust.ASSERTS,
        "{stem}_from_its_specification.rs",
        "/unsaved/solution.rs",
        rust.RULES,
        rust.unloadable,
        rust.ready,
        folder=rust.folder,
        root=rust.root,
    ),
    "java": LoopLanguage(
        java.JAVA.specification,
        java.JAVA.new_unit,
        java.tests,
        java.ASSERTS,
        "{stem}FromItsSpecificationTest.java",
        "/unsaved/{unit}.java",
        java.RULES,
        java.unloadable,
        java.ready,
        folder=_file_folder,
        root=java.root,
        program=java.program,
    ),
    "c": _native(c_cpp.C, ".c"),
    "cpp": _native(c_cpp.CPP, ".cpp"),
}
