"""Inputs for JavaScript and TypeScript, made without running the code.

`subject` finds what can be called, `value_kinds` reads what a parameter accepts (types, JSDoc, defaults),
`untyped_params` infers it from its use otherwise, `examples` finds written calls, `values` converts values between the
languages so that mutations made for Python serve here too, `constants` finds what the code compares with, `draw` makes
values of a kind, `calls` combines all of them, and `guided_changes` changes calls that left a change unexecuted.
"""
