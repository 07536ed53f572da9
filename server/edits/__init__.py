"""Edits from an answer: planned, written as LSP, verified and watched."""
