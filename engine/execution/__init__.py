"""Runs functions of a text on given calls, in the sandbox and with the user's own interpreter.

`harness_run` defines the input and output, `python/harness` and `javascript/harness` start the run, `version_pair` in
each runs the old and the new text of a unit, and `inputs/sources` in each lists where its inputs come from. What both
languages have is in files of the same name. Each `inside/` runs in the sandbox: it needs only Python 3.8 or Node, reads
one job and writes one report. Results are not interpreted here: the judges compare them.
"""
