"""The workspace as it would be after the steps of a task so far, in memory only."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.actions.planning.project import Project
from stet_ls.engine.api.actions import spec_of
from stet_ls.engine.api.answer import Answer, Edit, NewFile, edited_text, edits_by_path, line_edits
from stet_ls.engine.api.plan import STEP_KINDS, PlanStep
from stet_ls.engine.api.request import Buffer, Request, Selection
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import units


class WorkspaceOverlay:
    """Applies the answers of steps and combines them into edits of the user's texts."""

    def __init__(self, request: Request, project: Project, instruction: str) -> None:
        """`instruction` is the user's."""
        self._request, self._instruction = request, instruction
        self._before = {project.root / name: Source(text) for name, text in project.files.items()}
        assert request.path is not None
        self._before[request.path] = request.source
        self._after: dict[Path, str] = {}
        self._binary: dict[Path, bytes] = {}

    def request_for(self, step: PlanStep) -> Request:
        """The request of one step, on the texts as the previous steps changed them."""
        source = Source(self._after[step.path]) if step.path in self._after else self._before.get(step.path, Source(""))
        buffers = {buffer.path: buffer for buffer in self._request.workspace.buffers}
        buffers |= {path: Buffer(path, 0, text) for path, text in self._after.items()}
        language = self._request.language if step.path == self._request.path else language_of(step.path)
        edits = STEP_KINDS[step.action].edits
        return replace(
            self._request,
            action=step.action if edits else self._request.action,
            language=language,
            source=source,
            selection=_selection(source, step, language) if edits else None,
            path=step.path,
            instruction=step.instruction,
            user_words=self._instruction,
            diagnostics=(),
            workspace=replace(self._request.workspace, buffers=tuple(buffers.values())),
        )

    def take_out(self, comment: Span) -> None:
        """Removes a comment of the document, with its line if nothing else is on it."""
        source, path = self._request.source, self._request.path
        assert path is not None
        line = Span(source.line_span(source.line_of(comment.start)).start, comment.end)
        alone = not source.slice(Span(line.start, comment.start)).strip()
        after = len(source.data) - len(source.data[comment.end :].lstrip(b" \t"))
        rest = source.data[after : after + 2]
        end = after + (2 if rest == b"\r\n" else 1 if rest[:1] == b"\n" else 0)
        gone = Span(line.start, end) if alone and end > after else comment
        self._after[path] = source.splice([Splice(gone, "")]).text

    def apply_answer(self, answer: Answer) -> None:
        """Applies the edits and new files of a step."""
        for file in answer.new_files:
            if file.data is None:
                self._after[file.path] = file.text
            else:
                self._binary[file.path] = file.data
        for path, own in edits_by_path(answer.edits).items():
            assert path is not None, "every step has a path"
            if own[0].base.text:  # a file that is not in the project's list, such as a test file
                self._before.setdefault(path, own[0].base)
            self._after[path] = edited_text(own).text

    def with_answer(self, answer: Answer) -> WorkspaceOverlay:
        """A copy in which a step's answer is applied."""
        other = copy.copy(self)
        other._before, other._after, other._binary = dict(self._before), dict(self._after), dict(self._binary)
        other.apply_answer(answer)
        return other

    def conflict(self, answer: Answer) -> Path | None:
        """A file that another step changed while this answer was made; None if there is none."""
        for edit in answer.edits:
            assert edit.path is not None, "every step has a path"
            present = self.text(edit.path)
            if present is not None and present != edit.base.text:
                return edit.path
        return next((file.path for file in answer.new_files if self.has(file.path)), None)

    def has(self, path: Path) -> bool:
        """Whether the steps so far made or changed a file."""
        return path in self._after or path in self._binary

    def text(self, path: Path) -> str | None:
        """The text of a file as the steps so far left it; None if there is none."""
        if path in self._after:
            return self._after[path]
        return self._before[path].text if path in self._before else None

    @property
    def texts(self) -> dict[Path, str]:
        """The files that the steps so far changed, with their texts."""
        return dict(self._after)

    def changes(self) -> dict[Path, tuple[Source, Source]]:
        """The files that the steps so far changed, before and after."""
        empty = Source("")
        return {path: (self._before.get(path, empty), Source(text)) for path, text in self._after.items()}

    def bytes_below(self, root: Path) -> dict[str, bytes]:
        """The changed files and the unsaved documents below a folder, by their paths in it."""
        texts = {each.path: each.text for each in self._request.workspace.buffers} | self._after
        contents = {path: text.encode("utf-8", "surrogatepass") for path, text in texts.items()} | self._binary
        return {path.relative_to(root).as_posix(): data for path, data in contents.items() if path.is_relative_to(root)}

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes of existing files, in the smallest possible hunks of lines."""
        changed = ((path, before) for path, before in self._before.items() if path in self._after)
        return tuple(edit for path, before in changed for edit in line_edits(path, before, self._after[path]))

    @property
    def kept(self) -> dict[Path, str]:
        """The existing files, as they would be."""
        return {path: self._after.get(path, before.text) for path, before in self._before.items()}

    @property
    def new_files(self) -> tuple[NewFile, ...]:
        """The files that did not exist."""
        texts = (NewFile(path, text) for path, text in self._after.items() if path not in self._before)
        return (*texts, *(NewFile(path, "", data) for path, data in self._binary.items()))


def _selection(source: Source, step: PlanStep, language: str) -> Selection | None:
    """The step's unit, or the end of the text for a new one; None for a whole document."""
    if step.unit:
        named = (unit for unit in units(source, language) if unit.qualified == step.unit)
        return next((Selection(unit.span, unit.qualified) for unit in named), None)
    if spec_of(step.action).adds_code and source.text.strip():
        return Selection(Span(len(source.data), len(source.data)))
    return None
