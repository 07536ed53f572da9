"""Runs untrusted code: a model's, and the project's own tests with it.

A `RunSpec` goes in, a `RunResult` comes out, with an `IsolationReport` that says which walls really stood. The kernel
makes the walls; this room asks for them, watches from outside, and clears up whatever happens. It never knows what is
run or why, and nothing that a job, a model or a repository writes can widen a wall: only the user's settings can.
"""
