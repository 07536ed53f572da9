"""Test runners: one module a runner."""
