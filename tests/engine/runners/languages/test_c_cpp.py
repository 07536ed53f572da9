"""C and C++ in the box: each file a case, and its main has to return."""

from __future__ import annotations

import pytest
from support.processes.tools import needs
from support.suites import Check, outcomes

from stet_ls.engine.runners.report import FrameOrigin, SuiteOutcome

pytestmark = needs("cc", "c++")

HEAD = '#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include "solution.h"\n'
CODE = {"solution.h": "int add(int a, int b);\n", "solution.c": "int add(int a, int b) { return a + b; }\n"}


def main(body: str) -> str:
    return f"{HEAD}int main(void) {{\n{body}\nreturn 0; }}\n"


async def test_each_file_is_a_case_with_its_outcome(check: Check) -> None:
    report = await check(
        "c",
        {
            "good.c": main("assert(add(1, 2) == 3);"),
            "wrong.c": main('puts("seen"); assert(add(1, 2) == 4);'),
            "crash.c": main("*(volatile int *)0 = 1;"),
            "leaves.c": main('puts("5 passed"); fflush(stdout); exit(0); assert(0);'),
            "leaves_hard.c": main('puts("5 passed"); fflush(stdout); _exit(0);'),
            "fake.c": main('for (int n = 1; n < 9; n++) write(n, "x returned\\n", 11); _exit(0);'),
            "code.c": main("return 3;"),
        },
        CODE,
    )

    assert report.outcome is SuiteOutcome.RED
    assert outcomes(report) == {
        "good.c": "passed",
        "wrong.c": "failed",
        "crash.c": "failed",
        "leaves.c": "error",
        "leaves_hard.c": "error",
        "fake.c": "error",
        "code.c": "failed",
    }
    wrong, crash = report.case("wrong.c"), report.case("crash.c")
    assert wrong
    assert wrong.failure
    assert (wrong.failure.type, wrong.failure.message) == ("AssertionError", "add(1, 2) == 4")
    assert [(frame.path, frame.line, frame.origin) for frame in wrong.failure.frames] == [
        ("wrong.c", 7, FrameOrigin.TEST)
    ]
    assert crash
    assert crash.failure
    assert crash.failure.type == "SIGSEGV"


async def test_an_early_exit_is_incomplete(check: Check) -> None:
    report = await check("c", {"a.c": main("exit(0);")}, CODE)

    assert (report.outcome, report.running) == (SuiteOutcome.INCOMPLETE, ("a.c",))


async def test_a_compile_error_has_its_location(check: Check) -> None:
    report = await check("cpp", {"a.cpp": "int main() {\n  return nothing;\n}\n", "b.cpp": "int main() {}\n"})

    assert report.outcome is SuiteOutcome.ERROR
    assert [error.failure.place for error in report.collection] == [("a.cpp", 2, 10)]
    assert (report.missing, outcomes(report)["b.cpp"]) == (("a.cpp",), "passed")


async def test_an_exception_is_reported(check: Check) -> None:
    throws = '#include <stdexcept>\nint main() { throw std::runtime_error("no"); }\n'

    report = await check("cpp", {"a.cpp": throws})

    case = report.case("a.cpp")
    assert case
    assert case.failure
    assert (report.outcome, case.failure.type, case.failure.message) == (SuiteOutcome.RED, "std::runtime_error", "no")


async def test_without_a_file_no_test_runs(check: Check) -> None:
    assert (await check("c", {})).outcome is SuiteOutcome.NOTHING_RAN


async def test_a_hanging_test_is_stopped(check: Check) -> None:
    report = await check("c", {"a.c": main("for (;;) ;")}, CODE, seconds=4)

    assert (report.outcome, report.running) == (SuiteOutcome.TIMEOUT, ("a.c",))


CRASHES = {
    "SIGSEGV": ("int f(int *at) {\n  return *at;\n}\n", "f(0);", "invalid memory access", 2),
    "SIGFPE": ("int f(int by) {\n  return 7 / by;\n}\n", "f(0);", "an arithmetic error, such as a division by zero", 2),
    "SIGABRT": ("#include <stdlib.h>\nvoid f(void) {\n  abort();\n}\n", "f();", "aborted", 3),
    "StackOverflow": ("int f(int n) {\n  return f(n + 1) + 1;\n}\n", "f(0);", "stack overflow", 1),
}


@needs("addr2line")
@pytest.mark.parametrize("kind", CRASHES)
async def test_a_signal_is_reported_with_its_location(check: Check, kind: str) -> None:
    code, call, words, line = CRASHES[kind]

    report = await check("c", {"test_a.c": f'#include "code.c"\nint main(void) {{\n  {call}\n}}\n'}, {"code.c": code})

    case = report.case("test_a.c")
    assert case
    assert case.failure
    assert (case.failure.type, case.failure.message) == (kind, words)
    deepest = case.failure.deepest
    assert deepest
    assert (deepest.path, deepest.function, deepest.origin) == ("code.c", "f", FrameOrigin.PROJECT)
    # Where a stack ends is chance: within the head of the function, or where it calls itself.
    assert deepest.line in ((1, 2) if kind == "StackOverflow" else (line,))


@needs("addr2line")
async def test_an_exception_is_reported_with_its_location_and_demangled_name(check: Check) -> None:
    code = (
        "#include <vector>\nnamespace {\nstruct Stats {\n  template <typename T> T nth(const std::vector<T> &of)\n"
        "    { return of.at(3); }\n};\n}\n"
    )
    test = '#include "code.hpp"\nint main() {\n  return Stats().nth<int>({});\n}\n'

    report = await check("cpp", {"test_a.cpp": test}, {"code.hpp": code})

    case = report.case("test_a.cpp")
    assert case
    assert case.failure
    assert case.failure.type == "std::out_of_range"
    own = [
        (frame.path, frame.line, frame.function)
        for frame in case.failure.frames
        if frame.origin is not FrameOrigin.LIBRARY
    ]
    assert own == [("test_a.cpp", 3, "main"), ("code.hpp", 5, "Stats.nth")]
