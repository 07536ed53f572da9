"""Test runners: one module per runner."""
