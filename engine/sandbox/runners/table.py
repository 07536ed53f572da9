"""All runners, the preferred one of each language first."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.sandbox.runners.csharp import CSharp
from stet_ls.engine.sandbox.runners.frameworks import JEST, VITEST
from stet_ls.engine.sandbox.runners.go import Go
from stet_ls.engine.sandbox.runners.java import Java, JUnit
from stet_ls.engine.sandbox.runners.native import Native
from stet_ls.engine.sandbox.runners.node import Node, TypeScript
from stet_ls.engine.sandbox.runners.pytest_runner import Pytest
from stet_ls.engine.sandbox.runners.run import Runner
from stet_ls.engine.sandbox.runners.rust import Cargo, Rustc
from stet_ls.engine.sandbox.runners.unittest_runner import Unittest

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
