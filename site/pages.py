"""Hooks of the documentation site: pages from the top of the repository, and anchors as code hosts make them."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]

PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "ARCHITECTURE.md": "ARCHITECTURE.md"}
"""Pages at the top of the repository, and what they are called in the site."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Anchors as the links in our pages have them."""
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages at the top, with their links as they are from `docs/`."""
    for name, called in PAGES.items():
        text = re.sub(r"\]\(docs/", "](", (ROOT / name).read_text(encoding="utf-8"))
        files.append(File.generated(config, called, content=_inside(text)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """The links of the pages in `docs/` to those at the top."""
    return _inside(markdown.replace("](../", "]("))


def _inside(text: str) -> str:
    """Links to files outside the site become their names: the site does not know where the repository lies."""
    text = text.replace("](README.md", "](index.md")
    return re.sub(r"\[([^]]+)\]\((editors/[^)]*|LICENSE)\)", r"\1 (`\2`)", text)


def slug(text: str, separator: str) -> str:
    """The anchor of a heading: lower case, punctuation dropped, spaces replaced."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)
