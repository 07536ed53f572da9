"""Inputs for JavaScript and TypeScript, made without running it: as for Python, of what people wrote and of types.

`subject` tells what can be called, `kinds` what a parameter takes (types, JSDoc, defaults), `usage` what its use tells
where nothing else does, `examples` finds written calls, `values` carries values between the languages so that the near
misses of Python's inputs serve here too, `constants` tells what the code compares with, `draw` makes values of a kind,
`calls` puts all together, and `reaching` changes calls where they left something of a change unseen.
"""
