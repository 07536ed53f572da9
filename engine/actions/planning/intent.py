"""What a request in plain words asks for, by rules: a model is asked only for what they leave open."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from stet_ls.engine.actions.planning.libraries import is_known, misspelled_libraries, named_libraries
from stet_ls.engine.actions.planning.project import Project
from stet_ls.engine.api.actions import STEPS, spec_of
from stet_ls.engine.api.arms import Capability
from stet_ls.engine.api.plan import PlanConfidence, RequestIntent, TaskComplexity

_VAGUE = frozenset(
    re.findall(
        r"\w+",
        "a all an and any anything at better bit bug bugs can change clean cleaner code could do enhance "
        "everything file fine fix for good great help i improve improved in is issue issues it just kindly "
        "little look make me mend more much my nice nicer now of on optimize our over perfect please polish "
        "problem problems project refactor right same should some something stuff that the them these thing "
        "things this to up update us want we with work works would you your great amazing again somehow "
        "properly correctly",
    )
)
"""Words that say neither what is to change nor how."""
_WORDS = re.compile(r"[A-Za-z_][\w'.-]*")
_CLAUSE = re.compile(
    r"(?:[.;](?=\s|$)|\n|\b(?:and then|then|and also|also|afterwards)\b|,?\s+and\s+(?=[a-z]+\s))", re.IGNORECASE
)
_CONSTRAINT = re.compile(
    r"\b(?:do not|don't|must not|must|without|keep|only|never|no longer than|at most|at least|unchanged|instead of)\b",
    re.IGNORECASE,
)
_MANY_CLAUSES = 4

_CAPABILITIES: tuple[tuple[Capability, re.Pattern[str]], ...] = (
    (Capability.TESTS, re.compile(r"\b(?:unit |property )?tests?\b|\btest (?:cases?|suite)\b|\bcover(?:age)?\b", re.I)),
    (Capability.DATA, re.compile(r"\b(?:csv|tsv|excel|parquet|dataset|statistics|plot|chart|graph|histogram)\b", re.I)),
    (Capability.EXECUTION, re.compile(r"\b(?:run|execute|plot|chart|compute|convert (?:the|these) files?)\b", re.I)),
    (Capability.VALIDATION, re.compile(r"\b(?:check|verify|validate|make sure|ensure)\b", re.I)),
    (Capability.REVIEW, re.compile(r"\breview\b", re.I)),
    (Capability.SEARCH, re.compile(r"\b(?:find|search|look up|where|everywhere|all callers|all uses|usages)\b", re.I)),
    (Capability.SAFETY, re.compile(r"\b(?:secrets?|security|secure|vulnerab\w+|injection|passwords?)\b", re.I)),
)  # fmt: skip

_PLAIN = {name: re.compile(rf"^(?:please\s+)?(?:{begins})", re.I) for name in STEPS if (begins := spec_of(name).begins)}
"""The actions with what a request begins with that is plainly one of them."""


def request_intent(words: str, constraints: Sequence[str], about: Project, selected: str = "") -> RequestIntent:
    """The intent of a request. `selected` is the unit that the user selected, "" for none."""
    words = " ".join(words.split())
    named = named_units(words, about)
    clauses = [each for each in _CLAUSE.split(words) if each and each.strip()]
    parts = [each.strip() for each in clauses]
    libraries = [name for name in named_libraries(words) if is_known(name)]
    libraries += [name for name in misspelled_libraries(words) if not _is_defined(name, about)]
    limits = [each for each in parts if _CONSTRAINT.search(each)]
    capabilities = tuple(each for each, pattern in _CAPABILITIES if pattern.search(words))
    files = {file for file, _ in named} | {name for name in about.files if _names_file(name, words)}
    if len(clauses) > _MANY_CLAUSES or len(files) > _MANY_CLAUSES:
        complexity = TaskComplexity.COMPLEX
    elif len(clauses) == 1 and len(files) <= 1 and len(named) <= 1:
        complexity = TaskComplexity.SIMPLE
    else:
        complexity = TaskComplexity.MEDIUM
    return RequestIntent(
        goal=", ".join((*parts[:1], *(each for each in parts[1:] if each not in limits))),
        constraints=tuple(dict.fromkeys((*constraints, *limits))),
        capabilities=capabilities if set(capabilities) & _WITHOUT_CODE else (Capability.CODE, *capabilities),
        libraries=tuple(libraries),
        complexity=complexity,
        question=_question(words, about, selected),
        confidence=_confidence(words, named, files, complexity),
    )


def _is_defined(name: str, about: Project) -> bool:
    """Whether a name is a unit or a module of the project."""
    modules = {part.partition(".")[0] for file in about.files for part in file.split("/")}
    return name in modules or any(name in about.defined(file) for file in about.defining({name}))


def _names_file(name: str, words: str) -> bool:
    """Whether a request names a file of the project, by its path or the last part of it."""
    return re.search(rf"(?<![\w.]){re.escape(name.rpartition('/')[2])}(?!\w)", words) is not None


def _confidence(
    words: str, named: Sequence[tuple[str, str]], files: Collection[str], complexity: TaskComplexity
) -> PlanConfidence:
    begins = any(pattern.search(words) for pattern in _PLAIN.values())
    if begins and len(named) == 1 and complexity is TaskComplexity.SIMPLE:
        return PlanConfidence(0.9, 1.0, f"rules: one action on `{named[0][1]}`")
    if named or files:
        known = f"`{named[0][1]}`" if named else sorted(files)[0]
        return PlanConfidence(0.6, 0.9, f"rules: names {known}, of the project")
    return PlanConfidence(0.3, 0.8, "rules: names no file or function of the project")


_WITHOUT_CODE = frozenset({Capability.REVIEW})


def plain_action(words: str, intent: RequestIntent, about: Project) -> tuple[str, str, str] | None:
    """The action, file and unit of a request that needs one step; None if a model has to plan it."""
    named = named_units(words, about)
    if intent.complexity is not TaskComplexity.SIMPLE or len(named) != 1:
        return None
    action = next((name for name, pattern in _PLAIN.items() if pattern.search(words.strip())), None)
    return None if action is None else (action, *named[0])


def named_units(words: str, about: Project) -> list[tuple[str, str]]:
    """The units of the project that a request names, with their files: qualified names, or unambiguous last parts."""
    mentioned = {word.strip(".'-") for word in _WORDS.findall(words)} - _VAGUE
    named = []
    for file in about.defining(mentioned):
        for unit in about.defined(file):
            if unit in mentioned or (unit.rpartition(".")[2] in mentioned and _is_name(unit.rpartition(".")[2], words)):
                named.append((file, unit))
    return named if len({unit for _, unit in named}) == len(named) else []


def _is_name(unit: str, words: str) -> bool:
    """Whether a word of a request that is also the name of a unit is meant as one: plain English words are not."""
    return (
        "_" in unit
        or any(each.isupper() for each in unit[1:])
        or re.search(rf"`{unit}\b|\b{unit}\(", words) is not None
    )


def _question(words: str, about: Project, selected: str) -> str:
    """What to ask first, because the words say neither what to change nor how it is to be; "" if they do."""
    if any(word.lower().strip(".'-") not in _VAGUE for word in _WORDS.findall(words)) or '"' in words or "`" in words:
        return ""
    unit = selected or next(_units(about), "")
    where = (
        f"`{unit}`" if selected else f"which code (a file, or a function such as `{unit}`)" if unit else "which code"
    )
    missing = f"what {where} should do differently" if selected else f"{where}, and what it should do differently"
    return (
        f'What is meant by "{words}"? The request does not say {missing}: a bug, its speed, its clarity, or its tests.'
    )


def _units(about: Project) -> Iterator[str]:
    for file in about.files:
        yield from about.defined(file)
