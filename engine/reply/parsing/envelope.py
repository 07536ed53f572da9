"""Recognizes replies that are a JSON object with code in it, and error pages instead of replies."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from stet_ls.engine.reply.languages.language_table import for_language

_KEYS = {
    "code": ("code", "solution", "new_code", "replacement", "updated_code"),
    "tests": ("tests", "test", "test_code"),
    "plan": ("plan", "explanation", "reasoning"),
    "notes": ("notes", "warnings"),
}
_CODE_KEY = re.compile(r'"(?:' + "|".join(_KEYS["code"] + _KEYS["tests"]) + r')"[ \t]*:\s{0,80}"')
_CODE_END = re.compile(r'"\s{0,80}(?:,\s{0,80}"\w{1,30}"[ \t]*:|\}\s{0,80}(?:`{3,}[ \t]*)?\Z)')
_PAGE = re.compile(r"\s*(?:<!doctype html|<html\b)", re.IGNORECASE)
_FAULT = re.compile(
    r"<(?:title|h1)[^>]{0,80}>[^<]{0,120}(?:\b[45]\d\d\b|error|bad gateway|unavailable|time-?out|forbidden|denied)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class JsonReply:
    """The parts of a JSON reply. `cut`: the code's string has no end."""

    code: str = ""
    tests: str = ""
    plan: str = ""
    notes: tuple[str, ...] = ()
    cut: bool = False


def is_error_page(text: str, language: str) -> bool:
    """True for the HTML page of a proxy. If HTML is the language, only if the page mentions an error."""
    if not _PAGE.match(text):
        return False
    return not for_language(language).is_page or _FAULT.search(text[:4000]) is not None


def open_json(text: str) -> JsonReply | None:
    """The parts of a reply that is a JSON object with code in it, or None. Literal line ends in strings are allowed."""
    body = text.strip()
    start = body.find("{")
    key = _CODE_KEY.search(body)
    if key is None or start < 0 or start > key.start() or body[start + 1 : key.start()].strip()[:1] not in ("", '"'):
        return None
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(body, start)
    except (ValueError, RecursionError):
        return _lenient(body, key)
    return _of(found) if isinstance(found, dict) else None


def _of(found: dict[str, object]) -> JsonReply:
    def part(name: str) -> str:
        value = next((found[key] for key in _KEYS[name] if isinstance(found.get(key), str)), "")
        return str(value)

    notes = next((found[key] for key in _KEYS["notes"] if found.get(key)), ())
    items = notes if isinstance(notes, list) else [notes] if isinstance(notes, str) else []
    return JsonReply(part("code"), part("tests"), part("plan"), tuple(str(item) for item in items if str(item).strip()))


def _lenient(body: str, key: re.Match[str]) -> JsonReply:
    """The code of an object that is not valid JSON: with unescaped quotes inside, or without an end."""
    end = _CODE_END.search(body, key.end())
    inner = body[key.end() : len(body) if end is None else end.start()]
    if "\n" not in inner:
        try:
            inner = json.loads('"' + re.sub(r'(?<!\\)"', lambda _: '\\"', inner) + '"')
        except ValueError:
            return JsonReply(cut=True)
    else:
        inner = inner.replace('\\"', '"')
    name = "tests" if any(f'"{name}"' in key[0] for name in _KEYS["tests"]) else "code"
    return JsonReply(**{name: inner, "cut": end is None})  # type: ignore[arg-type]
