"""Runs a unit of JavaScript or TypeScript on inputs in the sandbox."""
