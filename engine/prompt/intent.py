"""What an instruction wants done with the code that is there: added to, changed, or some of it taken away.

Rules over plain English words, tried in the order of the table. Nothing rests on them alone: a word that no rule knows
adds, and what a reply leaves out without a word about it is found by the judge of signatures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum


class Intent(StrEnum):
    """Whether new code goes beside what is there, or a new text takes its place."""

    ADD = "add"
    CHANGE = "change"


_DEFINITIONS = (
    r"(?:functions?|methods?|class(?:es)?|helpers?|routines?|subroutines?|procedures?|constructors?|getters?|setters?"
    r"|propert(?:y|ies)|fields?|attributes?|enums?|structs?|interfaces?|traits?|types?|dataclass(?:es)?|records?"
    r"|modules?|constants?|variables?|decorators?|generators?|iterators?|predicates?|validators?|parsers?|wrappers?"
    r"|overloads?|endpoints?|routes?|handlers?|hooks?|components?|commands?|fixtures?|tests?|unit tests?|test cases?"
    r"|examples?|exceptions?|subclass(?:es)?|mixins?|macros?|impls?|factor(?:y|ies)|utilit(?:y|ies)|versions?)"
)
"""What stands on its own beside other code."""
_PARTS = (
    r"(?:(?:type |return )?(?:annotations?|hints?)|doc ?strings?|docs?|documentation|comments?|parameters?|params?"
    r"|arguments?|args?|keywords?|options?|flags?|defaults?(?: values?)?|checks?|guards?|validation"
    r"|(?:error |exception )?handling"
    r"|logging|logs?|cach(?:e|ing)|memoi[sz]ation|retr(?:y|ies)|timeouts?|(?:early )?returns?"
    r"|branch(?:es)?|cases?|clauses?|assertions?|asserts?|support|lock(?:s|ing)?|tracing|typing|types to)"
)
"""What is a part of something else: to add it is to change that."""
_FILLER = r"(?:(?!(?:to|into|onto|in|inside|for|of|that|which|with|from|on|so|and|but|or|when|if|as)\b)[\w'\"`-]+[ ,]+)"
_ADDING = (
    r"(?:add|append|insert|create|write|define|declare|introduce|generate|provide|implement|build|make|code|draft)"
)
_START = r"(?:^|[.;:!]\s+|\b(?:please|kindly|then|now|also|to|me|you|and)\s+)"
_CHANGING = (
    r"(?:rewrite|re-write|redo|replace|change|convert|turn|transform|refactor|restructure|reorgani[sz]e|rework|simplify"
    r"|shorten|clean|tidy|fix|repair|mend|correct|debug|rename|remove|delete|drop|inline|improve|optimi[sz]e|speed"
    r"|update|modify|edit|adapt|adjust|alter|tweak|extend|extract|merge|split|combine|unify|move|complete|finish|fill"
    r"|document|annotate|type|format|port|translate|migrate|modernize|upgrade|switch|swap|reverse|invert|vectori[sz]e"
    r"|parallelize|generali[sz]e|harden|secure|cache|memoi[sz]e|validate|wrap|strip|rewire|express|make|let|have"
    r"|implement|stop|avoid|allow|accept|support|handle|use|return|raise|throw|reject|ignore|skip|sort|round|include)"
)
_THIS = r"(?:this|these|it|them|the (?:selected|selection|existing|current|above|whole|entire|given|following))\b"

_RULES: tuple[tuple[Intent, str], ...] = (
    # "write this as a loop", "make it shorter", "implement the function"
    (Intent.CHANGE, rf"{_START}(?:{_CHANGING}|{_ADDING})\s+(?:{_THIS}|all\b|everything\b|the body\b|its\b)"),
    (Intent.CHANGE, rf"{_START}(?:implement|complete|finish|fill in|fill out)\s+the\b"),
    # "add a check for empty input", "add an optional parameter to the function"
    (Intent.CHANGE, rf"{_START}(?:add|append|insert|introduce|provide|include|write)\s+{_FILLER}{{0,4}}?{_PARTS}\b"
                    r"(?!\s+(?:function|method|class|helper|decorator|test)s?\b)"),
    # "add a function words", "write two small helper functions"
    (Intent.ADD, rf"{_START}{_ADDING}\s+{_FILLER}{{0,5}}?{_DEFINITIONS}\b"),
    # "add `words(text)`", "add def words"
    (Intent.ADD, rf"{_START}(?:add|append|insert)\b"),
    # "below this, ..."
    (Intent.ADD, rf"\b(?:below|under|underneath|after|beneath|beside|next to|above)\s+{_THIS}"),
    # "simplify", "shorter"
    (Intent.CHANGE, rf"^(?:please\s+|now\s+|also\s+)*{_CHANGING}\b"),
    # "a function that counts words; it must ..."
    (Intent.ADD, rf"^(?:an?|another|new)\s+{_FILLER}{{0,4}}?{_DEFINITIONS}\b"),
    # "it should return a list", "use a set instead"
    (Intent.CHANGE, rf"\b(?:this|the (?:selected|existing|current) (?:function|method|class|code|file|selection|module|"
                    rf"one)|it)\s+(?:\w+\s+)?(?:should|must|shall|needs?|has|have|is|are|does|do|can)\b|\binstead\b"
                    rf"|\b(?:rewrite|replace|refactor|rename|remove|delete)\s+{_THIS}"),
    # "function words", "two helpers: ..."
    (Intent.ADD, rf"^(?:the|one|two|three|some)?\s*{_FILLER}{{0,4}}?{_DEFINITIONS}\b"),
    (Intent.CHANGE, r"^(?:much |a bit |a little |more |less )?"
                    r"(?:short|fast|simpl|clean|clear|small|quick|safe|strict|bett)\w*er\b|^(?:more|less)\s+\w+"),
)  # fmt: skip
_COMPILED = tuple((intent, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for intent, pattern in _RULES)


def intent_of(instruction: str) -> Intent:
    """What an instruction to generate wants; ADD where no rule says anything, since that takes nothing away."""
    text = " ".join(instruction.split())
    return next((intent for intent, pattern in _COMPILED if pattern.search(text)), Intent.ADD)


_REMOVING = (
    r"remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|drop(?:s|ped|ping)?|renam(?:e|es|ed|ing)|inlin(?:e|es|ed|ing)"
    r"|replac(?:e|es|ed|ing)|eliminat(?:e|es|ed|ing)|get(?:ting)? rid of|merg(?:e|es|ed|ing)|fold(?:s|ed|ing)?"
    r"|combin(?:e|es|ed|ing)|unif(?:y|ies|ied|ying)|mov(?:e|es|ed|ing)|absorb(?:s|ed|ing)?|collaps(?:e|es|ed|ing)"
    r"|split(?:s|ting)?|swap(?:s|ped|ping)?|substitut(?:e|es|ed|ing)|strip(?:s|ped|ping)?|turn(?:s|ed|ing)?"
    r"|convert(?:s|ed|ing)?|transform(?:s|ed|ing)?|supersed(?:e|es|ed|ing)|cut(?:ting)?|take out|throw away|discard"
    r"|superfluous|redundant|obsolete|no longer (?:need|use|want)(?:ed)?|not needed|unneeded|call"
)
_KEEPING = (
    r"keep(?:s|ing)?|leav(?:e|es|ing)|retain(?:s|ing)?|preserv(?:e|es|ing)|add(?:s|ing)?|us(?:e|es|ing)|except|without"
    r"|but not|do not|don't|never|instead of|rather than|unchanged|untouched|alone|stays?|fix|mend|update|improve|test"
)
_VERB = re.compile(rf"\b(?:(?P<keeping>{_KEEPING})|(?P<removing>{_REMOVING}))\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\s*(?:it|them|this|that|these|those|both|all (?:of )?(?:them|it|these))\b", re.IGNORECASE)
_DEIXIS = re.compile(
    r"\s*(?:it|them|this|these|the (?:selected|selection|function|method|class|code|struct|type|interface|unit))\b",
    re.IGNORECASE,
)
_NEW_NAME = re.compile(
    r"\b(?:better|new|other|another|clearer|different|shorter|good|meaningful) names?\b", re.IGNORECASE
)


def released(instruction: str, name: str, *, target: str = "") -> bool:
    """Whether the words of an instruction let go of a definition: "remove foo", "rename foo to bar", "inline foo".

    `name` is qualified. `target` is the qualified name of what the instruction is about: "remove this" means that.
    """
    own = bool(target) and (name == target or name.startswith(f"{target}."))
    word = re.compile(rf"(?<![\w$]){re.escape(name.rpartition('.')[2])}(?![\w$])")
    for sentence in re.split(r"[.;!?]\s+|\n", instruction):
        if name == target and _NEW_NAME.search(sentence):
            return True
        for before, said in _removals(sentence):
            if word.search(said) or (_PRONOUN.match(said) and word.search(before)):
                return True
            if own and _DEIXIS.match(said):
                return True
    holder = name.rpartition(".")[0]
    return bool(holder) and holder != target and released(instruction, holder, target=target)


def _removals(sentence: str) -> Iterator[tuple[str, str]]:
    """What stands before each word of removal, and its object: the words up to the next verb that we know."""
    verbs = list(_VERB.finditer(sentence))
    for number, verb in enumerate(verbs):
        if not verb["removing"] or (number and _negates(verbs[number - 1], verb, sentence)):
            continue
        end = verbs[number + 1].start() if number + 1 < len(verbs) else len(sentence)
        passive = (
            verb[0].lower().endswith(("ed", "ded", "needed", "obsolete", "redundant", "superfluous", "need", "use"))
        )
        before = sentence[: verb.start()]
        yield before, (before + sentence[verb.end() : end] if passive else sentence[verb.end() : end])


def _negates(before: re.Match[str], verb: re.Match[str], sentence: str) -> bool:
    """True for "do not remove" and "without renaming"."""
    negation = before[0].lower() in ("without", "do not", "don't", "never", "but not", "instead of", "rather than")
    return negation and not sentence[before.end() : verb.start()].strip()
