"""Runs functions of a text on given calls, in the sandbox and with the user's own interpreter.

`harness_run` defines what goes in and what comes out, `python/harness` and `javascript/harness` start the run. Each
`inside/` runs in the sandbox: it needs Python 3.8 or Node alone, reads one job and writes one report. Results are not
interpreted here: the judges compare them.
"""
