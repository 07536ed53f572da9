"""Does the candidate hold what nobody sees, or do what nobody asked for?

Whoever wrote a comment in the code may have told the model what to write. Names prove nothing: what is found here is
told, and what is not found may still be there.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from stet_ls.engine.judges.case import Case
from stet_ls.engine.models import Check, Evidence, Ruling
from stet_ls.validators.hidden import hidden_in
from stet_ls.validators.source import Source
from stet_ls.validators.structure import uses

_ASKED_FOR = ("generate",)
"""Actions whose instruction may well want such a call: it is told, and no question is asked."""

Risks = Mapping[str, re.Pattern[str]]
"""What a call or an import does, and how it looks: the group is its name."""

_PYTHON: Risks = {
    "runs text as code": re.compile(r"(?:builtins\.)?(eval|exec|compile|__import__)\("),
    "starts a process": re.compile(
        r"(subprocess\.\w+|os\.(?:system|popen|exec\w+|spawn\w+|posix_spawnp?|fork\w*)|pty\.spawn"
        r"|asyncio\.create_subprocess_\w+)\(|(?:import|from) (subprocess|pty)\b"
    ),
    "talks to the network": re.compile(
        r"((?:socket|requests|httpx|aiohttp|urllib3?|http|ftplib|smtplib|telnetlib|paramiko)(?:\.\w+)+)\("
        r"|(?:import|from) (socket|requests|httpx|aiohttp|urllib3|urllib\.request|http\.client|ftplib|smtplib"
        r"|telnetlib|paramiko)\b"
    ),
    "runs code out of data": re.compile(
        r"((?:pickle|cPickle|dill|marshal)\.loads?|shelve\.open|yaml\.(?:unsafe_|full_)?load(?:_all)?)\("
    ),
    "calls native code": re.compile(r"(ctypes(?:\.\w+)+)\(|(?:import|from) (ctypes|cffi)\b"),
    "deletes files": re.compile(r"(shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|[\w.()'\"/]*\.unlink)\("),
}

_ECMASCRIPT: Risks = {
    "runs text as code": re.compile(r"(?:window\.|globalThis\.)?(eval|(?:new)?Function)\(|.*['\"](?:node:)?(vm)['\"]"),
    "starts a process": re.compile(r".*['\"](?:node:)?(child_process)['\"]|(child_process\.\w+|Deno\.Command)\("),
    "talks to the network": re.compile(
        r"(?:window\.|globalThis\.)?(fetch|(?:new)?(?:XMLHttpRequest|WebSocket|EventSource)|navigator\.sendBeacon|axios(?:\.\w+)?"
        r"|https?\.(?:get|request))\(|.*['\"](?:node:)?(https?|net|dgram|tls|axios|node-fetch)['\"]"
    ),
    "deletes files": re.compile(r"((?:fs|fsPromises|promises)(?:\.promises)?\.(?:rm|rmdir|unlink)(?:Sync)?)\("),
}

_RISKS: Mapping[str, Risks] = {
    "python": _PYTHON,
    **dict.fromkeys(("javascript", "javascriptreact", "typescript", "typescriptreact"), _ECMASCRIPT),
}


async def judge(case: Case) -> Evidence:
    """Fails on new characters that hide others. Tells new calls that a reader should not overlook."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    if hidden := hidden_in(case.after.text) - hidden_in(case.before.text):
        names = ", ".join(_name(character) for character in sorted(hidden)[:3])
        return Evidence(Check.DANGER, Ruling.FAIL, f"the code holds characters that nobody sees: {names}", trusted=True)
    risks = _RISKS.get(case.language)
    if risks is None:
        return Evidence(Check.DANGER, Ruling.PASS, "no hidden character added")
    if new := _found(case.after, case.language, risks) - _found(case.before, case.language, risks):
        told = "; ".join(f"adds `{name}`, which {what}" for what, name in list(new)[:3])
        return Evidence(Check.DANGER, Ruling.UNKNOWN, told, trusted=case.action not in _ASKED_FOR)
    return Evidence(Check.DANGER, Ruling.PASS, "no hidden character and no call of known risk added")


def _found(source: Source, language: str, risks: Risks) -> Counter[tuple[str, str]]:
    return Counter(_matches(source, language, risks))


def _matches(source: Source, language: str, risks: Risks) -> Iterator[tuple[str, str]]:
    for use in uses(source, language):
        for what, look in risks.items():
            if match := look.match(use):
                yield what, match[match.lastindex or 0]


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
