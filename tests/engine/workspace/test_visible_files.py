"""Nothing from outside of the workspace comes into a prompt, whatever a link there is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.engine.actions.planning.project import project
from stet_ls.engine.api.request import Buffer, Request, Workspace
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.prompt.build import TaskSpec, build
from stet_ls.engine.prompt.context.conventions import conventions
from stet_ls.engine.prompt.context.project_notes import notes
from stet_ls.engine.prompt.seal import listed_values
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.workspace.visible_files import folders_up, homes, shown_text
from stet_ls.validators.source import Source

CANARY = "# Code style\n\nA canary sings at dawn.\n"


def _second(root: Path, outside: Path) -> None:
    (root / "second.md").symlink_to(outside / "AGENTS.md")
    (root / "AGENTS.md").symlink_to("second.md")


def _folder(root: Path, outside: Path) -> None:
    (root / "docs").symlink_to(outside)
    (root / "AGENTS.md").symlink_to("docs/AGENTS.md")


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "absolute": lambda root, outside: (root / "AGENTS.md").symlink_to(outside / "AGENTS.md"),
    "dots": lambda root, _: (root / "AGENTS.md").symlink_to("../outside/AGENTS.md"),
    "link to a link": _second,
    "through a folder": _folder,
    "secret": lambda root, _: ((root / ".env").write_text(CANARY), (root / "AGENTS.md").symlink_to(".env"))[1],
    "environment": lambda root, _: (root / "AGENTS.md").symlink_to("/proc/self/environ"),
    "pipe": lambda root, _: os.mkfifo(root / "AGENTS.md"),
    "device": lambda root, _: (root / "AGENTS.md").symlink_to("/dev/zero"),
}


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A workspace, and a folder next to it that is none of it."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "src").mkdir(parents=True)
    outside.mkdir()
    (outside / "AGENTS.md").write_text(CANARY)
    return root, outside


def asked(root: Path, path: Path | None = None, buffers: tuple[Buffer, ...] = ()) -> Request:
    place = root / "src" / "a.py" if path is None else path
    return Request("refactor", "python", Source("x = 1\n"), path=place, workspace=Workspace((root,), buffers))


def sent(request: Request) -> str:
    task = TaskSpec("Mend it.", "unit")
    prompt = build(request, resolve_target(request), None, task, budget_tokens=4000)
    return "\n".join(message.content for message in prompt.messages)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_link_does_not_bring_outside_text_into_a_prompt(
    places: tuple[Path, Path], way: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODE_STYLE", CANARY)
    way(*places)
    request = asked(places[0])
    assert notes(request, IgnoredFiles(request.workspace)) == ""
    assert "canary" not in sent(request)


def test_a_link_within_the_workspace_is_followed(places: tuple[Path, Path]) -> None:
    """Several tools read the same notes under names of their own."""
    root, _ = places
    (root / "CONTRIBUTING.md").write_text(CANARY)
    (root / "AGENTS.md").symlink_to("CONTRIBUTING.md")
    assert "canary" in sent(asked(root))


def test_the_workspace_may_itself_be_a_link(places: tuple[Path, Path]) -> None:
    root, outside = places
    (root / "AGENTS.md").write_text(CANARY)
    alias = outside / "alias"
    alias.symlink_to(root)
    assert "canary" in sent(asked(alias))
    assert "canary" in sent(asked(root, alias / "src" / "a.py"))


def test_settings_outside_the_workspace_give_no_conventions(places: tuple[Path, Path]) -> None:
    root, outside = places
    (outside / "pyproject.toml").write_text("[tool.ruff]\nline-length = 77\n")
    (root / "pyproject.toml").symlink_to(outside / "pyproject.toml")
    assert conventions(asked(root)) == ()
    (root / "pyproject.toml").unlink()
    (root / "pyproject.toml").write_text("[tool.ruff]\nline-length = 77\n")
    assert conventions(asked(root)) == ("lines of at most 77 characters",)


def test_nothing_is_read_around_a_document_outside_the_workspace(places: tuple[Path, Path]) -> None:
    root, outside = places
    (root / "lib").symlink_to(outside)
    for path in (outside / "a.py", root / "lib" / "a.py", root / ".." / "outside" / "a.py"):
        request = asked(root, path)
        assert folders_up(request) == []
        assert "canary" not in sent(request)


def test_without_a_root_the_folder_or_repository_of_the_document_is_used(places: tuple[Path, Path]) -> None:
    root, outside = places
    (root / "AGENTS.md").write_text(CANARY)
    alone = Request("refactor", "python", Source("x = 1\n"), path=root / "src" / "a.py")
    assert homes(alone) == (root / "src",)
    assert "canary" not in sent(alone)
    (root / ".git").mkdir()
    assert homes(alone) == (root,)
    assert "canary" in sent(alone)
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").symlink_to(outside / "AGENTS.md")
    assert "canary" not in sent(alone)


def test_an_open_document_behind_a_link_is_judged_like_a_file(places: tuple[Path, Path]) -> None:
    root, outside = places
    (root / "AGENTS.md").symlink_to(outside / "AGENTS.md")
    request = asked(root, buffers=(Buffer(root / "AGENTS.md", 1, CANARY),))
    assert shown_text(request, root / "AGENTS.md", IgnoredFiles(request.workspace), most=1000) is None


def test_a_plan_cannot_name_a_file_outside_the_workspace(places: tuple[Path, Path]) -> None:
    root, outside = places
    (outside / "theirs.py").write_text("def canary(): ...\n")
    (root / "src" / "ours.py").write_text("def ours(): ...\n")
    (root / "src" / "theirs.py").symlink_to(outside / "theirs.py")
    assert list(project(asked(root)).files) == ["src/a.py", "src/ours.py"]
    (root / "lib").symlink_to(outside)
    assert list(project(asked(root, root / "lib" / "a.py")).files) == ["lib/a.py"]


def test_a_link_to_a_dotenv_hides_its_values_like_one(places: tuple[Path, Path]) -> None:
    """The target is sent whatever it is called; its values are not."""
    root, _ = places
    (root / ".env").write_text("GREETING=butterfly\n")
    (root / "notes.md").symlink_to(".env")
    path = root / "notes.md"
    request = Request("explain", "markdown", Source(path.read_text()), path=path, workspace=Workspace((root,)))
    assert "butterfly" in listed_values(request)
    assert "butterfly" not in sent(request)
