"""The runtime and the cases of `support.boxed`."""

from __future__ import annotations

from support.boxed import backend, make, patient_with_trials, runtime

__all__ = ["backend", "make", "patient_with_trials", "runtime"]
