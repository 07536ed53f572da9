"""Inputs for Python code: calls as text, from the code, its documentation and its tests.

`sources` lists where inputs come from, in order. `subject` finds what can be called and how, `examples` finds written
calls, `values/type_strategies` and `values/untyped_params` generate values (as text) for parameters, `draw` makes rows
of arguments, `calls` the calls with them. No user code is imported or evaluated here.
"""
