"""What code can do to the machine that runs it, by the tables of its language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stet_ls.engine.judges.danger import outside_paths
from stet_ls.engine.judges.danger.language_table import for_language
from stet_ls.engine.judges.danger.risk_kinds import INSTALLS, OUTSIDE, Risk
from stet_ls.engine.judges.danger.risk_tables import RiskTable
from stet_ls.validators.source import Source
from stet_ls.validators.structure import uses
from stet_ls.validators.structure.literals import passages

_CONCATENATED = re.compile(r"(['\"`])([^'\"`\\\n]{0,80})\1\s*\+\s*(['\"`])([^'\"`\\\n]{0,80})\3")
_MEMBER = re.compile(r"(?:\?\.)?\[\s*['\"`]([A-Za-z_$][\w$]*)['\"`]\s*\]")
_KEPT_STRINGS = re.compile(r"[\w$./-]{1,60}")


def risks_in(source: Source, language: str) -> list[Risk]:
    """The risks in a text that a reader should not overlook, one per place."""
    row = for_language(language)
    if row.tree_risks is not None:
        return list(row.tree_risks(source.text) or ())
    if (table := row.risks) is None:
        return []
    code = _code(source, language, table)
    found = [(what, _name(match)) for what, look in table.names.items() for match in look.finditer(code)]
    found += _by_literals(source, language)
    for use in uses(source, language):
        found += [(what, _first(match)) for what, look in table.uses.items() if (match := look.match(_folded(use)))]
    return found


def _by_literals(source: Source, language: str) -> Iterator[Risk]:
    """Risks of literals alone: a path that leads out, a file of secrets, a command that installs."""
    for passage in passages(source, language):
        if passage.kind != "string":
            continue
        word = source.data[passage.span.start : passage.span.end].decode("utf-8", "replace").strip("`'\"rb@$")
        kinds = tuple(outside_paths.risks_named_by(word))
        yield from ((kind, word[:60]) for kind in kinds)
        if not kinds and outside_paths.is_outside_path(word):
            yield OUTSIDE, word[:60]
        if outside_paths.installs_packages(word):
            yield INSTALLS, word[:60]


def _code(source: Source, language: str, table: RiskTable) -> str:
    """The code without comments and literals, with renamed imports under their own names, members by their names."""
    data = bytearray(source.data)
    for passage in passages(source, language):
        start, end = passage.span.start, passage.span.end
        word = data[start + 1 : end - 1].decode("utf-8", "replace")
        if passage.kind in ("comment", "doc", "heredoc") or not _KEPT_STRINGS.fullmatch(word):
            keep = slice(start + 1, max(start + 1, end - 1)) if passage.kind == "string" else slice(start, end)
            data[keep] = re.sub(rb"[^\n]", b" ", bytes(data[keep]))
    text = _MEMBER.sub(r".\1", _folded(data.decode("utf-8", "replace")))
    names = dict(_aliases(source.text, table))
    if names:
        pattern = re.compile(
            r"(?<![\w$.])(?:" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b(?!\s*[:=](?!=))"
        )
        text = pattern.sub(lambda match: names[match[0]], text)
    # A remaining literal is the name of a module or a member; as code it has no effect.
    return re.sub(r"(['\"`])[\w$./-]{1,60}\1", '""', text)


def _folded(text: str) -> str:
    """Concatenated literals joined into one: 'child_' + 'process'."""
    for _ in range(8):
        text, count = _CONCATENATED.subn(r"\1\2\4\1", text)
        if not count:
            break
    return text


def _aliases(text: str, table: RiskTable) -> Iterator[tuple[str, str]]:
    for look in table.aliases:
        for match in look.finditer(text):
            found = match.groupdict()
            module = found["module"].replace("fs/promises", "fs")
            if alias := found.get("alias"):
                if alias != module:
                    yield alias, module
                continue
            for part in (found.get("names") or "").split(","):
                words = re.findall(r"[\w$]+", re.sub(r"\b(?:as|type)\b", " ", part))
                if words and words[0] != "self":
                    yield words[-1], f"{module}{table.joint}{words[0]}"


def _name(match: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", match[0]).strip(" (,;)")[:60]


def _first(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group), match[0][:60])
