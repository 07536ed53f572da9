"""What is found of the secrets of a corpus with labels, and what is taken for one in code that has none."""

from __future__ import annotations

import ast
import random
import re
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.corpora.drawn import drawn
from support.corpora.planted import CODE, TOKENS, Planted, corpus

from stet_ls.engine.privacy.redact import redact, restore
from stet_ls.engine.privacy.secrets.dotenv import values_of
from stet_ls.engine.privacy.secrets.scan import find_secrets

CONFIG = frozenset(
    {
        "yaml",
        "json",
        "toml",
        "dotenv",
        "xml",
        "ini",
        "properties",
        "shellscript",
        "dockerfile",
        "netrc",
        "http",
        "terraform",
    }
)
FLOORS = {"itself": 0.995, "named": 0.98, "address": 0.995, "pieces": 1.0, "private key": 1.0}
"""Shares that have to be found, by how the secret gives itself away."""
MOST_FALSE = 0.5
"""Redactions in a thousand lines of the standard library, which has no secret but passwords of its own tests."""


def leaked(planted: Planted) -> bool:
    sent = redact(planted.text, config=planted.language in CONFIG).text
    return any(secret in sent for secret in planted.secrets)


def test_secrets_are_found_in_every_shape() -> None:
    all_of, missed = Counter[str](), Counter[str]()
    for planted in corpus():
        all_of[planted.shape] += 1
        missed[planted.shape] += leaked(planted)
    found = {shape: 1 - missed[shape] / count for shape, count in all_of.items()}
    assert {shape: share for shape, share in found.items() if share < FLOORS[shape]} == {}
    assert sum(all_of.values()) > 3000


@pytest.mark.parametrize("language", CODE)
def test_tokens_of_known_issuers_are_redacted_in_every_language(language: str) -> None:
    seen = [planted for planted in corpus(seed=11) if planted.shape == "itself" and planted.language == language]
    assert len(seen) >= len(TOKENS)
    assert [planted.kind for planted in seen if leaked(planted)] == []


def test_secrets_that_the_rules_were_not_made_with_are_found() -> None:
    seen = [planted for seed in range(100, 103) for planted in corpus(seed) if planted.shape != "itself"]
    assert sum(map(leaked, seen)) <= len(seen) * 0.01


@pytest.mark.parametrize(
    "planted", [p for p in corpus(seed=5) if p.kind in ("jwt", "typed", "private key")][::9], ids=str
)
def test_redacted_secrets_are_restored(planted: Planted) -> None:
    redacted = redact(planted.text, config=planted.language in CONFIG)
    assert restore(redacted.text, redacted.secrets) == planted.text
    assert redacted.left == ()


PASSWORD = "Tr0ub4dor" + "&3xyz"
WORDS = "copper-lantern-horse"
ODD = {
    "over two lines": ('password = "Tr0ub4\\\ndor&3xyz"', "dor&3xyz"),
    "two literals": ('password = ("Tr0ub4"\n    "dor&3xyz")', "dor&3xyz"),
    "an escape": ('password = "Tr0\\u00754dor&3xyz"', "dor&3xyz"),
    "encoded": ('password = b64decode("VHIwdWI0ZG9yJjN4eXo=")', "VHIwdWI0"),
    "blanks": ('password = "correct horse battery staple"', "correct horse"),
    "a remark": (f"# password: {WORDS}", WORDS),
    "a sentence": (f"// the admin password is {PASSWORD}", PASSWORD),
    "German": (f'passwort = "{PASSWORD}"', PASSWORD),
    "French": (f'mot_de_passe = "{PASSWORD}"', PASSWORD),
    "Russian": (f'\u043f\u0430\u0440\u043e\u043b\u044c = "{PASSWORD}"', PASSWORD),
    "a short name": (f'db_pass = "{PASSWORD}"', PASSWORD),
    "a number": ("password = 48392011", "48392011"),
    "a pair": (f'CREDS = ("bob", "{PASSWORD}")', PASSWORD),
    "two names": (f'user, password = "bob", "{PASSWORD}"', PASSWORD),
    "a choice": (f'const password = test ? "{PASSWORD}" : other;', PASSWORD),
    "Lua": (f"local secret = [[{PASSWORD}]]", PASSWORD),
    "PHP": (f"$password = '{PASSWORD}';", PASSWORD),
    "Ruby": (f":password => '{PASSWORD}',", PASSWORD),
    "Gradle": (f"password '{PASSWORD}'", PASSWORD),
    "JSON in a string": (f's = "{{\\"password\\": \\"{PASSWORD}\\"}}"', PASSWORD),
    "CDATA": (f"<password><![CDATA[{PASSWORD}]]></password>", PASSWORD),
    "a form": (f'<input name="password" value="{PASSWORD}">', PASSWORD),
    "a session": (f'>>> login("bob", password="{PASSWORD}")', PASSWORD),
    "an error": (f"KeyError: 'password={PASSWORD}'", PASSWORD),
    "a hash": ("bob:$apr1$x7Yz8aBc$" + "abcdefghijklmnopqrstuv", "abcdefghijkl"),
}
ODD_CONFIG = {
    "a block": (f"password: |\n  {PASSWORD}", PASSWORD),
    "a list": (f"passwords:\n  - {PASSWORD}", PASSWORD),
    "a default": (f"PASSWORD ?= {PASSWORD}", PASSWORD),
    "a short variable": (f"DB_PASS={PASSWORD}", PASSWORD),
}


@pytest.mark.parametrize("name", [*ODD, *ODD_CONFIG])
def test_odd_forms_are_found(name: str) -> None:
    text, secret = {**ODD, **ODD_CONFIG}[name]
    redacted = redact(f"first\n{text}\n", config=name in ODD_CONFIG)
    assert secret not in redacted.text
    assert restore(redacted.text, redacted.secrets) == f"first\n{text}\n"
    assert {one.line for one in redacted.redactions} <= {1, 2}


# Code without secrets.


def library() -> Iterator[Path]:
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in folder.glob("*/*.py") if path.parent.name not in ("site-packages", "test"))
    return iter(random.Random(3).sample([*sorted(folder.glob("*.py")), *files], 250))


def test_code_without_secrets_is_not_changed() -> None:
    lines = found = 0
    for path in library():
        text = path.read_text("utf-8", errors="replace")
        lines += text.count("\n")
        found += len(find_secrets(text))
    assert lines > 50_000
    assert found <= lines / 1000 * MOST_FALSE


IMAGE = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 40


@pytest.mark.parametrize(
    "text",
    [
        f'ICON = "{IMAGE}"',
        'sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  file.tar.gz",
        '"i": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
        'commit = "3f786850e387550fdab836ed7e6dc881de23001b"',
        'ID = "123e4567-e89b-12d3-a456-426614174000"',
        'token_id = "123e4567-e89b-12d3-a456-426614174000"',
        'ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"',
        '!function(e,t){"object"==typeof exports?t(exports):e.token=function(n){return n.key}}(this,function(e){});',
        'token = "identifier"',
        "token = lexer.next_token()",
        "key = event.key.toLowerCase();",
        "const { token, secret } = useAuth();",
        '<input type="password" name="password" id="password1">',
        'raise AuthError("invalid token")',
        'PASSWORD_FIELD = "new_password2"',
        "password: str = Field(min_length=8)",
        "def login(username: str, password: str) -> Token: ...",
        "secret = os.environ['SECRET_KEY_V2']",
        "API_KEY = os.getenv(\"OPENAI_API_KEY\")",
        "password: ${{ secrets.DB_PASSWORD1 }}",
        "url = 'https://user@example.org:8443/path'",
        "git@github.com:me/repository.git",
        "arn:aws:iam::123456789012:role/Service",
        'KEYWORDS = ["async1234", "await5678"]',
        "#define TOKEN_EOF 0x7fffffff",
        'tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-Coder-1.5B-Instruct")',
        "sort(key=lambda item: item.password)",
    ],
)  # fmt: skip
def test_values_that_are_not_secrets_are_not_changed(text: str) -> None:
    assert redact(text + "\n").text == text + "\n"


# What a well-kept library knows is known here. Its own scanner is no choice for a prompt: it finds half of the corpus
# and takes half a second for a thousand lines.

BY_PLACE = {
    "Basic Auth Credentials": "an address with user and password; the rule takes any letters for both",
    "Cloudant Credentials": "named values of 24 small letters: nothing sets them apart from words",
    "IBM Cloud IAM Key": "any value of 44 letters behind `key=`, whatever it looks like",
    "IBM COS HMAC Credentials": "named values of 48 hexadecimal digits, as hashes are",
    "NPM tokens": "any word behind NPM_TOKEN, with nothing between the two",
    "Private Key": "the header without a key is found too, and quoting a header is no leak",
    "SoftLayer Credentials": "named values of 64 letters, whatever they look like",
}
"""Rules of the library that also find what is no secret; the corpus above has their kinds as they are written."""


_LEAST = 13


def library_rules() -> list[tuple[str, re.Pattern[str]]]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    detectors = sorted(get_mapping_from_secret_type_to_class().items())
    found = [(kind, each) for kind, each in detectors if issubclass(each, RegexBasedDetector) and kind not in BY_PLACE]
    rules = [(kind, pattern) for kind, detector in found for pattern in detector().denylist]
    return [(kind, pattern) for kind, pattern in rules if ".{" not in pattern.pattern]  # those want a text around it


def test_the_tokens_of_an_established_library_are_found() -> None:
    chance = random.Random(17)
    rules = library_rules()
    assert len(rules) >= 12
    missed = []
    for kind, pattern in rules:
        words = [drawn(pattern, chance) for _ in range(80)]
        words = [word for word in words if pattern.search(f'"{word}"') and "\\" not in word and len(word) >= _LEAST]
        assert len(words) >= 10, kind
        missed += [(kind, word) for word in words if not redact(f'value = "{word}"\n').redactions]
    assert missed == []


# Time.

HOSTILE = (
    "password", "password=", 'password = "', "password = 'a' + ", "token:", "eyJ", "-eyJa", "://", "://a:", "ghp_",
    "-----BEGIN PRIVATE KEY-----\n", "PuTTY-User-Key-File-2: ", "a" * 40, "A1b2/", '"Aa1', "login a password ", "\t",
    " -u a", "mysql ", '","', "==", ".", ":AA1", "secret\n value:", "pass;password=", "(", '("', "bearer ", "key=\\",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_is_linear_on_hostile_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        return min(_seconds(text) for _ in range(3))

    assert seconds(80_000) < 10 * seconds(20_000) + 0.2


def _seconds(text: str) -> float:
    started = time.process_time()
    redact(text, config=True)
    return time.process_time() - started


@pytest.mark.parametrize("unit", ["A=", "A=b.", 'A="', "A=a-", "A=b:/", "export ", "=", "A=sqlite:/"])
def test_time_is_linear_on_a_hostile_env_file(unit: str) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        list(values_of(unit * (size // len(unit))))
        return time.process_time() - started

    assert min(seconds(80_000) for _ in range(2)) < 10 * min(seconds(20_000) for _ in range(2)) + 0.2


def test_the_examples_of_this_test_are_valid_python() -> None:
    """The corpus' Python parses, so that no form of it is one that no one would write."""
    for planted in corpus():
        if planted.language == "python":
            ast.parse(planted.text)
