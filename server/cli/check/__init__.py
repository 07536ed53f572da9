"""`stet check`: what the server shows while typing, for scripts, hooks and CI.

`command` knows the arguments, `walk` the files, `crew` the processes, `leaving` their end, `judging` a file, `baseline`
an older revision's, `formats` what is printed, `tally` what is told. Nothing here imports the settings or a terminal
library before it is needed: the check of one file is over before they would be loaded.
"""

from stet_ls.server.cli.check.command import configure, run

__all__ = ["configure", "run"]
