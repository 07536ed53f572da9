"""`stet check`: the checks that the server runs while the user types, for scripts, hooks and CI.

`command` parses the arguments, `file_discovery` finds the files, `worker_pool` spreads them over processes, `signals`
cleans up when these are interrupted, `check_file` judges one file, `baseline` reads an older revision, `formats` prints
findings and `summary` the totals. Settings and terminal libraries are imported only when needed: checking one file
takes less time than loading them.
"""

from stet_ls.server.cli.check.command import configure, run

__all__ = ["configure", "run"]
