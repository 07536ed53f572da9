"""Go: gofmt parses, and runs nothing."""

from __future__ import annotations

import re

from stet_ls.validators.checkers.check_request import Answered, Asked, Run, ask
from stet_ls.validators.checkers.output_parsing import judged, listed

_PLACE = re.compile(r"^<standard input>:(?P<line>\d+):(?P<column>\d+):\s*(?P<message>.+)$", re.MULTILINE)


def gofmt(asked: Asked) -> Answered:
    """All syntax errors (`-e`), and no formatted text (`-l`)."""
    return ask(
        asked,
        Run("gofmt", ("-e", "-l")),
        lambda result: judged(result, listed(asked.source, result.stderr, _PLACE, "gofmt", encoding="utf-8"), "gofmt"),
    )
