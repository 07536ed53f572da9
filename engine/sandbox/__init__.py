"""Runs untrusted code: a model's, together with the project's own tests.

A `RunSpec` goes in; a `RunResult` comes out, with an `IsolationReport` of the walls that held. The kernel enforces the
walls; this package sets them up, monitors the run from outside and always cleans up. It does not depend on what is run
or why. Nothing that a job, a model or a repository writes can weaken a wall: only the user's settings can.
"""
