"""Inputs for JavaScript and TypeScript, made without running it: as for Python, of what people wrote and of types.

`subject` tells what can be called, `kinds` what a parameter takes (types, JSDoc, defaults), `usage` what its use tells
where nothing else does, `examples` finds written calls, `values` carries values between the languages so that the near
misses of Python's inputs serve here too, `draw` makes values of a kind, and `calls` puts all together.
"""
