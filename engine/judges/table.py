"""Which judge answers for which check."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stet_ls.engine.api.evidence import Check
from stet_ls.engine.judges import comments, doctest, lint, names, noop, signature, syntax, timing
from stet_ls.engine.judges.case import Judge
from stet_ls.engine.judges.danger import judge as danger
from stet_ls.engine.judges.differential import judge as differential
from stet_ls.engine.judges.project_tests import judge as project_tests

JUDGES: Mapping[Judge, Check] = MappingProxyType(
    {
        noop.judge: Check.NOOP,
        syntax.judge: Check.SYNTAX,
        danger.judge: Check.DANGER,
        names.judge: Check.NAMES,
        signature.judge: Check.SIGNATURE,
        signature.kept: Check.SIGNATURE,
        lint.judge: Check.LINT,
        comments.judge: Check.DIFFERENTIAL,
        doctest.judge: Check.DOCTEST,
        project_tests.judge: Check.TESTS,
        differential.judge: Check.DIFFERENTIAL,
        timing.judge: Check.TIMING,
    }
)
"""The judges of the engine, by what their evidence is called. An edit of comments is compared by `comments`."""


def check_of(judge: Judge) -> Check:
    """The check that a judge answers for: CUSTOM for those of packages."""
    return JUDGES.get(judge, Check.CUSTOM)
