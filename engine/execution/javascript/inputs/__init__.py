"""Inputs for JavaScript and TypeScript, made without running the code.

`subject` finds what can be called, `value_kinds` what a parameter takes (types, JSDoc, defaults), `untyped_params` what
its use tells otherwise, `examples` finds calls that people wrote, `values` carries values between the languages so that
mutations made for Python serve here too, `constants` finds what the code compares with, `draw` makes values of a kind,
`calls` combines all of them, and `guided_changes` changes calls that left part of a change unexecuted.
"""
