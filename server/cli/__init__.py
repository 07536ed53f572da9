"""The command line: one file per sub-command, and what they share.

Results go to standard output, everything else to standard error. A sub-command is a module with `configure(parser)` and
`run(arguments) -> exit status`; it is imported only when it was chosen, so that `stet --stdio` starts fast.
"""
