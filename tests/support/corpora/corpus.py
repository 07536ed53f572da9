"""Small faults put into whole files, the same ones on every machine: what people and models break, one at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "validators" / "corpus" / "samples"
EACH = 6
"""Mutants of one kind in one file, where it has the places for them."""

PROSE = "Here is the updated version, which keeps the behaviour as it was:\n"
FENCE = "```\n"

_COMMENTS = {"#": r"\#[^\n]*", "//": r"//[^\n]* | /\*.*?\*/"}
_REST = r"""
  | (?P<string>  \"\"\".*?\"\"\" | '''.*?''' | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `[^`]*` )
  | (?P<word>    [A-Za-z_]\w* )
  | (?P<number>  \d[\w.]* )
  | (?P<opener>  [(\[{] )
  | (?P<closer>  [)\]}] )
  | (?P<mark>    [;,:](?![:=]) )
  | (?P<sign>    [-+*/%&|^=<>!?.:~]+ | @ )
"""
_TOKENS = {mark: re.compile(f"(?sx) (?P<comment> {form} ){_REST}") for mark, form in _COMMENTS.items()}

_KEYWORDS: Mapping[str, str] = {
    "python": "and as assert async await class def del elif else except finally for from if import in is lambda not or"
    " raise return try while with yield",
    "javascript": "async await break case catch class const continue default do else export extends finally for"
    " function if import in instanceof let new of return static switch throw try typeof while yield",
    "typescript": "abstract as async await case catch class const declare else enum export extends for function if"
    " implements import interface is keyof let namespace new override private protected public readonly return static"
    " throw try type typeof while yield",
    "go": "break case const continue default defer else for func go if import interface map package range return"
    " select struct switch type var",
    "rust": "as async break const continue crate else enum fn for if impl in let loop match mod mut pub ref return"
    " self static struct trait type unsafe use where while",
    "java": "abstract assert break case catch class continue default do else enum extends final finally for if"
    " implements import instanceof int interface new package private protected public return static switch throw"
    " throws try void while yield",
    "cpp": "auto bool case catch class const constexpr default delete do else enum explicit for friend if inline"
    " int namespace new operator private public return static struct switch template throw try typename using void"
    " while",
    "csharp": "abstract async await base bool break case catch class const default delegate do else enum finally for"
    " foreach get if in int internal is lock namespace new operator out override private protected public readonly"
    " ref return static struct switch throw try using var virtual void while yield",
}
_KEYWORDS_OF = {name: frozenset(words.split()) for name, words in _KEYWORDS.items()}


Edit = tuple[int, int, str]
"""From where to where, and what comes there instead."""


@dataclass(frozen=True)
class Mutant:
    """A broken file, or one that is whole by luck: `line` is where the change is, counted from 0."""

    file: str
    kind: str
    number: int
    text: str
    line: int
    edit: Edit

    @property
    def name(self) -> str:
        return f"{self.file} {self.kind} {self.number}"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def samples(language: str) -> Iterator[tuple[str, str]]:
    """Name and text of each whole file of a language; TypeScript's with the markup as well."""
    for folder in (language, "typescriptreact") if language == "typescript" else (language,):
        for path in sorted((SAMPLES / folder).iterdir()):
            yield f"{folder}/{path.name}", path.read_text("utf-8")


def mutants(language: str) -> Iterator[Mutant]:
    """All mutants of a language's samples, always the same."""
    for file, text in samples(language):
        tokens = list(_tokens(text, language))
        for kind, places in _KINDS.items():
            chosen = sorted(places(text, tokens), key=lambda edit: _lot(file, kind, edit))[:EACH]
            for number, (start, end, instead) in enumerate(sorted(chosen)):
                mutated = text[:start] + instead + text[end:]
                yield Mutant(file, kind, number, mutated, text.count("\n", 0, start), (start, end, instead))


def digest(texts: Sequence[str]) -> str:
    """What tells that the mutants are those of which the truth was recorded."""
    return blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


def _lot(file: str, kind: str, edit: Edit) -> bytes:
    return blake2b(f"{file} {kind} {edit[0]}".encode(), digest_size=8).digest()


def _tokens(text: str, language: str) -> Iterator[_Token]:
    """The file's words and marks, roughly: a wrong guess makes another mutant and no wrong truth."""
    token = _TOKENS["#" if language == "python" else "//"]
    for match in token.finditer(text):
        kind = match.lastgroup or ""
        if kind == "word" and match[0] in _KEYWORDS_OF[language]:
            kind = "keyword"
        yield _Token(kind, match[0], match.start())


Places = Callable[[str, Sequence[_Token]], Iterator[Edit]]


def _without(kind: str) -> Places:
    def places(_text: str, tokens: Sequence[_Token]) -> Iterator[Edit]:
        return ((token.start, token.end, "") for token in tokens if token.kind == kind)

    return places


def _duplicated(_text: str, tokens: Sequence[_Token]) -> Iterator[Edit]:
    return ((token.start, token.start, token.text + " ") for token in tokens if token.kind == "keyword")


def _closed(_text: str, tokens: Sequence[_Token]) -> Iterator[Edit]:
    for number, token in enumerate(tokens):
        if token.kind in ("word", "number", "closer"):
            yield token.end, token.end, ")]}"[number % 3]


def _unquoted(_text: str, tokens: Sequence[_Token]) -> Iterator[Edit]:
    for number, token in enumerate(tokens):
        if token.kind == "string":
            at = token.start if number % 2 else token.end - 1
            yield at, at + 1, ""


def _truncated(text: str, tokens: Sequence[_Token]) -> Iterator[Edit]:
    return ((token.start, len(text), "") for token in tokens[len(tokens) // 8 :] if token.kind != "comment")


def _swapped(text: str, tokens: Sequence[_Token]) -> Iterator[Edit]:
    for first, second in pairwise(tokens):
        between = text[first.end : second.start]
        if "comment" not in (first.kind, second.kind) and "\n" not in between and first.text != second.text:
            yield first.start, second.end, second.text + between + first.text


def _pasted(text: str, _tokens: Sequence[_Token]) -> Iterator[Edit]:
    for number, match in enumerate(re.finditer(r"^", text, re.MULTILINE)):
        yield match.start(), match.start(), FENCE if number % 2 else PROSE


_KINDS: Mapping[str, Places] = {
    "delete opener": _without("opener"),
    "delete closer": _without("closer"),
    "delete mark": _without("mark"),
    "delete sign": _without("sign"),
    "delete name": _without("word"),
    "delete keyword": _without("keyword"),
    "repeat keyword": _duplicated,
    "insert closer": _closed,
    "unquote": _unquoted,
    "truncate": _truncated,
    "swap": _swapped,
    "paste": _pasted,
}
