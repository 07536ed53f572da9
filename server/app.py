"""The server with its features registered. Handlers are short; each names the module that does the work."""

from __future__ import annotations

import asyncio
import gc
import logging
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from stet_ls.server.diagnostics.publisher import OPTIONS
from stet_ls.server.diagnostics.suppression import SuppressionRules
from stet_ls.server.documents.index_updates import watchers
from stet_ls.server.errors import failure_of
from stet_ls.server.evidence.report_viewer import SCHEME
from stet_ls.server.handlers.code_actions import (
    CANCEL_KIND,
    KINDS,
    VERIFY_KIND,
    cancel_actions,
    code_actions,
    custom_offers,
    verify_actions,
)
from stet_ls.server.handlers.commands import COMMANDS
from stet_ls.server.handlers.inline_completion import inline_completion
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.client_configuration import SECTION
from stet_ls.server.observability.log_format import Format
from stet_ls.server.session import StetServer

__all__ = ["StetServer", "create_server"]

LOGGER = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""Limit for jobs, and then for the engine, to clean up when the client shuts down."""
OUTCOME_SECONDS = 2.0
"""Limit for reporting the outcomes of edits to the engine in between; the rest is closed all the same."""

_CODE_ACTIONS = types.CodeActionOptions(code_action_kinds=(*KINDS, CANCEL_KIND, VERIFY_KIND))
_CODE_LENSES = types.CodeLensOptions(resolve_provider=False)
_CONTENT = types.TextDocumentContentOptions([SCHEME])
_SAVED = types.SaveOptions(include_text=False)
_SETTINGS_FILE = types.FileSystemWatcher("**/.stet.toml")


def create_server(
    *,
    log_file: Path | None = None,
    log_level: str | None = None,
    log_format: Format | None = None,
    client_process_id: int | None = None,
) -> StetServer:
    """Creates a server that is ready to be connected. Log arguments take precedence over the settings."""
    ls = StetServer(log_file=log_file, log_level=log_level, log_format=log_format, client_process_id=client_process_id)
    ls.feature(types.INITIALIZE)(_initialize)
    ls.feature(types.INITIALIZED)(_initialized)
    ls.feature(types.SHUTDOWN)(_shutdown)
    ls.feature(types.TEXT_DOCUMENT_DID_OPEN)(_did_open)
    ls.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_did_change)
    ls.feature(types.TEXT_DOCUMENT_DID_SAVE, _SAVED)(_did_save)
    ls.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_did_close)
    ls.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, OPTIONS)(_diagnostic)
    ls.feature(types.TEXT_DOCUMENT_CODE_ACTION, _CODE_ACTIONS)(_code_action)
    ls.feature(types.CODE_ACTION_RESOLVE)(_resolve)
    ls.feature(types.TEXT_DOCUMENT_CODE_LENS, _CODE_LENSES)(_code_lens)
    ls.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(inline_completion)
    ls.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, _CONTENT)(_text_document_content)
    ls.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_did_change_configuration)
    ls.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(_did_change_workspace_folders)
    ls.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_did_change_watched_files)
    for name, spec in COMMANDS.items():
        ls.protocol.add_command(name, spec)
    return ls


def _initialize(ls: StetServer, params: types.InitializeParams) -> None:
    if not gc.isenabled():  # `stet serve` disabled it
        gc.freeze()
        gc.enable()
    ls.client = ClientFeatures.of(params)
    options = params.initialization_options
    ls.editor.options = dict(options) if isinstance(options, dict) else {}


async def _initialized(ls: StetServer, params: types.InitializedParams) -> None:
    ls.monitoring.start_log(ls.paths.log_file)
    ls.in_background(_register(ls), "register capabilities")
    ls.in_background(_warm_up(ls), "load the engine")


async def _shutdown(ls: StetServer, params: None) -> None:
    ls.consent.model_download.close()
    ls.diagnostics.close()
    ls.evidence.verified.close()
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await ls.jobs.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(OUTCOME_SECONDS):
                await ls.outcome_reporter.flush()
        async with asyncio.timeout(CLOSE_SECONDS):
            await ls.engine.close()
            await ls.monitoring.close()
            await asyncio.to_thread(ls.evidence.files.close)
    except TimeoutError:
        LOGGER.warning("clean-up at shutdown stopped after %s s", CLOSE_SECONDS)


def _did_open(ls: StetServer, params: types.DidOpenTextDocumentParams) -> None:
    uri = params.text_document.uri
    if ls.evidence.reports.owns(uri):
        ls.documents.unlist(uri)
    elif (snapshot := ls.documents.snapshot(uri)) is not None:
        ls.units.refresh(snapshot, settle=0)
        ls.diagnostics.opened(snapshot)
        if ls.evidence.verified.has_files:
            _verify_change().on_opened(ls, snapshot)


def _did_change(ls: StetServer, params: types.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    if not ls.evidence.reports.owns(uri) and (snapshot := ls.documents.snapshot(uri)) is not None:
        ls.units.refresh(snapshot)
        ls.outcome_watcher.changed(snapshot)
        ls.evidence.lenses.changed(uri)
        ls.diagnostics.changed(snapshot)


def _did_save(ls: StetServer, params: types.DidSaveTextDocumentParams) -> None:
    if (snapshot := ls.documents.snapshot(params.text_document.uri)) is not None:
        ls.outcome_watcher.saved(snapshot)
        ls.indexing.changed([snapshot.uri])
        if (settings := ls.engine.settings) is not None and settings.editor.verify_on_save:
            _verify_change().on_saved(ls, snapshot)
    ls.in_background(_reload(ls), "look at the settings")


def _did_close(ls: StetServer, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.jobs.cancel_for(uri)
    ls.units.forget(uri)
    ls.outcome_watcher.closed(uri)
    ls.evidence.lenses.clear(uri)
    ls.diagnostics.closed(uri)


async def _diagnostic(ls: StetServer, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    return await ls.diagnostics.pull(params.text_document.uri, params.previous_result_id)


def _code_action(ls: StetServer, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
    uri = params.text_document.uri
    if ls.evidence.reports.owns(uri):
        return []
    ls.documents.touch(uri)
    snapshot = ls.documents.snapshot(uri)
    if snapshot is None:
        return []
    ls.diagnostics.client_has(snapshot, params.context.diagnostics)
    own = [*cancel_actions(params, ls.jobs, ls.client), *verify_actions(params, ls.client)]
    return [*own, *code_actions(params, snapshot, ls.units, ls.client, custom_offers(ls.engine.actions))]


def _resolve(ls: StetServer, params: types.CodeAction) -> types.CodeAction:
    return params


def _code_lens(ls: StetServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    return ls.evidence.lenses.of(params.text_document.uri)


def _text_document_content(ls: StetServer, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
    text = ls.evidence.reports.content(params.uri)
    if text is None:
        raise JsonRpcInvalidParams(f"uri: {params.uri} is not a report of this server, or no longer available.")
    return types.TextDocumentContentResult(text)


def _did_change_configuration(ls: StetServer, params: types.DidChangeConfigurationParams) -> None:
    # LSP 3.17 leaves the shape of the params to the client: they only signal that settings have to be pulled again.
    ls.engine.invalidate()
    ls.in_background(_reload(ls), "read the settings again")


def _did_change_workspace_folders(ls: StetServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    ls.engine.invalidate()
    ls.in_background(_reload(ls), "read the settings again")


def _did_change_watched_files(ls: StetServer, params: types.DidChangeWatchedFilesParams) -> None:
    ls.indexing.changed(change.uri for change in params.changes)
    ls.in_background(_reload(ls), "read the settings again")


async def _reload(ls: StetServer) -> None:
    """Applies changed settings now, not only with the next job."""
    try:
        (await ls.engine.get()).engine.memory.warm()
        ls.indexing.look()
    except Exception as error:  # noqa: BLE001 - a task's root; the next job meets the same error and answers with it
        failure_of(error, during="read the settings")


async def _warm_up(ls: StetServer) -> None:
    """Imports what the first job needs, so that the job starts faster."""
    try:
        await asyncio.to_thread(_import_lifecycle)
        (await ls.engine.get()).engine.memory.warm()
        ls.indexing.look()
    except Exception as error:  # noqa: BLE001 - a task's root; the first job meets the same error and answers with it
        ls.warn(failure_of(error, during="load the engine").message)
        ls.diagnostics.configure(SuppressionRules())


def _verify_change() -> ModuleType:
    """Imported with its first use: it imports pydantic."""
    from stet_ls.server.job_flow import verify_change

    return verify_change


def _import_lifecycle() -> None:
    import stet_ls.server.job_flow.run_job  # noqa: F401 - imports pydantic


async def _register(ls: StetServer) -> None:
    """Registers for changes of settings and files. A client that does not support it, or refuses, works without it."""
    files = types.DidChangeWatchedFilesRegistrationOptions([_SETTINGS_FILE, *watchers()])
    offered = (
        (
            ls.client.dynamic_configuration,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            types.DidChangeConfigurationRegistrationOptions(section=SECTION),
        ),
        (ls.client.dynamic_watched_files, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, files),
    )
    wanted = [types.Registration(f"stet {method}", method, options) for on, method, options in offered if on]
    if not wanted:
        return
    try:
        await ls.client_register_capability_async(types.RegistrationParams(wanted))
    except JsonRpcException as error:
        LOGGER.info("client registration failed: %s", error)
    else:
        ls.indexing.is_notified = ls.client.dynamic_watched_files
