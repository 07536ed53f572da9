"""Files that run in the sandbox: they load both versions, call them and report."""
