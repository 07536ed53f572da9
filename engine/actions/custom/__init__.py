"""Actions that are not built in: from `[[actions]]` tables and from packages with an entry point `stet.actions`.

Exports what a package needs: `CustomAction`, and for its own judges `Case`, `Evidence`, `Check` and `Ruling`.
"""

from stet_ls.engine.actions.custom.custom_action import CustomAction, Judge
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case

__all__ = ["Case", "Check", "CustomAction", "Evidence", "Judge", "Ruling"]
