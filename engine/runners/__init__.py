"""Running tests: a `TestPlan` goes in, a `TestReport` comes out, for eight languages.

`run_tests.run_tests` chooses a runner, has it prepare one run of the box, and judges what was reported against what was
expected. A verdict never rests on an exit status or on what a program prints: each line of a report carries a nonce
that tests do not find by accident, and a suite is green only if every expected test is in the report and passed. This
is integrity against accident and against shortcuts, not against an attacker who shares a process with the reporter.

`inside/` is what runs in the box. This room starts nothing outside of it.
"""
