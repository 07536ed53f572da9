"""Evidence as files: each attachment is a separate file, private to the user, kept as long as its job."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.api.evidence import Evidence
    from stet_ls.server.evidence.evidence_text import Files
    from stet_ls.server.evidence.report_viewer import ReportViewer

LOGGER = logging.getLogger(__name__)

LEFT_OVER_SECONDS = 24 * 3600.0
"""Age after which the files of a server that was killed are removed."""

DIFF_LINES, DIFF_CHARACTERS = 400, 40_000
"""Limits for an edit that a report quotes; the editor has the whole edit."""

_UNSAFE = re.compile(r"[^\w.-]+")


class EvidenceFiles:
    """The files of one server's jobs: a subfolder of `folder` for each job."""

    def __init__(self, reports: ReportViewer, folder: Path) -> None:
        self._reports = reports
        self._folder = folder
        self._kept: set[str] = set()

    async def show(self, job: str, answer: Answer, check: str = "") -> dict[str, Any]:
        """Opens the report, and the files of `check` if given. UsageError if there is nothing to show.

        Returns `{job, markdown, attachments: [{check, name, language, text, uri}]}`.
        """
        return await self._opened(await self.collect(job, answer, check), check)

    async def _opened(self, shown: dict[str, Any], check: str) -> dict[str, Any]:
        await self._reports.show(f"evidence-{shown['job']}", shown["markdown"])
        if check:
            for each in shown["attachments"]:
                if each["uri"]:
                    await self._reports.open(each["uri"])
        return shown

    async def show_unit(self, key: str, title: str, lines: Sequence[Evidence], check: str, *, opens: bool) -> Any:
        """The result of `show` for a unit that was verified; without `opens` a plugin shows it."""
        from stet_ls.server.evidence.evidence_text import unit_report

        chosen = tuple(each for each in lines if check in ("", each.label)) or tuple(lines)
        files = await asyncio.to_thread(self._write, key, chosen)
        shown = {"job": key, "markdown": unit_report(title, chosen, files), "attachments": _rows(chosen, files)}
        return await self._opened(shown, check) if opens else shown

    async def collect(self, job: str, answer: Answer, check: str = "", *, with_edit: bool = True) -> dict[str, Any]:
        """The result of `show` without opening anything: for a plugin that shows it itself.

        A full report contains the edit as it was made, cut to a bounded length; not without `with_edit`.
        """
        from stet_ls.server.evidence.evidence_text import report, select_check

        lines = select_check(answer, check)
        files = await asyncio.to_thread(self._write, job, lines)
        diff = await asyncio.to_thread(_diff, answer) if with_edit and not check else ""
        return {"job": job, "markdown": report(answer, lines, files, diff), "attachments": _rows(lines, files)}

    def drop(self, job: str) -> None:
        """Removes the files of a job that is no longer kept."""
        if job in self._kept:
            self._kept.discard(job)
            shutil.rmtree(self._folder / job, ignore_errors=True)

    def close(self) -> None:
        """Removes all files of this server's jobs."""
        for job in tuple(self._kept):
            self.drop(job)

    def _write(self, job: str, lines: Sequence[Evidence]) -> Files:
        if not any(item.attachments for item in lines):
            return {}
        from stet_ls.engine.errors import PolicyError
        from stet_ls.engine.storage.private_files import private_folder

        try:
            private_folder(self._folder)
            if not self._kept:
                self._sweep()
            self._kept.add(job)
            return write(private_folder(self._folder / job), lines)
        except (OSError, PolicyError) as error:
            LOGGER.warning("evidence of %s is shown without files: %s", job, error)
            return {}

    def _sweep(self) -> None:
        for old in self._folder.iterdir():
            with suppress(OSError):
                if time.time() - old.stat().st_mtime > LEFT_OVER_SECONDS:
                    shutil.rmtree(old)


def _rows(lines: Sequence[Evidence], files: Files) -> list[dict[str, Any]]:
    from stet_ls.server.evidence.evidence_text import all_attachments

    return [
        {"check": name, **each.to_json(), "uri": file.as_uri() if (file := files.get((name, each.name))) else None}
        for name, each in all_attachments(lines)
    ]


def _diff(answer: Answer) -> str:
    from stet_ls.server.edits.edit_plan import (
        unrebased_edits,  # not imported before the handshake: imports the engine's models
    )
    from stet_ls.server.evidence.evidence_text import first_lines

    return first_lines(unrebased_edits(answer).diff(), DIFF_LINES, DIFF_CHARACTERS)


def write(folder: Path, lines: Sequence[Evidence]) -> Files:
    """Writes each attachment into `folder` with mode 0600 and returns the paths. OSError if that fails."""
    from stet_ls.engine.storage.private_files import write_private
    from stet_ls.server.evidence.evidence_text import all_attachments

    files: dict[tuple[str, str], Path] = {}
    for check, each in all_attachments(lines):
        # A name comes from the judged code: it must never act as a path, and no two may be the same file.
        name = _UNSAFE.sub("_", each.name).lstrip(".") or check
        file = folder / (name if folder / name not in files.values() else f"{check}-{name}")
        write_private(file, each.text.encode("utf-8", "replace").decode("utf-8"))
        files[check, each.name] = file
    return files
