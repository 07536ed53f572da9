"""A plan as a workspace edit, as far as the client supports it."""

from __future__ import annotations

from lsprotocol import types

from stet_ls.engine.api.answer import NewFile
from stet_ls.server.edits.edit_plan import DocumentChange, EditPlan, name_of
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.lsp.convert import text_edits

ANNOTATION = "stet"


def workspace_edit(
    plan: EditPlan, client: ClientFeatures, *, annotation: types.ChangeAnnotation | None = None
) -> types.WorkspaceEdit:
    """One edit for everything. With an `annotation` the client shows that and asks the user before it applies the edit.

    Changes of several files, or of several steps of a task, have an annotation for each file and step, so that a client
    can list them, and the user can choose.

    LSP 3.17: `changes` carries no versions, so it is only for clients that support neither `documentChanges` nor
    `resourceOperations`; a client with either supports the versioned form.
    """
    if not client.versioned_edits:
        changes = {
            change.before.uri: text_edits(change.splices, change.before.source, client.encoding)
            for change in plan.changes
        }
        return types.WorkspaceEdit(changes=changes)
    marks = _Marks(plan, client, annotation)
    operations: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = [
        _document_edit(change, client, marks) for change in plan.changes
    ]
    for file in plan.new_files:
        operations += _new_file(file, marks.of(file.path.name, file.steps))
    for move in plan.moves:  # after the edits of the file, which have its old name
        mark = marks.of(move.path.name, ())
        operations.append(types.RenameFile(move.path.as_uri(), move.to.as_uri(), annotation_id=mark))
    return types.WorkspaceEdit(document_changes=operations, change_annotations=marks.known or None)


class _Marks:
    """The annotations of an edit by their ids, made as they are needed."""

    def __init__(self, plan: EditPlan, client: ClientFeatures, asked: types.ChangeAnnotation | None) -> None:
        self._asked = asked
        steps = {steps for change in plan.changes for _, steps in change.made_by} | {
            each.steps for each in plan.new_files
        }
        self._each = client.change_annotations and (len(plan.names) > 1 or len(steps) > 1)
        self.known: dict[str, types.ChangeAnnotation] = {}

    def of(self, name: str, steps: tuple[int, ...]) -> str | None:
        """The id of the annotation for a file and the steps that changed it there; None if there is none."""
        if not self._each:
            if self._asked is None:
                return None
            self.known[ANNOTATION] = self._asked
            return ANNOTATION
        where = f"step {' and '.join(map(str, steps))}: {name}" if steps else name
        if self._asked is None:
            self.known[where] = types.ChangeAnnotation(f"Stet: {where}")
        else:
            label = f"Stet: {where} · select to apply"
            self.known[where] = types.ChangeAnnotation(
                label, needs_confirmation=True, description=self._asked.description
            )
        return where


def _document_edit(change: DocumentChange, client: ClientFeatures, marks: _Marks) -> types.TextDocumentEdit:
    splices = sorted(change.splices, key=lambda splice: splice.span)
    edits = text_edits(splices, change.before.source, client.encoding)
    name = name_of(change.before)
    identifier = types.OptionalVersionedTextDocumentIdentifier(change.before.uri, change.before.version)
    made = zip(edits, splices, strict=True)
    marked = [_annotated(edit, marks.of(name, change.steps_of(splice))) for edit, splice in made]
    return types.TextDocumentEdit(identifier, marked)


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
