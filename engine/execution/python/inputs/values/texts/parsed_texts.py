"""Texts for code that has them parsed: JSON for `json.loads`, an address for `ip_address`, a codec for `decode`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping

_DATES = (
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "Thu, 29 Feb 2024 23:59:59 +0130", "Sat, 01 Jan 00 00:00:00 GMT", "Fri, 31 Dec 69 12:00:00 GMT",
)  # fmt: skip
_URLS = (
    "http://user@example.com:8080/a/b;c?d=1&d=2&e=#f", "https://example.com", "/a%20b?c=%2F", "mailto:a@b.c", "a/../b",
    "a=1&b=2&a=3", "?x=y",
)  # fmt: skip
_CODECS = ("utf-8", "latin-1", "ascii", "utf-16", "no-such-codec")
PARSED: Mapping[str, tuple[str, ...]] = {
    "loads": ('{"a": 1}', "[1, 2]", '{"a": {"b": [1, "x"]}, "c": null}', '"a"', "{"),
    "literal_eval": ("[1, 'a']", "{'a': (1, 2)}", "1", "a"),
    "parsedate": _DATES,
    "parsedate_tz": _DATES,
    "parsedate_to_datetime": _DATES,
    "urlparse": _URLS,
    "urlsplit": _URLS,
    "parse_qs": _URLS,
    "parse_qsl": _URLS,
    "unquote": _URLS,
    "unquote_plus": (*_URLS, "a+b%2Bc"),
    "ip_address": ("192.168.0.1", "10.0.0.255", "::1", "2001:db8::1", "300.1.1.1"),
    "ip_network": ("192.168.0.0/24", "10.0.0.1/8", "2001:db8::/32"),
    "b64decode": ("YWI=", "YWJj", "_-8=", "YQ"),
    "urlsafe_b64decode": ("YWI=", "YWJj", "_-8=", "YQ"),
    "unhexlify": ("00ff", "0aF", "61"),
    "fromhex": ("00ff", "0aF", "61 62"),
    "UUID": ("12345678-1234-5678-1234-567812345678", "12345678123456781234567812345678"),
    "lookup": _CODECS,
    "decode": _CODECS,
    "encode": _CODECS,
    "new": ("sha256", "md5", "sha1"),
    "pbkdf2_hmac": ("sha256", "md5", "pbkdf2:sha256:10", "pbkdf2"),
    "unescape": ("&lt;a&gt; &amp; &#65;&#x42;", "&nosuch;"),
}
"""Texts for a function or a method by its name."""
_FAILING = {"OverflowError": ("1e400", "inf")}
"""Texts that make numbers for which operations raise an error, by its name: code that handles it asks for them."""
_KEY, _MOST_KEYS = re.compile(r"[A-Za-z_]\w*"), 8


def parsed_texts(node: ast.AST) -> tuple[str, ...]:
    """Texts for what the functions that a code calls parse, and for the errors that it names."""
    return tuple(dict.fromkeys(_found(node)))


def _found(node: ast.AST) -> Iterator[str]:
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    called = {getattr(each.func, "attr", getattr(each.func, "id", "")) for each in calls}
    if "loads" in called:
        keys = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        named = [key for key in dict.fromkeys(keys) if _KEY.fullmatch(key)][:_MOST_KEYS]
        yield json.dumps({key: number for number, key in enumerate(named)})
    for name, texts in PARSED.items():
        if name in called and (texts is not _CODECS or _names_codec(calls)):
            yield from texts
    named_errors = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    for error, texts in _FAILING.items():
        if error in named_errors:
            yield from texts


def _names_codec(calls: list[ast.Call]) -> bool:
    """Whether a codec is no constant."""
    given = (each.args[0] for each in calls if each.args and getattr(each.func, "attr", "") in PARSED)
    return any(not isinstance(each, ast.Constant) for each in given)
