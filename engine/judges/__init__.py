"""Judges turn a candidate into evidence, without a model.

Each judge is one small file with `async def judge(case: Case) -> Evidence`. This package never asks a model and never
runs a candidate's code outside the sandbox.
"""
