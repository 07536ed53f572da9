"""The copy of a workspace that a run sees: its secrets are found, or it is not bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.sandbox.files import overlay


def test_a_workspace_too_large_to_search_for_secrets_is_not_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not looked at could be a secret."""
    for number in range(6):
        (tmp_path / f"{number}").touch()
    (tmp_path / ".env").touch()
    monkeypatch.setattr(overlay, "_MOST_ENTRIES", 7)
    assert list(overlay.hidden_paths(tmp_path)) == [".env"]
    monkeypatch.setattr(overlay, "_MOST_ENTRIES", 6)
    with pytest.raises(ValueError, match="too many to search for secrets"):
        list(overlay.hidden_paths(tmp_path))


def test_compiled_code_of_the_project_is_hidden_and_that_of_packages_is_not(tmp_path: Path) -> None:
    for name in ("__pycache__", "shop/__pycache__", ".venv/lib/python3/site-packages/dep/__pycache__"):
        (tmp_path / name).mkdir(parents=True)
    assert sorted(overlay.hidden_paths(tmp_path)) == ["__pycache__", "shop/__pycache__"]
