"""The capabilities of the connected editor, read once and stored as named fields.

No other module reads `ClientCapabilities`: a handler reads `client.versioned_edits`. No field depends on an editor's
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast, get_args

from lsprotocol import types

from stet_ls.validators.source import Encoding

_ENCODINGS: tuple[str, ...] = get_args(Encoding)


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """The connected editor. The defaults are those of a client without capabilities."""

    encoding: Encoding = "utf-16"
    """The unit of columns, negotiated in `initialize`."""

    apply_edit: bool = False
    """Supports `workspace/applyEdit`."""
    versioned_edits: bool = False
    """Supports `documentChanges`, declared or not: Neovim declares only resource operations, which require them."""
    create_files: bool = False
    """Creates files as part of a workspace edit."""
    rename_files: bool = False
    """Renames files as part of a workspace edit."""
    change_annotations: bool = False
    """Asks the user before it applies a change that is annotated as needing confirmation."""
    edit_metadata: bool = False
    """Supports `metadata` (is this a refactoring?) with an edit."""

    literal_actions: bool = False
    """Supports `CodeAction` objects; other clients only bare commands."""
    disabled_actions: bool = False
    """Shows code actions that are disabled, with the reason."""
    llm_tag: bool = False
    """Marks code actions that a language model made."""

    work_done_progress: bool = False
    """Shows progress that the server starts."""
    show_document: bool = False
    """Opens a document that the server names."""
    has_plugin: bool = False
    """Runs our plugin, with its own commands to list and cancel jobs."""
    shows_reports: bool = False
    """A plugin shows the reports of jobs itself, from `stet.result`; the server does not."""
    shows_offers: bool = False
    """A plugin shows an edit with its evidence and asks whether to apply it: it answers `stet/offer`."""
    shows_diffs: bool = False
    """A plugin shows an edit in a diff editor, where the user may keep a part: `stet/offer` carries the texts."""
    chooses_models: bool = False
    """A plugin lets the user choose a model for a job that has none: it answers `stet/noModel`."""
    text_document_content: bool = False
    """Fetches the text of documents that exist only in the server."""

    code_lens: bool = False
    """Shows code lenses above code."""
    refresh_code_lenses: bool = False
    """Requests code lenses again on `workspace/codeLens/refresh`."""
    message_buttons: bool = False
    """Shows messages with buttons that do not block, as our plugin declares; elsewhere they may be modal."""

    pull_diagnostics: bool = False
    """Pulls diagnostics; none are pushed to such a client."""
    refresh_diagnostics: bool = False
    """Pulls diagnostics again on `workspace/diagnostic/refresh`."""
    related_information: bool = False
    """Shows the related locations of a diagnostic."""
    diagnostic_data: bool = False
    """Returns a diagnostic's data with a request for code actions."""
    diagnostic_tags: frozenset[types.DiagnosticTag] = frozenset()
    """The tags that it displays."""
    diagnoses: tuple[str, ...] = ()
    """Languages whose errors this editor reports without Stet, as our plugin declares."""

    configuration: bool = False
    """Answers `workspace/configuration`."""
    dynamic_configuration: bool = False
    """Supports dynamic registration for changed configuration."""
    dynamic_watched_files: bool = False
    """Supports dynamic registration for changed files."""

    @classmethod
    def of(cls, params: types.InitializeParams) -> ClientFeatures:
        """The client that sent these `initialize` params."""

        def has(path: str) -> bool:
            return bool(capability_at(params.capabilities, path))

        operations = capability_at(params.capabilities, "workspace.workspace_edit.resource_operations") or ()
        tags = capability_at(params.capabilities, "text_document.code_action.tag_support.value_set") or ()
        # LSP 3.18 has both; clients of 3.17 that pull declare here, too, what they can show.
        push = "text_document.publish_diagnostics"
        shown = capability_at(params.capabilities, f"{push}.tag_support.value_set") or ()
        return cls(
            encoding=choose_encoding(params.capabilities),
            apply_edit=has("workspace.apply_edit"),
            versioned_edits=has("workspace.workspace_edit.document_changes") or bool(operations),
            create_files=types.ResourceOperationKind.Create in operations,
            rename_files=types.ResourceOperationKind.Rename in operations,
            change_annotations=has("workspace.workspace_edit.change_annotation_support"),
            edit_metadata=has("workspace.workspace_edit.metadata_support"),
            literal_actions=has("text_document.code_action.code_action_literal_support"),
            disabled_actions=has("text_document.code_action.disabled_support"),
            llm_tag=types.CodeActionTag.LlmGenerated in tags,
            work_done_progress=has("window.work_done_progress"),
            show_document=has("window.show_document.support"),
            has_plugin=bool(_plugin(params)),
            shows_reports=_plugin(params).get("reports") is True,
            shows_offers=_plugin(params).get("offers") is True,
            shows_diffs=_plugin(params).get("diffs") is True,
            chooses_models=_plugin(params).get("models") is True,
            text_document_content=capability_at(params.capabilities, "workspace.text_document_content") is not None,
            code_lens=capability_at(params.capabilities, "text_document.code_lens") is not None,
            refresh_code_lenses=has("workspace.code_lens.refresh_support"),
            message_buttons=_plugin(params).get("buttons") is True,
            pull_diagnostics=capability_at(params.capabilities, "text_document.diagnostic") is not None,
            refresh_diagnostics=has("workspace.diagnostics.refresh_support"),
            related_information=has(f"{push}.related_information"),
            diagnostic_data=has(f"{push}.data_support"),
            diagnostic_tags=frozenset(tag for tag in shown if isinstance(tag, types.DiagnosticTag)),
            diagnoses=_texts(_plugin(params).get("diagnoses")),
            configuration=has("workspace.configuration"),
            dynamic_configuration=has("workspace.did_change_configuration.dynamic_registration"),
            dynamic_watched_files=has("workspace.did_change_watched_files.dynamic_registration"),
        )


def _plugin(params: types.InitializeParams) -> Mapping[str, Any]:
    """The declarations of our plugin: `initializationOptions.plugin`.

    `{name, reports, offers, diffs, buttons, diagnoses}`.
    """
    options = params.initialization_options
    plugin = options.get("plugin") if isinstance(options, Mapping) else None
    return plugin if isinstance(plugin, Mapping) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def capability_at(capabilities: types.ClientCapabilities, path: str) -> Any:
    """The value at a dotted path of the capabilities; None if any part of it is absent."""
    return reduce(lambda value, name: getattr(value, name, None), path.split("."), cast(Any, capabilities))


def choose_encoding(capabilities: types.ClientCapabilities) -> Encoding:
    """The first supported one of the client's position encodings; every client supports UTF-16.

    LSP 3.17: the client lists them "in order of preference", and pygls answers `initialize` by the same rule.
    """
    wanted = capability_at(capabilities, "general.position_encodings") or ()
    names = (getattr(encoding, "value", encoding) for encoding in wanted)
    return cast(Encoding, next((name for name in names if name in _ENCODINGS), "utf-16"))
