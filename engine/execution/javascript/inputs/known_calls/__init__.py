"""Calls that something else gives: the tests of the project, documentation, a model, a solver."""
