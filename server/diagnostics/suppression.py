"""Which documents get no live syntax errors, and why: settings, size, kind, and languages that other servers report on.

Stet learns of other servers in two ways: our plugins list the languages that their editor diagnoses by itself
(`initializationOptions.plugin.diagnoses`), and code action requests carry the diagnostics of all servers. If one of
them marks an error on the same line as Stet, both report the same error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lsprotocol import types

from stet_ls.server.lsp.convert import SOURCE
from stet_ls.validators.languages import PLAIN, language

if TYPE_CHECKING:
    from stet_ls.engine.settings.schema import Checks
    from stet_ls.server.documents.open_documents import Snapshot

LARGEST = 1_000_000
"""Bytes of a text that is checked at each change; a larger one is checked only by `stet check` and by analyze."""

NOT_EDITED = frozenset(
    (
        "stet", "git", "gitlens", "gitlens-git", "gitfs", "review", "pr", "fugitive", "diffview", "gitsigns",
        "vscode-scm", "output", "search-editor", "vscode-notebook-cell", "jdt", "zipfile", "tarfile", "man", "term",
    )
)  # fmt: skip
"""Schemes of documents that are not edited (a diff's other side, an archive's entry), and of notebook cells, whose
`%magic` lines no grammar knows."""


class SuppressionReason(Enum):
    """The reason why a document gets no live syntax errors, as text for the log."""

    OFF = "turned off by the setting `checks.live` or `checks.live_off`"
    ELSEWHERE = "another language server reports them"
    NOT_EDITED = "not an editable document"
    LARGE = "larger than 1 MB: checked by `stet check` and by analyze only"


@dataclass(frozen=True, slots=True)
class SuppressionRules:
    """The settings about diagnostics. `off` contains language ids."""

    live: bool = True
    off: frozenset[str] = frozenset()
    yields: bool = True
    findings: bool = True

    @classmethod
    def of(cls, checks: Checks) -> SuppressionRules:
        """The rules of the settings in force; languages go by any of their names."""
        return cls(checks.live, frozenset(map(_id, checks.live_off)), checks.live_yield, checks.findings)


class OtherServers:
    """The languages whose errors another server of this client reports; learned until this server ends."""

    def __init__(self, declared: Iterable[str] = ()) -> None:
        self._languages = {_id(name) for name in declared}

    def report(self, name: str) -> bool:
        """True if another server reports errors of that language."""
        return _id(name) in self._languages

    def errors(self, seen: Iterable[types.Diagnostic]) -> list[types.Diagnostic]:
        """The errors among the diagnostics that another server reports."""
        return [
            each
            for each in seen
            if each.severity in (None, types.DiagnosticSeverity.Error)
            and each.source
            and not each.source.startswith(SOURCE)
        ]

    def learn(self, name: str, foreign: Iterable[types.Diagnostic], ours: Iterable[types.Diagnostic]) -> str:
        """The other server that reports errors of that language, if these show it for the first time; else "".

        `ours` are the syntax errors that are shown; the others' errors come from `errors`.
        """
        lines = {line for each in ours for line in _lines(each)}
        for each in foreign:
            if not self.report(name) and not lines.isdisjoint(_lines(each)):
                self._languages.add(_id(name))
                return each.source or ""
        return ""


def suppression_reason(snapshot: Snapshot, rules: SuppressionRules, others: OtherServers) -> SuppressionReason | None:
    """Why the document gets no live syntax errors; None if it gets them."""
    name = _id(snapshot.language)
    if not rules.live or name in rules.off:
        return SuppressionReason.OFF
    if name == PLAIN or urlsplit(snapshot.uri).scheme in NOT_EDITED:
        return SuppressionReason.NOT_EDITED
    if rules.yields and others.report(name):
        return SuppressionReason.ELSEWHERE
    return SuppressionReason.LARGE if len(snapshot.source.data) > LARGEST else None


def _id(name: str) -> str:
    row = language(name)
    return row.id if row else name.lower()


def _lines(diagnostic: types.Diagnostic) -> range:
    return range(diagnostic.range.start.line, diagnostic.range.end.line + 1)
