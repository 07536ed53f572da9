"""Edits of several files as one: judged as a whole, attributed to steps, and taken whole or in chosen parts.

`whole_evidence` judges a change of several files: each file's syntax and names, and the project's tests before and
after all of it. `attribution` says which step of a task made which hunk. `chosen_parts` makes an answer of some files
or steps of another, which is judged again.
"""
