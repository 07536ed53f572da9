"""Findings of a text with preprocessor conditions: code that is not compiled has no errors."""

from __future__ import annotations

import time
from dataclasses import replace

from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.languages import for_language
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source
from stet_ls.validators.syntax import messages
from stet_ls.validators.syntax.directives import compiled


def explain(parsed: Parsed, *, end: float) -> tuple[Finding, ...]:
    """The findings of a broken tree: errors in compiled code, warnings in the rest.

    Without an error a compiler would find nothing. `end` is a time of time.monotonic().
    """
    if not for_language(parsed.language).preprocessed or b"#" not in parsed.data:
        return messages.explain(parsed, end=end)
    data, off = compiled(parsed)
    if not off:
        return messages.explain(parsed, end=end)
    text = data[: len(parsed.source.data)].decode("utf-8", "replace")
    try:
        seen = parse(Source(text), parsed.language, deadline=max(end - time.monotonic(), 0.01))
    except DeadlineError:
        return messages.explain(parsed, end=end)
    findings = messages.explain(seen, end=end) if seen.root.has_error else ()
    hidden = (
        replace(finding, severity=Severity.WARNING, message=f"{finding.message} (in code that is switched off)")
        for finding in messages.explain(parsed, end=end)
        if any(span.contains(finding.span) for span in off)
    )
    return (*findings, *hidden)
