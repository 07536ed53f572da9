"""The runtime and the cases of `support.processes.boxed`."""

from __future__ import annotations

from support.processes.boxed import backend, make, patient_with_trials, runtime

__all__ = ["backend", "make", "patient_with_trials", "runtime"]
