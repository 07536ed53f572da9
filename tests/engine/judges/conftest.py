"""The runtime and the cases of `support.processes.sandboxed`."""

from __future__ import annotations

from support.processes.sandboxed import backend, make, patient_with_trials, runtime

__all__ = ["backend", "make", "patient_with_trials", "runtime"]
