"""The forms of assigning a value to a name: the text between the two in code, configuration and commands.

Each is matched at the end of the name. Every repetition is bounded, and that of a value is possessive: a hostile text
takes the same time as any other of its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class SecretLikelihood(Enum):
    """How likely a value in a place is a secret."""

    SURE = "any value that is not plainly something else is a secret"
    HINT = "a value that looks made up is a secret"


@dataclass(frozen=True, slots=True)
class AssignmentForm:
    """One form with a group "value", only for configuration if `config`; `pieces`: more literals may follow."""

    trust: SecretLikelihood
    pattern: re.Pattern[str]
    config: bool = False
    pieces: bool = False


def _place(trust: SecretLikelihood, pattern: str, *, config: bool = False, pieces: bool = False) -> AssignmentForm:
    return AssignmentForm(trust, re.compile(pattern, re.MULTILINE), config, pieces)


_BLANK = r"[ \t]{0,40}"
_CLOSED = r"""\\{0,2}["'\])}]{0,3}"""
# `: Final[str]`, ` string` in Go, `[32]` in C, ` { get; set; }` in C#
_TYPE = (
    r"(?:\[\d{0,6}\])?(?:[ \t]{0,4}\??:[ \t]{0,4}[&*]?(?:'\w{1,20}[ \t])?[A-Za-z_][\w.<>\[\], |]{0,60}?"
    r"|(?<=\w)[ \t]{1,4}[*&]?[a-z]\w{0,20}|[ \t]?\{[ \t](?:get|set|init|private|protected|;|[ \t]){1,12}\})?"
)
_SIGN = r"(?::=|=>|===?|!==?|\?\?=?|\|\|=?|[:=]|\bor\b)"
_PREFIX = r"(?:[bBrRuUfFL@$&]{0,3}#{0,3})"
_MAKE = (
    r"(?:new[ \t])?"
    r"(?:[\w.:]{0,40}(?:[Ss]tring|[Ss]tr|[Bb]ytes?|\[\]byte|from|of|Secret\w{0,12}|literal|decode|hex|unhexlify|atob)"
    r"[ \t]?[({][ \t]?)?" + _PREFIX
)
_LETTERS = r"(?:(?!(?P=quote))(?:[^\s\\]|\\[^\s]|\\\n[ \t]{0,40}))"
_QUOTED = rf"""(?P<quote>\"{{3}}|'{{3}}|["'`])\s{{0,40}}(?P<value>{_LETTERS}{{%s,512}}+)\s{{0,40}}(?P=quote)"""
_ESCAPED = r"""\\{1,3}(?P<quote>["'])(?P<value>[^\s"'\\]{%s,512}+)\\{1,3}(?P=quote)"""
_BARE = r"(?P<value>[^\s\"'`,;{}()<>|\[\]]{%s,512}+)"
_END = r"(?=[ \t]{0,40}(?:[#;&|)}]|$))"
_ASSIGNED = rf"{_CLOSED}{_TYPE}{_BLANK}{_SIGN}{_BLANK}[(\[]?\s{{0,40}}{_MAKE}"

_SURE, _HINT = SecretLikelihood

PLACES = (
    # password: Final[str] = "x"   "password": "x"   const char password[] = "x"   if (password == "x")
    _place(_SURE, _ASSIGNED + _QUOTED % 4, pieces=True),
    _place(_SURE, _ASSIGNED + _ESCAPED % 4),
    # password.equals("x")
    _place(_SURE, r"\.(?:equals|assign|set)\([ \t]?" + _QUOTED % 4),
    # environ.get("PASSWORD", "x")   header("X-Api-Key", "x")
    _place(_HINT, rf"{_CLOSED}[ \t]?,[ \t]?{_MAKE}" + _QUOTED % 6),
    # std::string password{"x"}   setPassword("x")
    _place(_HINT, rf"{_BLANK}[({{]{_BLANK}{_PREFIX}" + _QUOTED % 6),
    # #define TOKEN "x"   WITH PASSWORD 'x'   private_key "x";
    _place(_HINT, r"[ \t]{1,40}" + _QUOTED % 6),
    # password = 48291736
    _place(_SURE, rf"{_CLOSED}{_BLANK}[:=]{_BLANK}(?P<value>\d{{6,32}}+)(?![\w.])"),
    # password = "correct horse battery staple"
    _place(
        _SURE,
        rf"{_ASSIGNED}(?P<quote>[\"'])(?P<value>[^\s\"'{{}}%]{{1,40}}(?: [^\s\"'{{}}%]{{1,40}}){{2,8}})(?P=quote)",
    ),
    # user, password = "me", "x"   creds = ("me", "x")   password = test ? "x" : y   secret = [[x]]
    _place(_SURE, rf"{_BLANK}[:=]{_BLANK}[({{\[]?{_BLANK}[\"'][^\"'\n]{{0,80}}[\"']{_BLANK}[,:]{_BLANK}" + _QUOTED % 4),
    _place(_SURE, rf"{_BLANK}={_BLANK}[\w.()!]{{1,60}}{_BLANK}\?{_BLANK}" + _QUOTED % 4),
    _place(_SURE, rf"{_BLANK}={_BLANK}\[=?\[(?P<value>[^\s\]]{{4,512}}+)\]"),
    _place(_SURE, r">\s{0,40}<!\[CDATA\[(?P<value>[^\s\]]{4,512}+)\]"),
    # <password>x</password>   <add key="Token" value="x"/>   <string name="key">x</string>
    _place(_SURE, r">\s{0,40}(?P<value>[^\s<>]{4,512}+)\s{0,40}</"),
    _place(_SURE, r"""["'][^<>\n]{0,80}?\bvalue[ \t]?=[ \t]?["'](?P<value>[^\s"'<>]{4,512}+)["']"""),
    _place(_SURE, r"""["'][^<>\n]{0,80}>\s{0,40}(?P<value>[^\s<>]{4,512}+)\s{0,40}</"""),
    # ?api_key=x&    the password is x
    _place(_HINT, r"=(?P<value>[^\s;\"'`<>&,)]{8,512}+)(?=[&\"'`;\s]|$)"),
    _place(_HINT, r"[ \t](?:is|was|are)[ \t]:?[ \t]?[\"'`]?(?P<value>[^\s\"'`,;()]{8,512}+)"),
    # curl -H "X-Api-Key: x"   ${PASSWORD:-x}   @Value("${api.secret:x}")
    _place(_HINT, r":[ \t](?P<value>[^\s\"'$]{4,512}+)[\"']"),
    _place(_HINT, r":[-=]?(?P<value>[^\s{}\"'$]{6,512}+)\}"),
    # PASSWORD=x   token: x   ENV PASSWORD x
    _place(_HINT, rf"{_BLANK}[:=]{_BLANK}" + _BARE % 8 + _END),
    _place(_SURE, rf"{_CLOSED}{_BLANK}[?+]?[:=]{_BLANK}" + _BARE % 4 + _END, config=True),
    _place(_SURE, r":[ \t]{0,8}[|>][+-]?[ \t]{0,8}\n[ \t]{1,40}(?P<value>\S{4,512}+)", config=True),
    _place(_SURE, r"s?:[ \t]{0,8}\n[ \t]{0,40}-[ \t]{1,8}[\"']?(?P<value>[^\s\"'{}]{4,512}+)", config=True),
    _place(_SURE, r"=(?P<value>[^\s\"'`;{}()<>|$&]{4,512}+)(?=\s)", config=True),
    _place(_SURE, r"[ \t]{1,8}" + _BARE % 4 + _END, config=True),
    # - name: DB_PASSWORD
    #   value: x
    _place(_SURE, r"[\"']?[ \t]{0,8}\n[ \t]{0,40}value:[ \t]{1,8}[\"']?(?P<value>[^\s\"'{}]{4,512}+)", config=True),
)

GIVES = re.compile(
    r"(?:(?i:env\w*|property|header\w*|set\w*|put|add|default\w*)[\w.>-]{0,20}[(\[]{1,2}[\"'][\w.-]{0,60}"
    r"|\b(?:set|with|use)_?\w{0,20}|(?:string|char\*?|str)[ \t]\w{0,40}|define[ \t]+\w{0,40}|(?i:with[ \t]+password)"
    r"|\$\{[\w.]{0,60}|[?&][\w.-]{0,40}|[\"'][\w-]{0,40}(?<=[a-zA-Z]))\Z"
)
"""Text before a name that is given a value without a sign of assignment."""

LINE_START = re.compile(
    r"[ \t]*(?P<remark>(?:#|//|--|;|\*)+[ \t]*)?"
    r"(?:(?:export|env|arg|set|declare|-x|readonly|-|\d{1,6}|name:)[ \t]+){0,3}[\w./:\"'-]{0,200}\Z",
    re.IGNORECASE,
)
"""Text before a name on its line in configuration."""

OPTION = re.compile(r"(?:[ \t]{1,8}|=)(?P<quote>[\"']?)(?P<value>[^\s\"'$<\-][^\s\"']{2,511}+)(?P=quote)")
"""Text after the name of a command's option: `--password x`, `--token=x`."""

PIECE = re.compile(
    rf"[ \t]{{0,40}}(?:[+.&\\]|\.\.|<<)?\s{{0,200}}(?:[+.&]|\.\.|<<)?{_BLANK}{_PREFIX}"
    rf"(?P<quote>[\"'`])(?P<value>{_LETTERS}{{1,512}}+)(?P=quote)(?![ \t]{{0,8}}[:=])"
)
"""The next literal of a concatenated value."""

PAIRS = tuple(
    (tuple(words.split("|")), re.compile(pattern))
    for words, pattern in (
        (
            "bearer |basic |token ",
            r"(?P<scheme>(?i:bearer|basic|token))[ \t]{1,4}(?P<value>[A-Za-z0-9._~+/=!&@^-]{8,4096}+)",
        ),
        ("identified by ", r"(?i:identified by)[ \t]{1,8}(?:password[ \t])?'(?P<value>[^'\s]{4,512}+)'"),
        (" -u|--user", r"(?: -u|--user)[ =]?[\"']?[^\s:\"'$]{1,64}:(?P<value>[^\s\"'$][^\s\"']{2,255}+)"),
        ("login |sshpass |mysql ", r"[a-z]+ (?:[^\n]{0,120} )?-p[ ]?[\"']?(?P<value>[^\s\"'$\-][^\s\"']{3,255}+)"),
        ("login ", r"login[ \t]{1,8}\S{1,128}\s{1,40}password[ \t]{1,8}(?P<value>\S{3,512}+)"),
        (
            "basicauth(|networkcredential(|basic_auth(|auth=(|authenticationtoken(",
            r"[A-Za-z_=]{1,24}\([\"'][^\"'\n]{0,128}[\"'],[ \t]?@?[\"'](?P<value>[^\"'\s]{4,256}+)[\"']",
        ),
        ("bearer_auth(|bearerauth(|bearer_token(", r"[A-Za-z_]{1,24}\([\"'](?P<value>[^\"'\s]{4,512}+)[\"']"),
        # "Server=db;Password=x;"
        (
            ';password=|;pwd=|;accountkey=|;sharedaccesskey=|\'password=|"password=|"pwd=|; password=|;pass=',
            r"[;\"'] ?[A-Za-z]{1,20}=(?P<value>[^;\"'\s][^;\"'\n]{2,511}+)(?=[;\"'])",
        ),
        ("://", r"://[^\s:/@\"'<>]{0,64}:(?P<value>[^\s@/\"'{}$<>]{3,256}+)@"),
    )
)
"""Forms that need no name before them: the words that one begins with (in lower case), and the form."""
