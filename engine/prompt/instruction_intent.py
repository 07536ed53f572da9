"""What an instruction asks for: to add to, change, or remove existing code.

Rules over plain English words, tried in the order of the table. They are not the only safeguard: without a matching
rule the intent is to add, and the judge of signatures finds definitions that a reply drops without being asked.
"""

from __future__ import annotations

import re
from enum import StrEnum


class GenerateIntent(StrEnum):
    """Whether new code is added to the existing code, or replaces it."""

    ADD = "add"
    CHANGE = "change"


_DEFINITIONS = (
    r"(?:functions?|methods?|class(?:es)?|helpers?|routines?|subroutines?|procedures?|constructors?|getters?|setters?"
    r"|propert(?:y|ies)|fields?|attributes?|enums?|structs?|interfaces?|traits?|types?|dataclass(?:es)?|records?"
    r"|modules?|constants?|variables?|decorators?|generators?|iterators?|predicates?|validators?|parsers?|wrappers?"
    r"|overloads?|endpoints?|routes?|handlers?|hooks?|components?|commands?|fixtures?|tests?|unit tests?|test cases?"
    r"|examples?|exceptions?|subclass(?:es)?|mixins?|macros?|impls?|factor(?:y|ies)|utilit(?:y|ies)|versions?)"
)
"""Words for definitions, which are added next to other code."""
_PARTS = (
    r"(?:(?:type |return )?(?:annotations?|hints?)|doc ?strings?|docs?|documentation|comments?|parameters?|params?"
    r"|arguments?|args?|keywords?|options?|flags?|defaults?(?: values?)?|checks?|guards?|validation"
    r"|(?:error |exception )?handling"
    r"|logging|logs?|cach(?:e|ing)|memoi[sz]ation|retr(?:y|ies)|timeouts?|(?:early )?returns?"
    r"|branch(?:es)?|cases?|clauses?|assertions?|asserts?|support|lock(?:s|ing)?|tracing|typing|types to)"
)
"""Words for parts of a definition: adding one changes the definition."""
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

_RULES: tuple[tuple[GenerateIntent, str], ...] = (
    # "write this as a loop", "make it shorter", "implement the function"
    (GenerateIntent.CHANGE, rf"{_START}(?:{_CHANGING}|{_ADDING})\s+(?:{_THIS}|all\b|everything\b|the body\b|its\b)"),
    (GenerateIntent.CHANGE, rf"{_START}(?:implement|complete|finish|fill in|fill out)\s+the\b"),
    # "add a check for empty input", "add an optional parameter to the function"
    (GenerateIntent.CHANGE,
     rf"{_START}(?:add|append|insert|introduce|provide|include|write)\s+{_FILLER}{{0,4}}?{_PARTS}\b"
     r"(?!\s+(?:function|method|class|helper|decorator|test)s?\b)"),
    # "add a function words", "write two small helper functions"
    (GenerateIntent.ADD, rf"{_START}{_ADDING}\s+{_FILLER}{{0,5}}?{_DEFINITIONS}\b"),
    # "add `words(text)`", "add def words"
    (GenerateIntent.ADD, rf"{_START}(?:add|append|insert)\b"),
    # "below this, ..."
    (GenerateIntent.ADD, rf"\b(?:below|under|underneath|after|beneath|beside|next to|above)\s+{_THIS}"),
    # "simplify", "shorter"
    (GenerateIntent.CHANGE, rf"^(?:please\s+|now\s+|also\s+)*{_CHANGING}\b"),
    # "a function that counts words; it must ..."
    (GenerateIntent.ADD, rf"^(?:an?|another|new)\s+{_FILLER}{{0,4}}?{_DEFINITIONS}\b"),
    # "it should return a list", "use a set instead"
    (GenerateIntent.CHANGE,
     rf"\b(?:this|the (?:selected|existing|current) (?:function|method|class|code|file|selection|module|"
     rf"one)|it)\s+(?:\w+\s+)?(?:should|must|shall|needs?|has|have|is|are|does|do|can)\b|\binstead\b"
     rf"|\b(?:rewrite|replace|refactor|rename|remove|delete)\s+{_THIS}"),
    # "function words", "two helpers: ..."
    (GenerateIntent.ADD, rf"^(?:the|one|two|three|some)?\s*{_FILLER}{{0,4}}?{_DEFINITIONS}\b"),
    (GenerateIntent.CHANGE, r"^(?:much |a bit |a little |more |less )?"
                    r"(?:short|fast|simpl|clean|clear|small|quick|safe|strict|bett)\w*er\b|^(?:more|less)\s+\w+"),
)  # fmt: skip
_COMPILED = tuple((intent, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for intent, pattern in _RULES)


def intent_of(instruction: str) -> GenerateIntent:
    """The intent of an instruction to generate; ADD if no rule matches, since that removes nothing."""
    return _matching(instruction) or GenerateIntent.ADD


def is_addition(instruction: str) -> bool:
    """True if a rule for additions matches."""
    return _matching(instruction) is GenerateIntent.ADD


def _matching(instruction: str) -> GenerateIntent | None:
    text = " ".join(instruction.split())
    return next((intent for intent, pattern in _COMPILED if pattern.search(text)), None)


_END = r"remove|delete|drop|erase|eliminate|discard|get rid of|take out|throw away|cut out"
_BECOME = (
    r"rename|inline|replace|merge|fold|combine|unify|collapse|absorb|split|swap|substitute|supersede|move|turn|convert"
)
_KIND = (
    r"(?:functions?|methods?|class(?:es)?|constants?|variables?|types?|structs?|interfaces?|enums?|traits?|fields?"
    r"|propert(?:y|ies)|helpers?|definitions?|attributes?|modules?)"
)
_REQUEST_OPENING = (
    r"(?:please|kindly|now|then|also|just|first|finally|so|(?:can|could|would|will) you"
    r"|you (?:can|may|should|must|could)|(?:i|we) (?:want|need|would like)(?: you)? to|i'd like(?: you)? to"
    r"|let's|let us|(?:we|i) (?:can|should|must)|by)"
)
_COMMAND = re.compile(
    rf"(?:^|[,:;(]|\band\b|\b{_REQUEST_OPENING}\b)\W*(?:{_REQUEST_OPENING}\W+)*"
    rf"(?P<verb>{_END}|{_BECOME}|(?:remov|delet|eras|renam|inlin|replac|merg|mov)ing|(?:dropp|splitt|fold)ing)\b",
    re.IGNORECASE,
)
"""A verb of removal as a command: at the start of a clause, not in the description of a function."""
_SUBORDINATE = re.compile(r"\b(?:that|which|who|to|for|if|when|where|while|unless|without|not|never|don't)\b", re.I)
_OPENINGS = re.compile(rf"\b{_REQUEST_OPENING}\b", re.IGNORECASE)
_DETERMINERS = (
    r"(?:(?:the|both|our|my|your|this|that|these|those|old|unused|existing|obsolete|dead|legacy|deprecated|private"
    rf"|public|now|also|(?P<kind>{_KIND}))\s+)*"
)
_NAME = r"`?[A-Za-z_$][\w$]*(?:(?:\.|::|#)[\w$]+)*(?:\([^()]*\))?`?"
_OBJECTS = re.compile(
    rf"\s*{_DETERMINERS}(?P<names>{_NAME}(?:\s*(?:,\s*(?:and\s+)?|\band\s+|\bor\s+)"
    rf"{_DETERMINERS.replace('?P<kind>', '?:')}{_NAME})*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_FOLLOWING = (
    r"\s*(?:$|[,.;:!?)(\u2014-]|(?:and|or|but|into|to|with|by|as|too|because|since|completely|entirely|altogether|please"
    r"|now|again|there|here)\b)"
)
_AFTER_A_NAME = re.compile(rf"{_FOLLOWING}|\s*{_KIND}\b", re.IGNORECASE)
"""What may follow a plain word used as a name: one in "remove words", not in "remove words of one letter"."""
_USELESS = (
    r"(?:\s+(?:is|are|has become|have become|became)(?:\s+\w+)?\s+(?:no longer (?:needed|used|wanted)"
    r"|not (?:needed|used)|unneeded|unused|superfluous|redundant|obsolete|dead)\b)"
)
_PASSIVE = (
    r"(?:\s+(?:can|should|must|may|could|needs to|has to|have to)(?:\s+\w+)?\s+(?:be\s+)?"
    r"(?:removed|deleted|dropped|renamed|inlined|merged|replaced|go)\b)"
)
_THAT = re.compile(
    rf"\s*(?:it|them|both|this|these|(?:this|these|the|the selected) (?:{_KIND}|code|selection|unit))(?={_FOLLOWING})",
    re.IGNORECASE,
)
"""Words for the selected code."""
_NAMING = re.compile(r"\bcall (?:it|this)\s+`?\w+`?|\b(?:a|another|new) (?:\w+ )?name\b", re.IGNORECASE)


def permits_removal(instruction: str, name: str, *, target: str = "") -> bool:
    """Whether the instruction permits removing a definition: "remove foo", "rename foo to bar", "foo is not needed".

    `name` is qualified. `target` is the qualified name of the instruction's subject, which "remove this" refers to.
    The description of a function ("a function that removes words") permits no removal, and neither does an
    instruction in another language than English: then a person decides on the edit.
    """
    sentences = [each.strip() for each in re.split(r"[.;!?]\s+|\n", instruction)]
    if any(_lets_go(sentence, name, target) for sentence in sentences if sentence):
        return True
    holder = name.rpartition(".")[0]
    return bool(holder) and holder != target and permits_removal(instruction, holder, target=target)


def _lets_go(sentence: str, name: str, target: str) -> bool:
    if name == target and _NAMING.search(sentence):
        return True
    own = bool(target) and (name == target or name.startswith(f"{target}."))
    word = re.escape(name.rpartition(".")[2])
    useless = re.search(rf"(?<![\w$.]){_mention(word)}(?:\s+{_KIND})?{_USELESS}", sentence)
    passive = re.search(rf"(?<![\w$.]){_mention(word)}(?:\s+{_KIND})?{_PASSIVE}", sentence)
    for found in (useless, passive):
        if found and not _SUBORDINATE.search(sentence[: found.start()]):
            return True
    for command in _COMMAND.finditer(sentence):
        before = sentence[: command.start("verb")]
        if _SUBORDINATE.search(_OPENINGS.sub("", before)):
            continue
        rest = sentence[command.end() :]
        if _THAT.match(rest):
            if useless or passive or (own and not re.search(r"\w", _OPENINGS.sub("", before))):
                return True
            if command["verb"].lower().startswith(("renam", "inlin")) and own:
                return True
            if re.search(rf"(?<![\w$.]){_mention(word)}{_USELESS}", before):
                return True
        elif _is_object(word, rest):
            return True
    return False


def _mention(word: str) -> str:
    return rf"`?(?:[\w$]+(?:\.|::|#))*{word}(?:\([^()]*\))?`?(?![\w$])"


def _is_object(word: str, rest: str) -> bool:
    """Whether a name is an object of the verb before it."""
    objects = _OBJECTS.match(rest)
    if objects is None:
        return False
    found = re.search(rf"(?<![\w$.#:])({_mention(word)})", objects["names"])
    if found is None:
        return False
    is_code = objects["kind"] is not None or re.search(r"[`_().$#:A-Z\d]", found[1]) is not None
    return is_code or found.end() < len(objects["names"].rstrip()) or _AFTER_A_NAME.match(objects["rest"]) is not None
