"""Inputs for JavaScript and TypeScript, made without running the code.

`sources` lists where inputs come from, in order. `subject` finds what can be called, `values/value_kinds` reads what a
parameter accepts (types, JSDoc, defaults), `values/untyped_params` infers it from its use otherwise, `examples` finds
written calls, `values/conversion` converts values between the languages so that mutations made for Python serve here
too, `constants` finds what the code compares with, `values/value_draws` makes values of a kind, `calls` combines all of
them, and `guided_changes` changes calls that left a change unexecuted.
"""
