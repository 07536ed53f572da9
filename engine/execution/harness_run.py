"""The input and output of the sandbox: calls as data, several texts of one module, an outcome for each pair."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

VALID_WANTED = 250
"""The number of valid calls that ends the first run; the remaining calls are spare."""
ITEMS = 1_000
"""The items of an iterator that are compared."""
_CALL = re.compile(r"__out__\((?P<callee>(?:await |new )*[\w.$]+)\((?P<arguments>[\w$, .*=]*)\)\)(?P<end>;?)")
_BINDING = re.compile(r"(?:const |let )?(?P<name>[A-Za-z_$][\w$]*) = (?P<value>.+?);?")
_NAME = re.compile(r"(?<![\w$])[A-Za-z_$][\w$]*(?!\s*=)(?![\w$])")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_WRONG = ("TypeError", "AttributeError", "NameError", "UnboundLocalError", "ReferenceError")
"""Errors raised by an input of a wrong kind."""
_WRONG_KIND = frozenset({"TypeError", "AttributeError"})
ACCIDENTS = frozenset({
    "IndexError", "ZeroDivisionError", "KeyError", "ValueError", "AssertionError", "OverflowError",
})  # fmt: skip
"""Errors of operations on operands of a right kind, and of assertions: the code is not meant for the input."""
_MADE = re.compile(
    r"'(?:map|filter|zip|enumerate|reversed|dict_keys|dict_values|dict_items|re\.Match|builtin_function_or_method|method)'"
)
"""What the code itself made, as an error names it: no input is of these kinds."""
_UNPACKED = re.compile(r"(too many|not enough) values to unpack")


_BINDS = " = "


@dataclass(frozen=True, slots=True)
class Call:
    """One input: `setup` binds `names` to arguments, `body` is run and judged. `__out__(x)` in it marks a result.

    Both are text that runs with the module's own names. `origin` says where the input was taken from, `printer` how the
    language prints. A call made `again` repeats an input that is counted already. `shown` is shown instead of a call
    that cannot be written down, as it uses captured objects or a secret; `is_secret`: its results are not shown either.
    """

    setup: str
    body: str
    names: tuple[str, ...] = ()
    origin: str = ""
    printer: str = "print"
    again: bool = False
    shown: str = ""
    is_secret: bool = False

    @property
    def snippet(self) -> str:
        """The call as a person would type it, to run after the module's own text: literals stand in the call."""
        return self.shown or self._printed(*self._with_values())

    @property
    def expression(self) -> str:
        """The call without the printing of its result: "sign(-8)". The snippet if that is no single line."""
        setup, body = self._with_values()
        line = body.removesuffix(";")
        inner = line.removeprefix("__out__(").removesuffix(")")
        if self.shown or len(inner) != len(line) - len("__out__()") or "__out__(" in inner or not _is_closed(inner):
            return self.snippet
        return "\n".join(filter(None, (setup, inner)))

    @property
    def named_snippet(self) -> str:
        """The call with its arguments bound to names, for what became of them."""
        return self.shown or self._printed(self.setup, self.body)

    def bindings(self) -> dict[str, str]:
        """The text that each of its `names` is bound to, in the order of the setup."""
        pairs = (line.partition(_BINDS) for line in self.setup.splitlines())
        return {name: text for name, _, text in pairs if name in self.names}

    def with_bindings(self, texts: Mapping[str, str], origin: str = "") -> Call:
        """The call with other texts for some of its names, of another origin if one is given; other lines stay."""
        lines = ((line, line.partition(_BINDS)[0]) for line in self.setup.splitlines())
        setup = "\n".join(f"{name}{_BINDS}{texts[name]}" if name in texts else line for line, name in lines)
        return replace(self, setup=setup, origin=origin or self.origin)

    def _printed(self, setup: str, body: str) -> str:
        return "\n".join(filter(None, (setup, body))).replace("__out__(", f"{self.printer}(")

    def _with_values(self) -> tuple[str, str]:
        """The setup and the body, with values that the body names once, as an argument, put into it."""
        call = _CALL.fullmatch(self.body)
        lines = [_BINDING.fullmatch(line) for line in self.setup.splitlines()]
        if call is None or not all(lines):
            return self.setup, self.body
        bound = [(line[0], line["name"], line["value"]) for line in lines if line]
        used = Counter(_NAME.findall(call["arguments"]))
        used.update(name for _, _, value in bound for name in _NAME.findall(_QUOTED.sub("", value)))
        given = {
            name: value for _, name, value in bound if used[name] == 1 and name in _NAME.findall(call["arguments"])
        }
        made = _NAME.sub(lambda found: given.get(found[0], found[0]), call["arguments"])
        rest = [line for line, name, _ in bound if name not in given]
        return "\n".join(rest), f"__out__({call['callee']}({made})){call['end']}"


def _is_closed(text: str) -> bool:
    """Whether each parenthesis of a line is closed in it; False if its texts hold others."""
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0 or character == "\n":
            return False
    return depth == 0


@dataclass(frozen=True, slots=True)
class CapturedData:
    """Objects with which tests called the code: `data` are pickled dictionaries in base64, for the sandbox only.

    A call's setup reads them as `__captured__[number]`. `module` is the name under which the tests imported the target,
    `files` the project's modules that loading needs, with their paths from the working folder.
    """

    data: tuple[str, ...] = field(default=(), repr=False)
    module: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GrownCall:
    """The call of this number with larger arguments: its body, and the setups for two sizes."""

    number: int
    body: str
    smaller: str
    larger: str


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of one call. `kind`: ok, raised, late, limit, died or reached (it would have accessed the outside).

    `results`, `variables`, `printed` and `aliases` are bounded texts, empty if all compared texts agree.
    `aliases` names which results, arguments and parts of them are the same object, if old and new are compared.
    `lacks` is the module whose absence made an import fail. `partial`: of an iterator only the first items were seen.
    `order` encodes the order of dictionary keys, if it was checked. `leaks` counts files that nothing closed.
    `broken_by` is the error that ended an iterator. `bases` are the classes of the error, its own aside.
    `uses` are the kinds of use of doubles by path, if each text ran once (`python/inside/values/doubles.py`).
    """

    kind: str
    digest: str
    error: str = ""
    message: str = ""
    results: tuple[str, ...] = ()
    variables: str = ""
    printed: str = ""
    opaque: bool = False
    partial: bool = False
    broken_by: str = ""
    order: str = ""
    aliases: str = ""
    lacks: str = ""
    leaks: int = 0
    bases: tuple[str, ...] = field(default=(), compare=False)
    uses: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @property
    def valid(self) -> bool:
        """Whether the code accepted the input, even if it raised an error of its own."""
        is_broken = self.broken_by in _WRONG
        return (self.kind == "ok" and not is_broken) or (self.kind == "raised" and self.error not in _WRONG)

    @property
    def fails_on_made(self) -> bool:
        """Whether an error is about what the code itself made, so that the input is not to blame."""
        return self.kind == "raised" and self.error in _WRONG_KIND and bool(_MADE.search(self.message))

    @property
    def is_wrong_kind(self) -> bool:
        """Whether an error shows that the input was of a kind that the code is not meant for."""
        is_of_input = self.error in _WRONG_KIND and not self.fails_on_made
        return is_of_input or (self.error == "ValueError" and bool(_UNPACKED.match(self.message)))

    def fails_by_accident(self, promised: Collection[str]) -> bool:
        """Whether an operation refused its operands, or an index or a divisor was missing, which is not `promised`."""
        is_meant = not {self.error, *self.bases}.isdisjoint(promised)
        return self.kind == "raised" and (self.is_wrong_kind or self.error in ACCIDENTS) and not is_meant

    def __str__(self) -> str:
        words = {"late": "does not finish in time", "died": "ends the process", "reached": f"stopped: {self.message}"}
        if self.kind in words:
            return words[self.kind]
        if self.kind == "limit" and not self.error:
            return "runs out of memory"
        output = f"prints {self.printed!r}" if self.printed else ""
        if self.kind in ("raised", "limit"):
            outcome = f"raises {self.error}" + (f"({self.message!r})" if self.message else "")
        else:
            outcome = ", ".join(self.results).replace("\x01", "") or "None"
        return f"{outcome}, {output}" if output else outcome


@dataclass(frozen=True, slots=True)
class HarnessRun:
    """The same calls against several texts of one module; the others are compared with the first.

    `path` is where the module is, `name` its dotted name, `roots` the folders it is imported from. `warm` are
    packages that may be loaded once for all texts. `private`: names with a leading underscore count in objects.
    `rounds` > 0 measures time instead of comparing. Seconds are wall time, `cpu` is the processor time that the first
    text may take for a call; the others may take forty times that. `plain`: each text runs once, whatever the result.
    `globals` are variables of the module that are compared after each call, like its arguments. `probed` are the first
    two texts with their numbers of probes, which call `probe` with their number (`python/probes.py`).
    `messages` are the errors whose text counts. `grown` are calls of which the growth of time is measured.
    Of an iterator, the first `items` are compared. `former` are other files as they were, by their paths relative to
    the working folder: the first text, with probes or without, finds these. `named` are numbers, texts and None that
    the texts compare with, in one order for all of them; `caught` are the errors that they handle, by name.
    """

    texts: tuple[str, ...]
    calls: tuple[Call, ...]
    target: str
    path: Path
    name: str
    roots: tuple[Path, ...] = ()
    warm: tuple[str, ...] = ()
    private: bool = True
    reads: bool = False
    seconds: float = 6.0
    cpu: float = 0.05
    wanted: int = VALID_WANTED
    rounds: int = 0
    plain: bool = False
    globals: tuple[str, ...] = ()
    probed: tuple[tuple[str, int], ...] = ()
    probe: str = ""
    captured: CapturedData = CapturedData()
    messages: tuple[str, ...] = ()
    grown: tuple[GrownCall, ...] = ()
    items: int = ITEMS
    former: Mapping[str, str] = field(default_factory=dict, repr=False)
    named: tuple[int | str | None, ...] = ()
    caught: tuple[str, ...] = ()

    def to_json(self, nonce: str, **more: Any) -> bytes:
        """The job as both `inside/` programs read it; `more` is what only one of them uses.

        TypeError if a name in `more` is that of a field.
        """
        job = dict(**more, **{each.name: getattr(self, each.name) for each in fields(self)})
        job |= {
            "nonce": nonce,
            "mode": "time" if self.rounds else "plain" if self.plain else "compare",
            "calls": [[call.setup, call.body, call.names] for call in self.calls],
            "path": str(self.path),
            "roots": [str(root) for root in self.roots],
            "stall": min(4.0, self.seconds),
            "captured": asdict(self.captured),
            "former": {"of": [_digest(text) for text in self._first_texts()], "texts": self.former},
            "grown": [[each.number, each.body, each.smaller, each.larger] for each in self.grown],
        }
        return json.dumps(job).encode()

    def _first_texts(self) -> Iterator[str]:
        yield from self.texts[:1] if self.former else ()
        yield from (text for text, _ in self.probed[:1] if self.former)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class VersionOutcomes:
    """What one text did: `problem` is why it could not be loaded, `outcomes` are by the call's number.

    `side_effects` is what it did while loading, or after a call, that the first text did not do. `lacks` is the module
    whose absence kept it from loading. `is_late`: there was no time to load it, as on a busy machine, or no way: this
    shows nothing about it.
    """

    problem: str
    outcomes: Mapping[int, CallOutcome] = field(default_factory=dict)
    side_effects: str = ""
    lacks: str = ""
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class HarnessReport:
    """The results of a run. `left_out` counts the calls without a comparable outcome in the first text, by reason.

    `rounds` are the seconds that old and new took for `inputs` first calls; `again` those for the second calls, as far
    as there was time. `warm` is false if each text could be loaded only once: a first call then also pays for what it
    loads. `built` are the texts as they ran, if they had to be translated first. `unseen` are the probes of the old and
    the new text that no call reached; None if unknown; `unseen_alike` those that no call reached which ended alike, if
    some did not. `growth` has a row for each enlarged call (`times/growth.py`).
    """

    texts: tuple[VersionOutcomes, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    rounds: tuple[tuple[float, float], ...] = ()
    again: tuple[tuple[float, float], ...] = ()
    inputs: int = 0
    warm: bool = True
    built: tuple[str, ...] = ()
    unseen: tuple[frozenset[int], frozenset[int]] | None = None
    unseen_alike: tuple[frozenset[int], frozenset[int]] | None = None
    growth: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class NotRunnable:
    """Nothing could run; `reason` is a clause for the user."""

    reason: str
