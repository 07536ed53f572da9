"""Calls with their results in documentation and instructions: `f(2) // => 4`, "f(2) returns 4", `>>> f(2)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.javascript.inputs.subject import read_module, subject_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import descendants, text_of
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

_LONGEST = 8_000
_MOST = 12
_ARROW = r"(?:={1,2}>|-{1,2}>|➞|→|⇒)"
_GIVES = r"(?:returns?|returned|gives?|gave|yields?|equals?|produces?|evaluates to|is|was|resolves (?:to|with))"
_BETWEEN = re.compile(
    rf"`?[ \t]*;?[ \t]*(?://)?[ \t]*(?P<how>{_ARROW}|={{2,3}}|(?:should|must)\s+(?:be|return|give|equal|yield)"
    rf"|has to\s+(?:be|return)|{_GIVES}\b|(?<=//)|(?<=// ))[ \t]*:?[ \t]*`?",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"[`,;]*\s*(?:instead of|rather than|not|(?:but|and)?\s*(?:it\s+)?(?:should|must|ought to)\s+"
    r"(?:have\s+)?(?:been|be|return|give|equal|yield)|(?:but\s+)?(?:i\s+)?expect(?:ed|s|ing)?(?:\s+(?:is|was|to be))?)"
    r"\s*:?\s*`?",
    re.IGNORECASE,
)
_THROWS = re.compile(
    r"`?[ \t]*;?[ \t]*(?://)?[ \t]*(?:should |must )?throws?[ \t]+(?:an? |new )?`?(\w*Error)\b", re.IGNORECASE
)
_TYPED = re.compile(r"[ \t]*;?[ \t]*\n[ \t]*(?:\*[ \t]*)?(?=\S)")
_WORD = re.compile(r"-?(?:\d[\d_]*\.?\d*(?:e[-+]?\d+)?n?|\.\d+|Infinity|NaN)|true|false|null|undefined", re.IGNORECASE)
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.)*`")
_MADE = re.compile(r"new (?:Map|Set|Date)\(")
_GLOBAL = frozenset({"undefined", "NaN", "Infinity", "Map", "Set", "Date", "Math", "Number", "String", "Promise"})
_WRITTEN = re.compile(r"^>>> (.+)\n((?:throws (\w+))?.*)$", re.MULTILINE)
_ENDS = re.compile(r"[ \t`]*(?:[.,;]?[ \t]*(?:$|\n|\*/)|//|[.;,)]\s|and\b|but\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DocumentedCall:
    """A call and the expression of its expected value, or the name of the error that it throws.

    certain: Nothing else can be meant.
    """

    source: str
    want: str
    error: str = ""
    certain: bool = True

    @property
    def call(self) -> Call:
        """What runs: the call, then the expected value."""
        wanted = f"\n__out__({self.want})" if self.want else ""
        return Call("", f"__out__({self.source}){wanted}", printer="console.log")

    @property
    def text(self) -> str:
        """The example in one form, which `documented_calls` reads back."""
        return f">>> {self.source}\n{self.want or 'throws ' + self.error}\n"

    def holds(self, outcome: CallOutcome | None) -> bool:
        """True if an outcome of its call is the expected one."""
        if outcome is None:
            return False
        if self.error:
            return outcome.kind == "raised" and outcome.error.partition(" ")[0] == self.error
        got, *wanted = outcome.results or ("",)
        return outcome.kind == "ok" and [got.removeprefix("resolves ")] == wanted

    def failure(self, outcome: CallOutcome | None) -> str:
        """What is wrong, as a sentence."""
        got = "gives no result"
        if outcome is not None:
            is_value = outcome.kind == "ok" and outcome.results
            got = f"returns {outcome.results[0]}".replace("\x01", "") if is_value else str(outcome)
        return f"`{self.source}` should {f'return {self.want}' if self.want else f'throw {self.error}'}, {got}"


def documented_calls(text: str, language: str, unit: str) -> tuple[DocumentedCall, ...]:
    """The calls of a unit in the comment above it. A call with two different results is left out."""
    module = read_module(text, language)
    subject = subject_of(module, unit) if module and unit else None
    return stated_calls(re.sub(r"^[ \t]*\*+ ?", "", subject.doc, flags=re.MULTILINE), unit) if subject else ()


def stated_calls(text: str, unit: str, *, from_user: bool = False) -> tuple[DocumentedCall, ...]:
    """The calls of a unit in a text. `from_user`: what a call "returns" may be what is wrong with it.

    Without a unit, the calls that `DocumentedCall.text` wrote.
    """
    if not unit:
        return tuple(DocumentedCall(it[1], "" if it[3] else it[2], it[3] or "") for it in _WRITTEN.finditer(text))
    found: dict[str, dict[tuple[str, str], DocumentedCall]] = {}
    for each in _calls(text[:_LONGEST], unit, from_user):
        found.setdefault(re.sub(r"\s", "", each.source), {}).setdefault((each.want, each.error), each)
    return tuple(next(iter(each.values())) for each in found.values() if len(each) == 1)[:_MOST]


def _calls(text: str, unit: str, from_user: bool) -> Iterator[DocumentedCall]:
    owner, _, name = unit.rpartition(".")
    before = rf"(?:await\s+)?(?:new\s+{re.escape(owner)}\([^()\n]*\)\.|{re.escape(owner)}\.)" if owner else ""
    for match in re.finditer(rf"(?<![\w$.]){before}{re.escape(name)}\(", text):
        end = _closing(text, match.end())
        if end is None or not _is_complete(text[match.start() : end], {owner, name}):
            continue
        source = " ".join(text[match.start() : end].split())
        if thrown := _THROWS.match(text, end):
            yield DocumentedCall(source, "", thrown[1])
            continue
        is_typed = re.search(r">[ \t]*$", text[max(0, match.start() - 9) : match.start()]) is not None
        between = _BETWEEN.match(text, end)
        if between is None and is_typed and (line := _TYPED.match(text, end)):
            if thrown := _THROWS.match(text, line.end()):
                yield DocumentedCall(source, "", thrown[1])
            elif (value := _value(text, line.end())) is not None:
                yield DocumentedCall(source, value[0])
        elif between is not None and (value := _value(text, between.end())) is not None:
            yield _described(text, source, between["how"], value, from_user)


def _described(text: str, source: str, how: str, value: tuple[str, int], from_user: bool) -> DocumentedCall:
    """What a sentence expects: "returns 3 instead of 4" means 4."""
    other = _INSTEAD.match(text, value[1])
    expects = how.lower().startswith(("should", "must", "has"))
    right = _value(text, other.end()) if other is not None and not expects else None
    if right is not None:
        return DocumentedCall(source, right[0])
    uncertain = from_user and not expects and how[:1].isalpha()
    return DocumentedCall(source, value[0], certain=not uncertain and bool(_ENDS.match(text, value[1]) or expects))


def _value(text: str, start: int) -> tuple[str, int] | None:
    """The literal that begins at a place, and its end."""
    made = _MADE.match(text, start)
    if made or text[start : start + 1] in ("[", "{"):
        end = _closing(text, made.end() if made else start + 1)
    else:
        match = _QUOTED.match(text, start) or _WORD.match(text, start)
        end = match.end() if match else None
        if match and match[0][-1] == ".":
            end = match.end() - 1
    if end is None or (text[end : end + 1].isalnum()) or not _parses(f"({text[start:end]})"):
        return None
    value = text[start:end]
    is_word = value.lower() in ("true", "false", "null", "undefined")
    return (value.lower() if is_word else " ".join(value.split()) if made or value[0] in "[{" else value), end


def _is_complete(call: str, known: set[str]) -> bool:
    """Whether a call parses and uses no names but its own and those that exist everywhere."""
    parsed = tree_of(Source(call), "typescriptreact")
    if parsed is None or parsed.root.has_error:
        return False
    names = [each for each in descendants(parsed.root) if each.type == "identifier"]
    bound = {text_of(each) for each in names if each.parent is not None and "parameter" in each.parent.type}
    bound |= {text_of(each) for each in names if each.parent is not None and each.parent.type == "arrow_function"
              and each.parent.child_by_field_name("parameter") == each}  # fmt: skip
    return {text_of(each) for each in names} <= bound | known | _GLOBAL


def _parses(text: str) -> bool:
    parsed = tree_of(Source(text), "typescriptreact")
    return parsed is not None and not parsed.root.has_error


def _closing(text: str, start: int) -> int | None:
    """The end of what a bracket before `start` opened."""
    depth, at = 1, start
    while at < len(text):
        quoted = _QUOTED.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at
    return None
