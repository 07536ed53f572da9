"""The output formats of `stet verify`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from stet_ls.engine.verify.render import lines
from stet_ls.engine.verify.report import Report


def text(report: Report) -> None:
    """Prints a line for each finding, then the verdict."""
    for line in lines(report):
        print(line)


def as_json(report: Report) -> None:
    """Prints one object, `stet.verify/1`."""
    print(json.dumps(report.to_json()))


FORMATS: Mapping[str, Callable[[Report], None]] = {"text": text, "json": as_json}
"""By the name that `--format` takes."""
