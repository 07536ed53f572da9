"""Test files that execute nothing of what changes, as an earlier run with coverage showed: they need not run again.

A test file that ran without entering a function of the changed files does the same whatever these functions become, as
long as all else that it can reach is the same: the text outside of the functions of the changed files, too.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from stet_ls.engine.execution.language_table import for_language as execution_of
from stet_ls.engine.runners.report import SuiteOutcome, TestReport
from stet_ls.engine.verify.changes.change import ChangedFile, is_of_tests
from stet_ls.engine.verify.stored.kept_runs import KeptRuns
from stet_ls.engine.verify.stored.records import key_of
from stet_ls.validators.ast_text import dump, try_parse

_RAN = frozenset({SuiteOutcome.GREEN, SuiteOutcome.RED})
_READS_CODE = frozenset({"inspect", "ast", "dis", "doctest", "getsource", "__code__", "tokenize", "read_text", "open"})
"""Words of tests that may look at functions without calling them."""
_WORD = re.compile(r"\w+")


class IdleTests:
    """What earlier runs tell of the test files of a change. `files` are its files of one family of languages.

    Reads stored records: not for an event loop.
    """

    def __init__(self, kept: KeptRuns, language: str, files: Sequence[ChangedFile]) -> None:
        self._kept = kept
        self._product = [each for each in files if not is_of_tests(each.path)]
        is_traced = execution_of(language).traces_lines and bool(self._product) and bool(kept.environment)
        self._old = _outlines(self._product, is_old=True) if is_traced else None
        self._new = _outlines(self._product, is_old=False) if is_traced else None

    def among(self, tests: Iterable[str], texts: Mapping[str, str]) -> frozenset[str]:
        """Those of `tests` that need not run, by their `texts`; none if more changed than bodies of functions."""
        if self._old is None or self._new is None:
            return frozenset()
        return frozenset(each for each in tests if self._is_idle(each, texts.get(each, "")))

    def _is_idle(self, test: str, text: str) -> bool:
        if not _READS_CODE.isdisjoint(_WORD.findall(text)) or self._kept.reached.starts_processes(test):
            return False  # what another process runs is not measured
        key = self._key(test, is_old=True)
        return key == self._key(test, is_old=False) and self._kept.cache.get(bool, key) is True

    def learn(self, report: TestReport | None) -> None:
        """Remembers which test files executed nothing of the changed files, in a run on the new tree.

        Only those that ran before any test that did: what a function returned once may be held by a cache or a fixture
        for later tests, which then depend on it without a call.
        """
        if self._new is None or report is None or report.outcome not in _RAN or report.starved or report.signs:
            return
        traced = [report.traced.get(each.path) for each in self._product]
        if any(each is None or each.ran.get("") for each in traced):  # not measured, or of no known test
            return
        busy = {_file(test) for each in traced if each is not None for test, lines in each.ran.items() if lines}
        broken = {*(each.path for each in report.collection), *map(_file, (*report.missing, *report.running))}
        first = itertools.takewhile(lambda path: path not in busy, (_file(each.id) for each in report.cases))
        for path in {*first} - broken:
            self._kept.cache.put(bool, self._key(path, is_old=False), result=True)

    def _key(self, test: str, *, is_old: bool) -> str:
        outlines = (self._old if is_old else self._new) or {}
        reached = self._kept.reached
        state = reached.old((test,), outlines) if is_old else reached.new((test,), outlines)
        return key_of("idle", self._kept.environment, test, sorted(outlines), state)


def _outlines(files: Sequence[ChangedFile], *, is_old: bool) -> Mapping[str, str] | None:
    """A digest of each file without the bodies of its functions; None if a file is not on both sides, or no Python."""
    found = {}
    for each in files:
        text = each.text(each.before if is_old else each.after)
        tree = try_parse(text) if text is not None and each.was == each.path else None
        if tree is None:
            return None
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = node.body[:1] if ast.get_docstring(node, clean=False) else [ast.Pass()]
        found[each.path] = sha256(dump(tree).encode("utf-8", "surrogatepass")).hexdigest()
    return found


def _file(test: str) -> str:
    return test.partition("::")[0]
