"""Reading whatever arrives: nothing a server sends may raise, and only what never ends is called endless."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.chat import Usage
from stet_ls.engine.model.endpoint.fault_classifier import failure_of_status
from stet_ls.engine.model.endpoint.faults import sentence
from stet_ls.engine.model.endpoint.stream_reader import StreamReader, repeats
from stet_ls.engine.model.profiles.profiles import is_chat_model, profile_for
from stet_ls.engine.model.profiles.speed import Speed

TEXTS = st.text('ab1 <"\n\x1bé𝛼', max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NAMES = ("choices", "delta", "message", "content", "reasoning_content", "finish_reason", "usage", "prompt_tokens")
CHUNKS = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(NAMES), CHUNKS))
def test_any_json_event_is_accepted(chunk: dict) -> None:
    reading = StreamReader()
    assert reading.take(chunk, max_tokens=100) == bool(reading.text or reading.reasoning)
    assert reading.finish in ("stop", "length", "cut")


@given(st.integers(200, 599), VALUES, st.dictionaries(st.just("retry-after"), TEXTS))
def test_any_error_body_is_one_sentence(status: int, body: object, headers: dict[str, str]) -> None:
    failure = failure_of_status(status, body, headers)
    assert sentence(failure, "here").isprintable()
    assert failure.retry_after is None or failure.retry_after >= 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"error": {"message": "one"}}, "one"),
        ({"error": "two"}, "two"),
        ({"detail": "three"}, "three"),
        ({"message": "four"}, "four"),
        ("five", "five"),
        ("<html><body>six", ""),
    ],
)
def test_error_messages_of_known_servers_are_recognized(body: object, says: str) -> None:
    assert failure_of_status(400, body, {}).detail == says


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "soon", "Thu, 99 Foo"])
def test_a_senseless_retry_after_is_ignored(value: str) -> None:
    assert failure_of_status(429, {}, {"retry-after": value}).retry_after in (None, 0.0)


def test_every_name_of_a_stop_reason_is_recognized() -> None:
    words = {"stop": "stop", "eos": "stop", "length": "length", "model_length": "length"}
    unfinished = ("content_filter", "insufficient_system_resource", "error", "abort")
    for word, finish in {**words, **dict.fromkeys(unfinished, "cut")}.items():
        reading = StreamReader()
        reading.take({"choices": [{"delta": {"content": "x"}, "finish_reason": word}]}, max_tokens=10)
        assert reading.finish == finish


def test_usage_includes_cached_tokens() -> None:
    reading = StreamReader()
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 7}}
    reading.take({"choices": [], "usage": usage}, max_tokens=10)
    assert reading.usage == Usage(9, 2, 7)


@given(TEXTS.filter(len))
def test_a_repeated_short_piece_is_recognized_as_endless(piece: str) -> None:
    assert repeats((piece * 2000)[-1200:])


def test_real_code_is_not_taken_for_endless() -> None:
    code = json.dumps([{"name": f"row {number}", "value": number} for number in range(200)], indent=1)
    assert not any(repeats(code[start : start + 1200]) for start in range(0, len(code) - 1200, 100))
    assert not repeats(" " * 1100 + "x" * 100)
    assert not repeats("=" * 1000)
    assert not repeats("    [0, 0, 0, 0],\n" * 50)
    assert not repeats("    x = x + 1\n" * 20)
    assert repeats("    x = x + 1\n" * 50), "words that repeat are recognized earlier"


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("qwen2.5-coder:0.5b", "tiny"),
        ("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf", "tiny"),
        ("SmolLM2-135M-Instruct", "tiny"),
        ("qwen2.5-coder:7b-instruct-q4_K_M", "mid"),
        ("codellama:13b", "mid"),
        ("gpt-oss:20b", "mid"),
        ("qwen3-coder:30b-a3b", "strong"),
        ("mixtral-8x7b", "strong"),
        ("meta-llama/Llama-3.3-70B-Instruct", "strong"),
        ("gpt-4o-mini", "mid"),
        ("gpt-5-nano", "mid"),
        ("gpt-5", "strong"),
        ("o3-mini", "strong"),
        ("claude-sonnet-4-5", "strong"),
        ("claude-haiku-4-5", "mid"),
        ("gemini-2.5-flash-lite", "mid"),
        ("gemini-2.5-pro", "strong"),
        ("deepseek-chat", "strong"),
        ("some-name-no one-knows", "mid"),
        ("", "mid"),
    ],
)
def test_profiles_are_guessed_from_model_names(name: str, tier: str) -> None:
    profile = profile_for(name)
    assert profile.tier == tier
    assert profile.context >= 4096


def test_models_without_chat_are_recognized() -> None:
    silent = ["nomic-embed-text", "bge-m3", "whisper-1", "tts-1", "text-embedding-3-small", "all-minilm:l6-v2"]
    assert not any(is_chat_model(name) for name in silent)
    assert all(is_chat_model(name) for name in ["qwen2.5-coder:7b", "gpt-5", "llama3.2"])


def test_the_timeout_grows_with_the_prompt_for_a_slow_model() -> None:
    speed = Speed()
    assert speed.first_token_limit(30, 4000) == 30
    speed.learn(Usage(4000, 1), first_token_seconds=100, writing_seconds=0)
    assert speed.first_token_limit(30, 4000) == pytest.approx(300)
    assert speed.first_token_limit(30, 100) == 30


def test_a_cached_prompt_teaches_no_reading_speed() -> None:
    speed = Speed()
    speed.learn(Usage(4000, 1, cached_tokens=3990), first_token_seconds=0.1, writing_seconds=0)
    assert speed.reading is None


def test_a_slow_measurement_counts_at_once_and_a_fast_one_gradually() -> None:
    speed = Speed(reading=1000)
    speed.learn(Usage(400, 1), first_token_seconds=10, writing_seconds=0)
    assert speed.reading == pytest.approx(40)
    speed.learn(Usage(400, 1), first_token_seconds=0.1, writing_seconds=0)
    assert speed.reading < 2000


def test_every_fault_has_a_rule_and_a_message() -> None:
    from stet_ls.engine.model.endpoint import faults, retry

    assert set(retry.MOST_REQUESTS) == set(Fault) == set(faults._SENTENCES)
