"""The command line: one file per subcommand, and the code that they share.

Results go to standard output, everything else to standard error. A subcommand is a module with `configure(parser)` and
`run(arguments) -> exit status`; it is imported only when it is chosen, so that `stet --stdio` starts fast.
"""
