"""The output formats of `stet review`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from stet_ls.engine.api.review import ReviewFinding
from stet_ls.engine.review.report import ChangeReview, lines
from stet_ls.server.cli.terminal.machine_output import print_json, print_sarif, sarif_result
from stet_ls.server.cli.verify.formats import MOST_RESULTS, result
from stet_ls.validators.invisible_chars import escape_invisible


def text(review: ChangeReview) -> None:
    """Prints the judges' findings, the reviewer's, each file's score, and the whole in one line."""
    for line in lines(review):
        print(line)


def as_json(review: ChangeReview) -> None:
    """Prints one object, `stet.review/1`."""
    print_json(review.to_json())


def sarif(review: ChangeReview) -> None:
    """Prints SARIF 2.1.0: the judges' findings, and the reviewer's as notes, or warnings if a run confirmed them."""
    judged = [result(each, review.verified) for each in review.verified.findings]
    results = [*judged, *(_result(path, one) for path, one in review.findings)]
    print_sarif("stet review", results[:MOST_RESULTS])


def _result(path: str, one: ReviewFinding) -> dict[str, Any]:
    digest = sha256("\0".join((path, one.kind, "".join(one.quote.split()))).encode("utf-8", "replace")).hexdigest()
    level, uri, region = "warning" if one.confirmed else "note", quote(os.fsencode(path)), {"startLine": one.line}
    return sarif_result(f"review.{one.kind}", level, escape_invisible(one.words), uri, region, digest)


FORMATS: Mapping[str, Callable[[ChangeReview], None]] = {"text": text, "json": as_json, "sarif": sarif}
"""By the name that `--format` takes."""
