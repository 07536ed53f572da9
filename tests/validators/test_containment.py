"""What lies inside a folder is decided by where paths lead, never by how they are spelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.validators.containment import is_inside


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two folders side by side, and links between them."""
    for name in ("good/sub", "evil/sub", "goodies"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "good" / "out").symlink_to("../evil")
    (tmp_path / "good" / "twice").symlink_to("out/sub")
    (tmp_path / "good" / "loop").symlink_to("loop")
    (tmp_path / "evil" / "in").symlink_to("../good/sub")
    (tmp_path / "alias").symlink_to("good")
    (tmp_path / "evil" / "x.ts").touch()
    (tmp_path / "good" / "x.ts").symlink_to("../evil/x.ts")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("good", True),
        ("good/x", True),
        ("good/sub/../x", True),
        ("alias/x", True),
        ("evil/in/x", True),
        ("good/missing/x", True),
        ("goodies/x", False),
        ("good/../evil/x", False),
        ("good/out/x", False),
        ("good/twice/x", False),
        ("good/out/../x", False),  # the parent of what the link leads to
        ("good/x.ts", False),
        ("x", False),
        ("good\0/x", False),
    ],
)
@pytest.mark.parametrize("folder", ["good", "alias", "good/sub/.."])
def test_links_and_dots_are_followed_on_both_sides(tree: Path, path: str, inside: bool, folder: str) -> None:
    assert is_inside(tree / path, tree / folder) is inside


def test_a_link_to_itself_is_an_answer(tree: Path) -> None:
    assert is_inside(tree / "good" / "loop", tree / "good")
    assert not is_inside(tree / "good" / "loop", tree / "evil")


def test_relative_paths_are_those_of_the_working_folder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "good")
    assert is_inside(Path("x"), Path())
    assert not is_inside(Path("../evil/x"), Path())


def test_a_spelling_counts_only_where_it_names_the_same_folder(tree: Path) -> None:
    """`GOOD` is `good` where case is ignored; here it is another folder, if there is one at all."""
    there = (tree / "GOOD").exists()
    assert is_inside(tree / "GOOD" / "x", tree / "good") is there
    (tree / "GOOD").mkdir(exist_ok=True)
    assert is_inside(tree / "GOOD" / "x", tree / "good") is there
