"""The documentation as a site: every page has its place, and no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

CONFIGURATION = Path(__file__).resolve().parents[2] / "site" / "mkdocs.yml"


def test_every_page_is_built_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    build(load_config(str(CONFIGURATION), site_dir=str(tmp_path)))
    pages = {page.name for page in tmp_path.glob("*.html")}
    assert {"index.html", "guide.html", "start-neovim.html", "troubleshooting.html", "CONTRIBUTING.html"} <= pages
    assert 'id="a-new-check"' in (tmp_path / "CONTRIBUTING.html").read_text(encoding="utf-8")
    assert (tmp_path / "search" / "search_index.json").is_file()
    links = re.findall(r'(?:src|href)="(//|https?://[^"]+)', (tmp_path / "guide.html").read_text(encoding="utf-8"))
    assert not [link for link in links if "mkdocs" not in link and "readthedocs" not in link], "nothing is fetched"


def test_the_command_that_builds_it_counts_warnings() -> None:
    """A build that is quiet ends well with links that lead nowhere."""
    recipe = (CONFIGURATION.parents[1] / "Makefile").read_text(encoding="utf-8").partition("\ndocs:")[2]
    command = recipe.splitlines()[1]
    assert "mkdocs build --config-file" in command
    assert not re.search(r"\s(-q|--quiet|--no-strict)\b", command)


@pytest.mark.parametrize(("link", "leads"), [("#there", True), ("gone.md", False), ("#gone", False), ("/a.md", False)])
def test_a_link_that_leads_nowhere_fails(tmp_path: Path, link: str, leads: bool) -> None:
    settings = CONFIGURATION.read_text(encoding="utf-8").partition("nav:\n")[0]
    settings = settings.replace("../docs", "docs").replace("../.cache/site", "site").replace("hooks: [pages.py]", "")
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Stet\n\n## There\n\n[there]({link})\n", encoding="utf-8")
    config = load_config(str(tmp_path / "mkdocs.yml"))
    if leads:
        build(config)
    else:
        with pytest.raises(Abort):
            build(config)
