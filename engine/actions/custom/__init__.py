"""Actions that are not built in: from `[[actions]]` tables and from packages with an entry point `stet.actions`.

What a package needs is here: a `CustomAction`, and for a judge of its own `Case`, `Evidence`, `Check` and `Ruling`.
"""

from stet_ls.engine.actions.custom.action import CustomAction, Judge
from stet_ls.engine.judges.case import Case
from stet_ls.engine.models import Check, Evidence, Ruling

__all__ = ["Case", "Check", "CustomAction", "Evidence", "Judge", "Ruling"]
