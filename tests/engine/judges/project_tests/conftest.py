"""The project of `support.projects.shop`, and the judge of its tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.projects.shop import PRICES, TESTS, Judged

from stet_ls.engine.api.evidence import Evidence
from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.engine.sandbox.environments.interpreter import Environment, Interpreter, bare_environment
from stet_ls.engine.sandbox.files.mounts import interpreter as binds
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {
        "shop/__init__.py": "",
        "shop/prices.py": PRICES,
        "shop/cart.py": "from shop.prices import total\n\n\ndef pay(cart):\n    return total(cart)\n",
        "shop/other.py": "def alone():\n    return 1\n",
        "tests/test_prices.py": TESTS,
        "tests/test_cart.py": "from shop.cart import pay\n\n\ndef test_pay():\n    assert pay([2, 2]) == 4\n",
        "tests/test_other.py": "from shop.other import alone\n\n\ndef test_alone():\n    assert alone() == 1\n",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def python() -> Environment:
    """This interpreter, without the plugins of this repository's own tests: they take seconds to load."""
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return bare_environment(
        Interpreter(Path(sys.executable), sys.version_info[:3], binds(), bare, modules=frozenset({"pytest"}))
    )


@pytest.fixture
async def judged(shop: Path, probes: Path, backend: str) -> AsyncIterator[Judged]:
    """Judges a text of `prices.py`."""
    sandbox = Sandbox(IsolationLevel.STRONG, probes, backend=backend)

    async def ask(
        after: str,
        *,
        before: str = PRICES,
        unit: str = "discount",
        action: str = "refactor",
        buffers: tuple[Buffer, ...] = (),
    ) -> Evidence:
        runtime = Runtime(sandbox, python(), Workspace((shop,), buffers))
        case = Case(action, "python", shop / "shop/prices.py", Source(before), Source(after), unit, runtime=runtime)
        return await judge(case)

    yield ask
    await sandbox.close()
