"""Inserts new tests into a test file: imports corrected, names made unique, at the end and never inside a test."""

from __future__ import annotations

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.actions.generated_tests.location import SuiteFile
from stet_ls.engine.actions.rewriting.format_edit import format_edit
from stet_ls.engine.api.request import Request, Target, TargetKind
from stet_ls.engine.reply.fitting.fit import fit_code
from stet_ls.validators.checkers.formatting import format_changed
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.source import Source, Span


def prepare_tests(place: SuiteFile, code: str, request: Request, target: Target) -> str:
    """The code of new tests adapted to `place`: with correct imports, under names that are free there."""
    name = target.name.split(".")[0]
    code = for_language(request.language).prepare(code, name, request, place.path, place.text)
    return code.strip("\n") + "\n"


def insert_tests(place: SuiteFile, code: str, request: Request, tools: Toolbox) -> Source:
    """The whole text of the test file with `prepare_tests` code in it, formatted as its project formats."""
    if not place.text.strip():
        new = Source(code)
        return format_changed(new, [new.whole], request.language, path=place.path, tools=tools) or new
    source = Source(place.text)
    end = Span(len(source.data), len(source.data))
    fitted = fit_code(code, source=source, target=Target(TargetKind.INSERTION, end), language=request.language)
    fitted = format_edit(source, fitted, request.language, place.path, tools)
    return source.splice(fitted.splices)
