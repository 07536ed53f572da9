"""Self-identifying secrets: tokens with a prefix of their issuer, signed tokens, private keys."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class TokenPattern:
    """One form of a secret, found by a literal of its issuer, so that a text without it costs almost nothing.

    `pattern` begins at the literal; its group "value" is the secret, or all of it. `before` is the part of the secret
    before the literal.
    """

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    before: re.Pattern[str] | None = None


def _shape(kind: str, literals: str, pattern: str, *, before: str = "") -> TokenPattern:
    # Matches the end of a window, never its start: a search would scan the window again for each literal.
    front = re.compile(rf"(?<![A-Za-z0-9]){before}") if before else None
    return TokenPattern(kind, tuple(literals.split()), re.compile(pattern), front)


_TOKEN, _CLOUD = "access token", "cloud key"

SHAPES = (
    _shape("JSON web token", "eyJ", r"eyJ[\w=-]{8,1000}+\.[\w=-]{8,8000}+(?:\.[\w=-]{2,4000}){0,3}"),
    _shape(_TOKEN, "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_\w{20,255}"),
    _shape(_TOKEN, "github_pat_", r"github_pat_\w{20,255}"),
    _shape(_TOKEN, "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt-", r"gl[a-z]+-[\w.-]{16,1024}"),
    _shape(_TOKEN, "glagent- gloas- glffct-", r"gl[a-z]+-[\w.-]{16,1024}"),
    _shape(_TOKEN, "GR1348941", r"GR1348941[\w-]{20,50}"),
    _shape(_CLOUD, "AKIA ASIA ABIA ACCA A3T", r"(?:A3T[A-Z0-9]|A[KSB]IA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape(_CLOUD, "AIza", r"AIza[\w-]{30,50}"),
    _shape(_CLOUD, "ya29.", r"ya29\.[\w-]{20,2000}"),
    _shape(_CLOUD, "GOCSPX-", r"GOCSPX-[\w-]{20,60}"),
    _shape(_CLOUD, "8Q~ 7Q~", r"[78]Q~[\w.~-]{31,34}", before=r"[\w.~-]{3}"),
    _shape(_CLOUD, "==", r"==(?![A-Za-z0-9+/=])", before=r"(?<!sha512-)(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}"),
    _shape(_CLOUD, "LTAI AKID", r"(?:LTAI|AKID)(?=[A-Za-z0-9]{0,39}\d)[A-Za-z0-9]{12,40}(?![A-Za-z0-9])"),
    _shape(_CLOUD, "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{32,64}"),
    _shape(_TOKEN, "xox xapp-", r"xox[abeoprs](?:[.-][\w%]{1,80}){1,6}|xapp-\d-[\w-]{20,200}"),
    _shape("webhook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]{4,12}/(?P<value>[\w/-]{20,200})"),
    _shape("webhook", "/api/webhooks/", r"/api/webhooks/(?P<value>\d{10,20}/[\w-]{40,100})"),
    _shape("webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/(?P<value>[\w@/-]{60,300})"),
    _shape(_TOKEN, ".", r"\.[\w-]{6,7}\.[\w-]{27,45}(?![\w-])", before=r"[MNO][\w-]{22,27}"),
    _shape(_TOKEN, ":AA", r":AA[\w-]{32,34}(?![\w-])", before=r"\d{8,10}"),
    _shape(_TOKEN, "sk_ rk_ pk_ whsec_", r"(?:[srp]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/=]{10,250}"),
    _shape(_TOKEN, "sk-", r"sk-(?=[\w-]{0,40}\d)[\w-]{20,250}"),
    _shape(_TOKEN, "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,60}"),
    _shape(_TOKEN, "gsk_ r8_ xai- pplx- fw_", r"(?:gsk_|r8_|xai-|pplx-|fw_)[A-Za-z0-9]{22,100}"),
    _shape(_TOKEN, "npm_", r"npm_[A-Za-z0-9-]{30,60}"),
    _shape(_TOKEN, "pypi-", r"pypi-[\w-]{30,300}"),
    _shape(_TOKEN, "rubygems_", r"rubygems_[0-9a-f]{40,60}"),
    _shape(_TOKEN, "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,40}"),
    _shape(_TOKEN, "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _shape(_TOKEN, "key-", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    _shape(_TOKEN, "-us", r"-us\d{1,2}(?!\d)", before=r"[0-9a-z]{32}"),
    _shape(_TOKEN, "SK AC", r"(?:SK|AC)(?=[a-z0-9]{0,31}\d)[0-9a-z]{32}(?![0-9a-z])"),
    _shape(_TOKEN, "sq0 EAAA", r"sq0[a-z]{3}-[\w\\-]{22,60}|EAAA[\w-]{60}"),
    _shape(_TOKEN, "shp", r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    _shape(_TOKEN, "dapi dose", r"(?:dapi|dose)[0-9a-f]{32}(?:-\d)?"),
    _shape(_TOKEN, "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,300}"),
    _shape(_TOKEN, ".atlasv1.", r"\.atlasv1\.[\w-]{50,80}", before=r"[A-Za-z0-9]{14}"),
    _shape(_TOKEN, "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,80}"),
    _shape(_TOKEN, "glsa_ glc_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{32,400}"),
    _shape(_TOKEN, "NRAK- NRJS- NRII- NRRA-", r"NR(?:AK|II|RA)-[\w-]{20,60}|NRJS-[0-9a-f]{19}"),
    _shape(_TOKEN, "sntry", r"sntry[su]_[\w+/=.-]{32,400}"),
    _shape(_TOKEN, "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _shape(_TOKEN, "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,60}|secret_(?=[A-Za-z]{0,42}\d)[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    _shape(_TOKEN, "figd_ figu_", r"fig[du]_[\w-]{30,60}"),
    _shape(_TOKEN, "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _shape(_TOKEN, "pul-", r"pul-[0-9a-f]{40}"),
    _shape(_TOKEN, "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    _shape(_TOKEN, "sbp_ sb_secret_", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,60}"),
    _shape(_TOKEN, "fo1_ fm1_ fm2_", r"fo1_[\w-]{40,60}|fm[12]_[\w+/=-]{50,800}"),
    _shape(_TOKEN, "AKC", r"AKC[A-Za-z0-9]{10,200}(?![A-Za-z0-9])"),
    _shape(_TOKEN, "AP", r"AP[0-9A-F](?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{40,200}"),
    _shape(_TOKEN, "ATATT3 ATCTT3 ATBB", r"AT[AC]TT3[\w=-]{50,300}|ATBB[A-Za-z0-9]{32}"),
    _shape(_TOKEN, "EAACEdEose0cBA", r"EAACEdEose0cBA[A-Za-z0-9]{20,200}"),
    _shape(_TOKEN, "tvly- jina_ phc_ phx_", r"tvly-(?:dev-)?[A-Za-z0-9]{28,40}|(?:jina|ph[cx])_[A-Za-z0-9]{40,70}"),
    _shape("password hash", "$2a$ $2b$ $2y$", r"\$2[aby]\$\d\d\$[A-Za-z0-9./]{53}"),
    _shape("password hash", "$1$ $5$ $6$ $apr1$ $y$", r"\$(?:[156y]|apr1)\$[\w./=$]{2,40}\$[A-Za-z0-9./]{20,90}"),
    _shape("password hash", "$argon2", r"\$argon2\w{1,2}\$[\w=,$+/.-]{30,200}"),
    _shape("private key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)  # fmt: skip
"""By the issuers' prefixes. A test requires at least the tokens that the library `bc-detect-secrets` knows."""

_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:")
_FOOTER = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?[0-9a-f]{1,64}")
_BODY = re.compile(r"""(?:(?:[\s"'+.,;&#/*|>]|\\n|\\r)*[A-Za-z0-9+/=]{40,})+""")
_MARKS = ("-----BEGIN", "PuTTY-User-Key-File")
_LONGEST_KEY = 20_000


_WINDOW = 100
"""Characters before a literal that may belong to the secret."""
_LEAST = 13
_IN_TOKENS = frozenset(map(ord, string.ascii_letters + string.digits + "_+/=.~:@%$-"))
_GAPS = {code: 32 for code in range(128) if code not in _IN_TOKENS}


def words_of(text: str) -> frozenset[str]:
    """The distinct words of a text, a token being one word: a literal in none of them is not in the text."""
    return frozenset(text.translate(_GAPS).split())


def issued(text: str, words: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each self-identifying secret; only long `words` are searched, in a tenth of the time."""
    long = sorted(word for word in words if len(word) >= _LEAST)
    places = list(accumulate((len(word) + 1 for word in long), initial=0))
    for start, end, kind in _tokens("\n".join(long)):
        index = bisect_right(places, start) - 1
        word, offset = long[index], start - places[index]
        at = text.find(word)
        while at >= 0:
            yield at + offset, at + offset + end - start, kind
            at = text.find(word, at + len(word))
    if any(mark in text for mark in _MARKS):
        yield from _private_keys(text)


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    for shape in SHAPES:
        for literal in shape.literals:
            at = text.find(literal)
            while at >= 0:
                if found := _at(shape, text, at):
                    yield *found, shape.kind
                at = text.find(literal, max(at + 1, found[1] if found else 0))


def _at(shape: TokenPattern, text: str, at: int) -> tuple[int, int] | None:
    """The span of a secret whose literal is at `at`."""
    if shape.before is None and at > 0 and text[at - 1].isalnum() and text[at].isalnum():
        return None
    match = shape.pattern.match(text, at)
    if match is None:
        return None
    if shape.before is None:
        return match.span("value" if "value" in shape.pattern.groupindex else 0)
    start = max(0, at - _WINDOW)
    front = next((front for front in shape.before.finditer(text, start, at) if front.end() == at), None)
    return (front.start(), match.end()) if front else None


def _private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Private keys from header to footer; a truncated one to the end of its body."""
    end = 0
    for header in _HEADER.finditer(text):
        if header.start() < end:
            continue
        limit = min(len(text), header.end() + _LONGEST_KEY)
        following = _HEADER.search(text, header.end(), limit)
        footer = _FOOTER.search(text, header.end(), following.start() if following else limit)
        if footer is not None:
            end = footer.end()
            yield header.start(), end, "private key"
        elif body := _BODY.match(text, header.end(), limit):
            end = body.end()
            yield header.start(), end, "private key"
