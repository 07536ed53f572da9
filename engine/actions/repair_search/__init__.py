"""Fixes without a model: small edits of the code, tried in the sandbox until one makes what failed pass."""
