"""All runners, the preferred one of each language first."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.runners.languages.c_cpp import Native
from stet_ls.engine.runners.languages.csharp import CSharp
from stet_ls.engine.runners.languages.go import Go
from stet_ls.engine.runners.languages.java import Java, JUnit
from stet_ls.engine.runners.languages.jest_vitest import JEST, VITEST
from stet_ls.engine.runners.languages.node import Node, TypeScript
from stet_ls.engine.runners.languages.pytest_runner import Pytest
from stet_ls.engine.runners.languages.rust import Cargo, Rustc
from stet_ls.engine.runners.languages.unittest_runner import Unittest
from stet_ls.engine.runners.runner import Runner

RUNNERS: Sequence[Runner] = (
    Pytest(),
    Unittest(),
    Native("c"),
    Native("cpp"),
    Go(),
    Rustc(),
    Cargo(),
    VITEST,
    JEST,
    Node(),
    TypeScript(),
    Java(),
    JUnit(),
    CSharp(),
)
