"""A text without its bodies, by its syntax tree: the base for new tests in every language except Python."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.structure import units
from stet_ls.validators.structure.units import captures, tree_of

_HIDDEN = "{ /* hidden */ }"
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})


@dataclass(frozen=True, slots=True)
class SignatureOutline:
    """Outlines a text of a language. `kept` are the kinds of top-level nodes that always stay, such as imports."""

    language: str
    kept: frozenset[str]

    def specification(self, before: str, after: str, unit: str) -> str | None:
        """The candidate without bodies and its own documentation; None if it does not hold `unit` at its top level."""
        source = Source(after)
        found, parsed = units(source, self.language), tree_of(source, self.language)
        if parsed is None or unit.partition(".")[0] not in {each.qualified for each in found}:
            return None
        cuts = [Splice(each.body, _HIDDEN) for each in found if each.body is not None and each.kind != "class"]
        known = {each.qualified: each.doc for each in units(Source(before), self.language)}
        cuts += [Splice(each.doc_span, "") for each in found if each.doc_span and known.get(each.qualified) != each.doc]
        documented = [each.doc_span for each in found if each.doc_span]
        for nodes, touched in (
            (parsed.root.named_children, _touched([each.span for each in found])),
            (captures(parsed, _COMMENTS), _touched(documented)),
        ):
            for node in nodes:
                span = Span(node.start_byte, node.end_byte)
                if node.type not in self.kept and not touched(span) and source.slice(span) not in before:
                    cuts.append(Splice(span, ""))
        return source.splice(_outermost(cuts)).text

    def new_unit(self, before: str, after: str) -> str:
        """The first function or class added at the top level, else the first method; "" if there is none."""
        known = {each.qualified for each in units(Source(before), self.language)}
        fresh = [each for each in units(Source(after), self.language) if each.qualified not in known]
        names = [each.qualified for each in fresh if "." not in each.qualified or each.kind == "method"]
        return min(names, key=lambda name: "." in name, default="")


def _touched(those: list[Span]) -> Callable[[Span], bool]:
    """A function that is true for a span that shares a byte with one of these, by binary search."""
    ordered = sorted(those, key=lambda each: each.start)
    starts = [each.start for each in ordered]
    furthest = list(accumulate((each.end for each in ordered), max))

    def touched(span: Span) -> bool:
        earlier = bisect_left(starts, span.end)
        return earlier > 0 and furthest[earlier - 1] > span.start

    return touched


def _outermost(cuts: list[Splice]) -> list[Splice]:
    """The cuts that are not inside another one."""
    kept: list[Splice] = []
    for cut in sorted(cuts, key=lambda each: (each.span.start, -each.span.end)):
        if not kept or cut.span.start >= kept[-1].span.end:
            kept.append(cut)
    return kept
