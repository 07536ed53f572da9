"""Renames through a project, without a model: of a name that a module defines, and of a module.

`requested` reads what is asked, `language_table` says for which languages there is a renamer, `python_names` and
`python_modules` are that of Python: they resolve imports and scopes and change nothing else. `rename_task` makes the
answer, with the evidence of the project's tests before and after. A renamer gets texts and gives texts; it starts
nothing.
"""
