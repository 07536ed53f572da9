"""What real editors offer, recorded or read from their source, and what a client that offers nothing gets."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from lsprotocol import types
from support.servers.wire import RECORDED, recorded

from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.message_converter import converter_factory

_VSCODE = """
    apply_edit versioned_edits create_files rename_files change_annotations edit_metadata
    literal_actions disabled_actions llm_tag
    work_done_progress show_document text_document_content
    pull_diagnostics refresh_diagnostics related_information diagnostic_data
    configuration dynamic_configuration dynamic_watched_files code_lens refresh_code_lenses
"""

# What is not named is not offered.
EXPECTED = {
    "emacs28-eglot-1.9": ("utf-16", "apply_edit versioned_edits literal_actions configuration dynamic_watched_files"),
    "emacs28-lsp-mode-8.0.0": (
        "utf-16",
        """apply_edit versioned_edits create_files rename_files literal_actions work_done_progress related_information
        configuration""",
    ),
    "helix-from-its-source": (
        "utf-8",
        """apply_edit versioned_edits create_files rename_files literal_actions disabled_actions work_done_progress
        configuration dynamic_watched_files""",
    ),
    "jetbrains-lsp4ij-from-its-source": (
        "utf-16",
        """apply_edit versioned_edits create_files rename_files literal_actions work_done_progress show_document
        pull_diagnostics refresh_diagnostics related_information diagnostic_data
        configuration dynamic_configuration dynamic_watched_files code_lens refresh_code_lenses""",
    ),
    "sublime-lsp-from-its-source": (
        "utf-16",
        """apply_edit versioned_edits change_annotations literal_actions llm_tag work_done_progress show_document
        pull_diagnostics related_information configuration""",
    ),
    "vim9-vim-lsp-2026-04": (
        "utf-16",
        """apply_edit literal_actions disabled_actions work_done_progress related_information configuration
        code_lens""",
    ),
    "kate-22.12": ("utf-16", "literal_actions work_done_progress related_information"),
    "neovim-0.11.4": (
        "utf-8",
        """apply_edit versioned_edits create_files rename_files literal_actions work_done_progress show_document
        pull_diagnostics related_information diagnostic_data configuration code_lens""",
    ),
    "neovim-0.7.2-debian": (
        "utf-16",
        "apply_edit versioned_edits create_files rename_files literal_actions work_done_progress related_information",
    ),
    "vim9-ale-3.3": ("utf-16", "literal_actions related_information"),
    "vim9-yegappan-lsp": (
        "utf-32",
        """apply_edit versioned_edits create_files rename_files literal_actions disabled_actions work_done_progress
        pull_diagnostics diagnostic_data configuration code_lens""",
    ),
    "vscode-1.100-code-server-languageclient-11": ("utf-16", _VSCODE),
    "vscode-1.139-code-server-languageclient-11": ("utf-16", _VSCODE),
}


def client_of(params: dict[str, Any]) -> ClientFeatures:
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return ClientFeatures.of(converter_factory().structure(request, types.InitializeRequest).params)


def offers(client: ClientFeatures) -> set[str]:
    return {name for name, value in asdict(client).items() if value is True}


@pytest.mark.parametrize("name", RECORDED)
def test_capabilities_of_a_recorded_editor_are_read(name: str) -> None:
    client = client_of(recorded(name))
    encoding, names = EXPECTED[name]
    assert offers(client) == set(names.split())
    assert client.encoding == encoding


def test_a_client_without_capabilities_is_supported() -> None:
    assert client_of({"processId": None, "rootUri": None, "capabilities": {}}) == ClientFeatures()


def test_resource_operations_without_document_changes_allow_versioned_edits() -> None:
    """Neovim applies them, and says only this."""
    edit = {"resourceOperations": ["rename"]}
    client = client_of({"processId": None, "capabilities": {"workspace": {"workspaceEdit": edit}}})
    assert client.versioned_edits
    assert not client.create_files


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-7", "utf-8"], "utf-8"),
        (["utf-7"], "utf-16"),
        ([], "utf-16"),
    ],
)
def test_the_first_known_position_encoding_is_chosen(offered: list[str], chosen: str) -> None:
    general = {"positionEncodings": offered}
    assert client_of({"processId": None, "capabilities": {"general": general}}).encoding == chosen
