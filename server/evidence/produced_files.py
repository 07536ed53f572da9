"""The files that a task made: kept in a folder of Stet's until they are taken, and shown with their pictures."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.markdown import code_span, fenced, harmless
from stet_ls.engine.storage.private_files import private_folder

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.api.execution_result import ProducedFile
    from stet_ls.server.evidence.report_viewer import ReportViewer

LOGGER = logging.getLogger(__name__)

KEPT = 20
"""Tasks whose files are kept; the oldest are deleted first."""
_OUTPUT_LINES = 40


class ProducedFiles:
    """The files of one client's tasks: a subfolder of `folder` for each task."""

    def __init__(self, reports: ReportViewer, folder: Path) -> None:
        self._reports = reports
        self._folder = folder

    async def show(self, answer: Answer) -> Answer:
        """Opens a document about the files, with their pictures; returns the answer with it as its Markdown."""
        try:
            places = await asyncio.to_thread(keep_files, answer, self._folder)
            document = await asyncio.to_thread(_write_document, answer, places, self._folder)
        except (OSError, PolicyError) as error:
            LOGGER.warning("files of a task are shown without pictures: %s", error)
            places, document = {}, None
        whole = task_document(answer, {name: place.as_uri() for name, place in places.items()})
        if document is None or not await self._reports.open(document.as_uri()):
            await self._reports.show(f"task-{answer.metadata.trace}", whole)
        return replace(answer, markdown=whole)


def _write_document(answer: Answer, places: Mapping[str, Path], base: Path) -> Path:
    """The document next to its pictures: an editor's preview may refuse to show those of other folders."""
    document = base / (answer.metadata.trace or "task") / "task.md"
    document.write_text(task_document(answer, {name: quote(name) for name in places}), encoding="utf-8")
    return document


def keep_files(answer: Answer, base: Path) -> Mapping[str, Path]:
    """Writes the files of a task below `base`, private to the user; their places by name. OSError if that fails."""
    folder = private_folder(private_folder(base) / (answer.metadata.trace or "task"))
    contents = {file.path: file.text.encode("utf-8", "surrogatepass") if file.data is None else file.data
                for file in answer.new_files}  # fmt: skip
    places = {}
    for each in answer.files:
        place = folder / each.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(contents[each.path])
        places[each.name] = place
    for old in sorted(base.iterdir(), key=lambda each: each.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return places


def task_document(answer: Answer, links: Mapping[str, str]) -> str:
    """A document in Markdown: what was found out, the pictures, the files, and what the programs printed.

    `links` says where the files are, by their names.
    """
    parts = [f"# {harmless(answer.summary.did) if answer.summary.did else 'Task'}"]
    parts += [harmless(answer.explanation)] if answer.explanation else []
    parts += [f"![{harmless(each.name)}](<{links[each.name]}>)\n\n{harmless(each.description)}"
              for each in answer.files if each.kind == "image" and each.name in links]  # fmt: skip
    if answer.files:
        rows = "\n".join(_row(each, links) for each in answer.files)
        parts.append(f"| file | kind | bytes | |\n|---|---|---|---|\n{rows}")
    if answer.execution is not None and answer.execution.stdout.strip():
        lines = answer.execution.stdout.rstrip().splitlines()
        more = [f"[{len(lines) - _OUTPUT_LINES} more lines]"] if len(lines) > _OUTPUT_LINES else []
        parts.append("## Output\n\n" + fenced("\n".join([*lines[:_OUTPUT_LINES], *more]), "text"))
    parts += ["\n".join(f"- {harmless(each)}" for each in answer.warnings)] if answer.warnings else []
    return "\n\n".join(parts) + "\n"


def _row(each: ProducedFile, links: Mapping[str, str]) -> str:
    name = code_span(each.name)
    shown = f"[{name}](<{links[each.name]}>)" if each.name in links else name
    about = harmless(each.description).replace("|", "\\|")
    return f"| {shown} | {each.kind.value} | {each.size:,} | {about} |"


def file_lines(files: Sequence[ProducedFile], places: Mapping[str, Path]) -> list[str]:
    """One line for each file, for a terminal: where it is, and what it holds."""
    return [f"{places.get(each.name, each.path)}: {each.kind.value}, {each.size:,} bytes, {each.description}"
            for each in files]  # fmt: skip
