"""Running tests: a `TestPlan` goes in, a `TestReport` comes out, for eight languages.

`run_tests.run_tests` chooses a runner, has it prepare one sandbox run, and compares the report with what was expected.
A verdict never depends on an exit status or on what a program prints: each line of a report carries a nonce that tests
do not find by accident, and a suite is green only if every expected test is in the report and passed. This protects
integrity against accidents and shortcuts, not against an attacker who shares a process with the reporter.

`inside/` runs in the sandbox. This package starts nothing outside of it.
"""
