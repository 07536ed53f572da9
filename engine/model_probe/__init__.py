"""The self-test of a model: a few small tasks of our own, whose results fill its profile.

It asks one endpoint directly, without failover and breakers, and runs nothing that a model wrote.
"""
