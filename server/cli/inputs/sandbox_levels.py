"""The values of `--sandbox-level`."""

from __future__ import annotations

LEVELS = ("none", "partial", "strong", "full")
