"""Which packages a code needs, and who may have them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox.environments.imported_modules import Imports, imports, missing
from stet_ls.engine.sandbox.environments.install_policy import InstallPolicy
from stet_ls.engine.sandbox.environments.known_packages import distribution, normalized, well_known
from stet_ls.engine.sandbox.environments.requirements import dependencies, requirement
from stet_ls.engine.sandbox.environments.workspace_imports import WorkspaceSources

STANDARD = frozenset(sys.stdlib_module_names)

CODE = """
from __future__ import annotations
import os.path, numpy as np
from sklearn.linear_model import Ridge
from . import sibling
from .deep import er
if TYPE_CHECKING:
    import pandas
try:
    import ujson as json
except ImportError:
    import simplejson as json
try:
    import careless
except ValueError:
    pass
def late():
    import yaml
    return pytest.importorskip("scipy.stats")
"""


def test_imports_are_found_everywhere_in_a_file() -> None:
    found = imports(CODE)

    assert found.needed == {"__future__", "os", "numpy", "sklearn", "careless", "yaml", "scipy"}
    assert found.optional == {"pandas", "ujson", "simplejson"}


@pytest.mark.parametrize("code", ["import (", "", "\0", "(" * 5000], ids=["broken", "empty", "binary", "deep"])
def test_code_that_does_not_parse_has_no_imports(code: str) -> None:
    assert imports(code) == Imports()


def test_only_imports_without_a_provider_are_missing(tmp_path: Path) -> None:
    (tmp_path / "src" / "mine").mkdir(parents=True)
    (tmp_path / "local.py").touch()
    wanted = Imports(frozenset({"os", "mine", "local", "given", "numpy", "yaml"}), frozenset({"ujson", "json"}))

    found = missing(wanted, STANDARD, frozenset({"numpy"}), tmp_path, {"given.py": b"", "tests/x.py": b""})

    assert found == Imports(frozenset({"yaml"}), frozenset({"ujson"}))


@pytest.mark.parametrize(
    ("module", "package"),
    [("cv2", "opencv-python"), ("yaml", "PyYAML"), ("PIL", "pillow"), ("sklearn", "scikit-learn"), ("rich", "rich")],
)
def test_a_package_may_have_another_name_than_its_module(module: str, package: str) -> None:
    assert distribution(module) == package
    assert normalized(package) in well_known()


def test_the_environment_of_the_user_decides_the_package_name() -> None:
    assert distribution("yaml", {"yaml": ("ruamel-yaml-fork", "1.0")}) == "ruamel-yaml-fork"


def test_dependencies_are_read_from_every_file_and_nothing_is_run(tmp_path: Path) -> None:
    elsewhere = "https://elsewhere.example"
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\ndependencies = ["NumPy>=1.26,<3", "odd @ {elsewhere}/odd"]\n'
        "[project.optional-dependencies]\ntest = [\"Foo_Bar[extra]~=2.0; python_version > '3'\"]\n"
        '[dependency-groups]\ndev = ["grouped", {include-group = "x"}]\n'
        '[tool.poetry.dependencies]\npython = "^3.11"\npoetic = "^1"\n'
    )
    (tmp_path / "requirements-dev.txt").write_text(
        f"--index-url {elsewhere}\n-e .\n./here\n{elsewhere}/x\ngit+{elsewhere}/y\n"
        "pinned==1.2.3 --hash=sha256:00\n# remark\n"
    )
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n    configured>=1\n")
    (tmp_path / "setup.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")

    assert dependencies(tmp_path) == {
        "numpy": "NumPy>=1.26,<3",
        "odd": "odd",
        "foo-bar": "Foo_Bar[extra]~=2.0",
        "grouped": "grouped",
        "poetic": "poetic",
        "pinned": "pinned==1.2.3",
        "configured": "configured>=1",
    }
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", ["", "--pre", "https://x.example/y", "@", "==1"])
def test_invalid_requirements_are_ignored(text: str) -> None:
    assert requirement(text) is None


@pytest.mark.parametrize("text", ["a; import os", "a --index-url=b", "a\n--pre", "a>=1 --pre", "a ===x y"])
def test_a_requirement_carries_nothing_else(text: str) -> None:
    found = requirement(text)

    assert found is not None
    assert not set(found[1]) & set(" ;\n/")
    assert "--" not in found[1]


async def test_known_and_allowed_names_pass() -> None:
    gate = InstallPolicy({"mine": "mine>=2"}, frozenset({"The_Users"}), frozenset({"indexed"}))
    wanted = Imports(frozenset({"mine", "the_users", "indexed", "yaml"}), frozenset({"numpy", "invented"}))

    assert await gate.requirements(wanted) == ("PyYAML", "indexed", "mine>=2", "numpy", "the_users")


async def test_an_invented_package_name_is_refused_or_needs_consent() -> None:
    asked: list[tuple[str, ...]] = []

    async def yes(names: tuple[str, ...]) -> bool:
        asked.append(names)
        return True

    invented = Imports(frozenset({"invented", "numpy"}))
    with pytest.raises(PolicyError, match=r"^invented is not installed here.*sandbox\.packages"):
        await InstallPolicy().requirements(invented)
    assert await InstallPolicy(ask=yes).requirements(invented) == ("invented", "numpy")
    assert asked == [("invented",)]


async def test_system_packages_are_reported_and_not_installed() -> None:
    with pytest.raises(PolicyError, match=r"tkinter cannot be installed from wheels.*python3-tk"):
        await InstallPolicy().requirements(Imports(frozenset({"tkinter"})))


async def test_a_package_name_cannot_be_an_option() -> None:
    async def yes(names: tuple[str, ...]) -> bool:
        return True

    with pytest.raises(PolicyError, match="no such package"):
        await InstallPolicy(ask=yes).requirements(Imports(frozenset({"größe"})))


def test_imports_of_workspace_modules_are_followed(tmp_path: Path) -> None:
    for name, text in {
        "shop/__init__.py": "import banner",
        "shop/units.py": "import stone\nfrom .deep import er",
        "shop/deep/__init__.py": "import ember",
        "shop/deep/er.py": "import moss",
        "src/tools.py": "import hammer",
        "unread.py": "import never",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    unsaved = {tmp_path / "src/tools.py": "import saw"}
    code = "from .units import STONE\nimport tools\ntry:\n    import shop.extra\nexcept ImportError: pass\n"

    found = WorkspaceSources(tmp_path, unsaved).imports([code], tmp_path / "shop/scales.py")

    assert found.needed == {"tools", "stone", "ember", "moss", "saw", "banner"}
    assert found.optional == {"shop"}


def test_circular_imports_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import b")
    (tmp_path / "b.py").write_text("import a, stone")

    assert "stone" in WorkspaceSources(tmp_path).imports(["import b"], tmp_path / "a.py").needed


@pytest.mark.parametrize("name", ["../../secret", "/etc/hosts", "a..b"])
def test_only_imported_files_are_read(tmp_path: Path, name: str) -> None:
    root = tmp_path / "inner" / "root"
    root.mkdir(parents=True)
    (tmp_path / "secret.py").write_text("import told")

    assert "told" not in WorkspaceSources(root).imports([f"pytest.importorskip({name!r})"], None).needed


async def test_a_name_one_letter_off_is_reported_with_the_known_one() -> None:
    with pytest.raises(PolicyError, match=r"not well known\. requets is one letter off requests\. To install it"):
        await InstallPolicy().requirements(Imports(frozenset({"requets"}), frozenset()))
    with pytest.raises(PolicyError, match=r"not well known\. To install it"):
        await InstallPolicy().requirements(Imports(frozenset({"acme_pebbles"}), frozenset()))
