"""The document as a plan is made from it: without bodies where it is too large for the model, which plans by names."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.api.request import Request, TargetKind
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.structure import units

_CUT = "..."


def shortened(request: Request, words: str, most: int) -> Request:
    """The request, whose document has at most `most` tokens: else its bodies are cut, then its end. Parses.

    A selected part of the document is not shortened.
    """
    if resolve_target(request).kind is not TargetKind.DOCUMENT or estimate(request.source.text) <= most:
        return request
    text = _without_bodies(request.source, request.language)
    kept, left = list[str](), most
    for line in text.splitlines(keepends=True):
        left -= estimate(line)
        if left < 0:
            break
        kept.append(line)
    return replace(request, source=Source("".join(kept)), instruction=words)


def _without_bodies(source: Source, language: str) -> str:
    cuts: list[Splice] = []
    for unit in units(source, language):  # in their order: an outer one precedes those in it
        inside = cuts and unit.span.start < cuts[-1].span.end
        if unit.body is not None and unit.kind != "class" and not inside:
            cuts.append(Splice(unit.body, _CUT))
    return source.splice(cuts).text
