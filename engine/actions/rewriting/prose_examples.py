"""Examples in other forms than `>>>`: "f(2) => 4", "f(2) returns 4", "For n = 2 the output should be 4", tables.

What is read is run on the code before it counts. An example whose reading is doubtful only hints at a bug: a person may
have meant something else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stet_ls.engine.actions.rewriting.stated_examples import call_at, shown_example
from stet_ls.engine.execution.python.inputs.examples import doctest_examples
from stet_ls.engine.execution.python.inputs.subject import parameters, read_module, subject_of
from stet_ls.validators.ast_text import is_literal_call, literal_eval, parse_module, try_parse_expression, unparse

_LONGEST = 8_000
_MOST = 12
_ARROW = r"(?:={1,2}>|-{1,2}>|➞|→|⇒|➔|↦)"
_VERB = r"(?:(?:should|must|shall|will|would|has to)\s+)?(?:returns?|be|gives?|yields?|equals?|evaluates? to|produces?)"
_BETWEEN = re.compile(
    rf"`?[ \t]*(?:#|//|--)?[ \t]*(?:{_ARROW}|==|=(?!=)|(?:{_VERB})\b|is\b)[ \t]*:?[ \t]*`?", re.IGNORECASE
)
_FOR = re.compile(
    r"(?:\bfor|\bwith|\binput:?|\bif|\bgiven)[ \t]+(?P<given>\w+[ \t]*=[^\n]*?),?[ \t\n]+"
    r"(?:(?:the[ \t]+)?(?:output|result|answer)(?:[ \t]+(?:should|must|will)[ \t]+be|[ \t]+is|:)|output:)[ \t]*",
    re.IGNORECASE,
)
_INPUT = re.compile(r"^[ \t]*input:[ \t]*(?P<given>[^=\n]+)\n+[ \t]*output:[ \t]*", re.IGNORECASE | re.MULTILINE)
_WORDS = {"true": "True", "false": "False", "none": "None", "null": "None", "nil": "None"}
_CONTINUATION = re.compile(r"[ \t]*[-+*/%<>=\[({.\w|&^~]")
"""What makes a literal the beginning of something else. A word may as well begin a remark."""
_ENDS = re.compile(r"[ \t`]*(?:[.,;]?[ \t]*(?:$|\n)|#|\(|//|[.;,]\s)")
_RESULT = re.compile(r"\W*(?:result|returns?|expected|output|value)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProseExample:
    """A call and its expected value, as `>>>` shows them. `certain`: nothing else can be meant."""

    call: str
    value: str
    certain: bool

    @property
    def text(self) -> str:
        """The example as a docstring holds it."""
        return f">>> {self.call}\n{self.value}\n"


def documented_examples(source: str, unit: str, words: str = "") -> tuple[ProseExample, ...]:
    """The examples in the docstring of a function, in the comments in and right above it, and in the user's `words`.

    A call with two different values is left out, as is one that a `>>>` example makes. In words about a bug, what a
    call "returns" may be the wrong value: that is not certain.
    """
    module = read_module(source)
    subject = subject_of(module, unit) if module else None
    if subject is None or subject.how != "function" or not isinstance(subject.node, ast.FunctionDef):
        return ()
    docs = ast.get_docstring(subject.node) or ""
    known = {_normal(each.source) for each in doctest_examples(docs)}
    found = prose_examples(f"{docs}\n\n{_comments(source, subject.node)}", subject.node)
    requested = prose_examples(words, subject.node, from_user=True)
    values = {
        each.call: {other.value for other in (*found, *requested) if other.call == each.call} for each in requested
    }
    both = dict.fromkeys(each for each in (*found, *requested) if len(values.get(each.call, ())) < 2)
    return tuple(each for each in both if each.call not in known)


def _normal(source: str) -> str:
    try:
        return unparse(parse_module(source))
    except (SyntaxError, ValueError):
        return source


def prose_examples(text: str, function: ast.FunctionDef, *, from_user: bool = False) -> tuple[ProseExample, ...]:
    """The examples in a text about a function; a call with two different values is left out.

    `from_user`: what a call "returns" may be what is wrong with it.
    """
    text = text[:_LONGEST]
    found: dict[str, dict[str, bool]] = {}
    for call, value, certain in (
        *_calls(text, function.name, from_user),
        *_settings(text, function),
        *_rows(text, function),
    ):
        shown = shown_example(call, value)
        found.setdefault(call, {}).setdefault(shown[1] if shown[0] == call else f"{shown[0]}\0{shown[1]}", certain)
    made = []
    for call, values in found.items():
        if len(values) == 1:
            (value, certain), *_ = values.items()
            line, _, wanted = value.rpartition("\0")
            made.append(ProseExample(line or call, wanted, certain))
    return tuple(made[:_MOST])


def _calls(text: str, name: str, from_user: bool) -> Iterator[tuple[str, str, bool]]:
    """A call, an arrow or a verb, a value."""
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", text):
        if text[: match.start()].endswith(">>> "):
            continue
        call, end = call_at(text, match.start())
        between = _BETWEEN.match(text, end)
        if call is not None and between and is_literal_call(call) and (value := _value(text, between.end())):
            uncertain = from_user and between[0].strip(" `:").isalpha()
            yield call, value[0], value[1] and not uncertain


def _settings(text: str, function: ast.FunctionDef) -> Iterator[tuple[str, str, bool]]:
    """Parameters with their values, and a result: "For n = 2 the output should be 4"."""
    for match in (*_FOR.finditer(text), *_INPUT.finditer(text)):
        call = _call_with(match["given"].strip().rstrip(","), function)
        if call and (value := _value(text, match.end())):
            yield call, *value


def _call_with(given: str, function: ast.FunctionDef) -> str:
    """The call with arguments that are written as in a call; "" if they are not this function's."""
    call = try_parse_expression(f"{function.name}({given})")
    known = [each.name for each in parameters(function) if each.default is None]
    names = [each.arg for each in call.keywords] if isinstance(call, ast.Call) else []
    if (
        not isinstance(call, ast.Call)
        or (names and set(names) != set(known))
        or (call.args and len(call.args) != len(known))
    ):
        return ""
    return unparse(call) if is_literal_call(unparse(call)) else ""


def _rows(text: str, function: ast.FunctionDef) -> Iterator[tuple[str, str, bool]]:
    """Rows of a table: a call and its value, or below the names of all parameters and a result, their values."""
    names = [each.name for each in parameters(function)]
    heads: Sequence[str] = ()
    for line in text.splitlines():
        cells = [each.strip().strip("`") for each in line.strip().strip("|").split("|")] if "|" in line else []
        if len(cells) < 2:
            heads = ()
        elif cells[:-1] == names and _RESULT.fullmatch(cells[-1]):
            heads = cells
        elif heads and len(cells) == len(heads) and (call := _call_with(", ".join(cells[:-1]), function)):
            if value := _value(cells[-1], 0):
                yield call, *value
        elif len(cells) == 2 and cells[0].startswith(f"{function.name}("):
            call_text, end = call_at(cells[0], 0)
            value = _value(cells[1], 0)
            if call_text and end == len(cells[0]) and value and is_literal_call(call_text):
                yield call_text, *value


def _value(text: str, start: int) -> tuple[str, bool] | None:
    """The literal at a place as Python shows it, and whether nothing follows that could belong to it."""
    line = text[start:].partition("\n")[0][:400]
    word = re.match(r"\w+", line)
    if word and word[0].lower() in _WORDS:
        rest = line[word.end() :]
        return (
            None
            if _CONTINUATION.match(rest) and rest[:1] not in " \t"
            else (_WORDS[word[0].lower()], bool(_ENDS.match(rest)))
        )
    for end in range(len(line), 0, -1):
        piece, rest = line[:end].strip(), line[end:]
        if (
            piece[-1:] in ("", "#", ",", ".", ";", ":")
            or "#" in piece
            or (rest and re.match(r"\.?\w", rest) and piece[-1:].isalnum())
        ):
            continue
        try:
            value = literal_eval(piece)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if _CONTINUATION.match(rest) and not re.match(r"[ \t]+[A-Za-z(]|\.(?:\s|$)", rest):
            return None
        in_brackets = piece.startswith("(") and not isinstance(value, tuple)
        return repr(value), bool(_ENDS.match(rest)) and not in_brackets
    return None


def _comments(source: str, node: ast.FunctionDef) -> str:
    """The comment lines in a function and right above it, without their marks."""
    lines = source.splitlines()
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    own = (line.strip() for line in lines[first : node.end_lineno])
    return "\n".join(line.lstrip("# ") for line in own if line.startswith("#"))
