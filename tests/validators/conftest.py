"""Here checkers and formatters are real, and not waited for in haste."""

from __future__ import annotations

from support.processes.tool_timeouts import patient_with_tools

__all__ = ["patient_with_tools"]
