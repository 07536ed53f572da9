"""`stet run`: one job on one target, or the same job on many files.

`command` parses the arguments and runs one job, `job_request` makes its request, `answer_files` shows and writes what
it answers. `batch` runs many targets in one engine: `batch_targets` finds them, `batch_ledger` remembers the finished
ones, `batch_report` shows progress and totals.
"""
