"""Inputs for Python code: calls as text, from the code, its documentation and its tests.

`subject` finds what can be called and how, `examples` finds written calls, `type_strategies` and `untyped_params`
generate values (as text) for parameters, `draw` makes rows of arguments, `calls` the calls with them.
No user code is imported or evaluated here.
"""
