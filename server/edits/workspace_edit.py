"""A plan as a workspace edit, as far as the client supports it."""

from __future__ import annotations

from lsprotocol import types

from stet_ls.engine.api.answer import NewFile
from stet_ls.server.edits.edit_plan import DocumentChange, EditPlan
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.convert import text_edits

ANNOTATION = "stet"


def workspace_edit(
    plan: EditPlan, client: ClientFeatures, *, annotation: types.ChangeAnnotation | None = None
) -> types.WorkspaceEdit:
    """One edit for everything. With an `annotation` the client shows that and asks its user before it applies the edit.

    LSP 3.17: `changes` carries no versions, so it is only for clients that support neither `documentChanges` nor
    `resourceOperations`; a client with either supports the versioned form.
    """
    if not client.versioned_edits:
        changes = {
            change.before.uri: text_edits(change.splices, change.before.source, client.encoding)
            for change in plan.changes
        }
        return types.WorkspaceEdit(changes=changes)
    mark = None if annotation is None else ANNOTATION
    operations: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = [
        _document_edit(change, client, mark) for change in plan.changes
    ]
    for file in plan.new_files:
        operations += _new_file(file, mark)
    return types.WorkspaceEdit(
        document_changes=operations, change_annotations=None if annotation is None else {ANNOTATION: annotation}
    )


def _document_edit(change: DocumentChange, client: ClientFeatures, annotation: str | None) -> types.TextDocumentEdit:
    edits = text_edits(change.splices, change.before.source, client.encoding)
    identifier = types.OptionalVersionedTextDocumentIdentifier(change.before.uri, change.before.version)
    return types.TextDocumentEdit(identifier, [_annotated(edit, annotation) for edit in edits])


def _new_file(file: NewFile, annotation: str | None) -> tuple[types.CreateFile, types.TextDocumentEdit]:
    # No `overwrite` and no `ignoreIfExists`: if the file exists by now, the client refuses.
    uri = file.path.as_uri()
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    edit = _annotated(types.TextEdit(start, file.text), annotation)
    return (
        types.CreateFile(uri, annotation_id=annotation),
        types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, None), [edit]),
    )


def _annotated(edit: types.TextEdit, annotation: str | None) -> types.TextEdit | types.AnnotatedTextEdit:
    return edit if annotation is None else types.AnnotatedTextEdit(annotation, edit.range, edit.new_text)
