"""The self-test of a model: a few small tasks of our own, whose results fill its profile.

It asks one endpoint by itself, past the chain and its breakers, and runs nothing of what a model wrote.
"""
