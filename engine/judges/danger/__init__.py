"""Names what code could do to the machine that runs it, and to the tests that judge it."""
