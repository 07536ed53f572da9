"""Secrets are replaced before a prompt leaves and restored in the reply; everything else stays as it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet_ls.engine.privacy.redact import redact, restore

# Put together here, so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "a1B2c3D4e5" * 3
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA1234" * 3 + "\nabc=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + "abcdefghijk"
HASH = "a8f5f167f44f4964e6c998dee827110c"


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        (f"x = {GITHUB!r}", GITHUB, "access token"),
        ("id = AKIA" + "IOSFODNN7EXAMPLE", "AKIA" + "IOSFODNN7EXAMPLE", "cloud key"),
        (f'KEY = """{KEY}"""', KEY, "private key"),
        ('password = "hunter22"', "hunter22", "secret"),
        ("const apiKey: string = 'x1y2z3x1y2z3';", "x1y2z3x1y2z3", "secret"),
        ('{"client_secret": "correct-horse"}', "correct-horse", "secret"),
        ('config["db_password"] = "hunter22"', "hunter22", "secret"),
        ("API_KEY=ab12cd34ef56gh", "ab12cd34ef56gh", "secret"),
        (f'signing_key = "{HASH}"', HASH, "secret"),
        ("postgres://bob:s3cr3t@db/x", "s3cr3t", "password in an address"),
        (f"t = '{JWT}'", JWT, "JSON web token"),
    ],
)  # fmt: skip
def test_a_secret_is_replaced_and_restored(text: str, value: str, kind: str) -> None:
    redacted = redact(f"first line\n{text}\n")
    assert value not in redacted.text
    assert redacted.text == f"first line\n{text}\n".replace(value, "STET_SECRET_1")
    assert [(item.line, item.kind) for item in redacted.redactions] == [(1, kind)]
    assert restore(redacted.text, redacted.secrets) == f"first line\n{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        'key = "name"',
        'token = "("',
        'sort_key = "created_at_descending"',
        'password = os.environ["DB_PASSWORD"]',
        'password = ""',
        'password = "${DB_PASSWORD}"',
        'api_key = "<your key>"',
        'pattern = "-----BEGIN PRIVATE KEY-----"',
        "def secret_name(password: str) -> str:",
        "https://example.org:8080/a@b",
        'commit = "a8f5f167f44f4964e6c998dee827110c"',
    ],
)
def test_text_without_secrets_is_kept(text: str) -> None:
    assert redact(text).text == text


def test_one_value_has_one_placeholder_everywhere() -> None:
    redacted = redact(f"token = {GITHUB!r}\nlogin({GITHUB!r})\npassword = 'another-one'\n")
    assert redacted.text == "token = 'STET_SECRET_1'\nlogin('STET_SECRET_1')\npassword = 'STET_SECRET_2'\n"


def test_known_values_keep_their_placeholder_in_the_next_text() -> None:
    first = redact(f"a = {GITHUB!r}")
    second = redact(f"password = 'fresh-one'\nb = {GITHUB!r}", first.secrets)
    assert second.text == "password = 'STET_SECRET_2'\nb = 'STET_SECRET_1'"


def test_a_placeholder_that_the_text_contains_is_not_used() -> None:
    text = f"STET_SECRET_1 = 1\nx = {GITHUB!r}"
    redacted = redact(text)
    assert redacted.text == "STET_SECRET_1 = 1\nx = 'STET_SECRET_2'"
    assert restore(redacted.text, redacted.secrets) == text


def test_a_private_key_without_its_end_is_redacted_up_to_the_end_of_its_body() -> None:
    cut = KEY.partition("\nabc=")[0]
    assert redact(f"{cut}\n\nplain text").text == "STET_SECRET_1\n\nplain text"


def test_restoring_does_not_mix_up_1_and_12() -> None:
    assert restore("STET_SECRET_12 STET_SECRET_1", {"STET_SECRET_1": "a"}) == "STET_SECRET_12 a"


def test_no_repr_contains_a_value() -> None:
    assert GITHUB not in repr(redact(f"x = {GITHUB!r}"))


PIECES = ["password", " = ", "'", '"', " " + GITHUB, KEY, "\n", "abc", HASH, "token", " STET_SECRET_1 ", ":", "7"]


@given(st.lists(st.sampled_from(PIECES)))
def test_any_mixture_of_secrets_is_restored(parts: list[str]) -> None:
    text = "".join(parts)
    redacted = redact(text)
    assert restore(redacted.text, redacted.secrets) == text
    assert GITHUB not in redacted.text


@pytest.mark.parametrize("unit", ["-----BEGIN PRIVATE KEY-----\n", "password", "eyJ", "://", "token='", "a" * 40])
def test_time_is_linear_on_hostile_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    assert seconds(400_000) < 16 * seconds(100_000) + 0.5
