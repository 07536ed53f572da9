"""Inputs for Python code, made without running it: calls as text, from the code, its documentation and its tests.

`subject` tells what can be called and how, `examples` finds calls that somebody wrote, `mutate` changes their values,
`hints` and `guess` make strategies of values (as text) for parameters, `draw` makes rows of arguments and `calls` the
calls with them. Nothing of the user's code is imported or evaluated here.
"""
