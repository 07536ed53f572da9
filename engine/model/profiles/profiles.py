"""What to expect of a model: from its name, then from measurements, then from the user's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from stet_ls.engine.model.chat import Role, Sampling
from stet_ls.engine.model.profiles.profile_store import StoredProfile
from stet_ls.engine.model.profiles.token_calibration import TokenCalibration
from stet_ls.engine.prompt.task_spec import ModelTier
from stet_ls.engine.settings.table_schemas import ModelRow


@dataclass(frozen=True, slots=True)
class Profile:
    """How the engine treats a model.

    `context` and `max_output` are in tokens (0: not known); `tokens_per_second` is how fast it writes and `reading` how
    fast it reads a prompt, None until measured. `temperature` is its minimum, `thought` the tokens that it spends on
    reasoning. `search_replace`: its self-test proved that it can edit by blocks. `token_factor` converts our estimates
    to tokens. `known_context`: the context was reported or measured, not guessed from the name. `begins`: the endpoint
    continues a reply that was begun.
    """

    tier: ModelTier
    context: int
    samples: int
    repairs: int
    tokens_per_second: float | None = None
    reading: float | None = None
    model: str = ""
    temperature: float = 0.0
    thought: int = 0
    max_output: int = 0
    search_replace: bool = False
    json: bool | None = None
    token_factor: float = 1.0
    known_context: bool = False
    probed: str = ""
    begins: bool = False

    def seconds_for(self, prompt_tokens: int, reply_tokens: int) -> float | None:
        """Seconds that such a call takes; None before the model was measured."""
        if self.tokens_per_second is None:
            return None
        reading = prompt_tokens / self.reading if self.reading else 0.0
        return reading + (reply_tokens + self.thought) / self.tokens_per_second


_SAMPLES: Mapping[ModelTier, int] = {"tiny": 4, "mid": 2, "strong": 1}
"""Replies to choose from: up to 3B further samples gain more than a repair does (aider's published runs)."""

_REPAIRS = 2
"""Of any model. The smallest need one for the reply's form, the others fix what a judge found."""

_UNKNOWN_CONTEXT = 8192
"""Most servers of local models allow or start with this much; hosted models are in the table."""


_FAMILIES: tuple[tuple[str, ModelTier, int], ...] = (
    # Hosted families, the small siblings before the names that they contain.
    (r"gpt-[\d.]+[a-z]*-nano", "mid", 128_000),
    (r"gpt-4o-mini|gpt-3\.5", "mid", 16_000),
    (r"gpt-oss", "mid", 128_000),
    (r"gpt-(4|5)|\bo[134](-|$)|chatgpt|codex", "strong", 128_000),
    (r"claude.*(haiku|instant)", "mid", 200_000),
    (r"claude", "strong", 200_000),
    (r"gemini.*flash-lite|gemini.*-8b", "mid", 1_000_000),
    (r"gemini", "strong", 1_000_000),
    (r"grok", "strong", 128_000),
    (r"deepseek-coder(?!-v2)", "mid", 16_000),
    (r"deepseek", "strong", 64_000),
    (r"mistral-large|devstral-medium|codestral", "strong", 128_000),
    (r"mi[sx]tral|ministral|devstral|magistral|mathstral", "mid", 32_000),
    (r"kimi|glm-[45]|minimax|qwen(\d+)?-?(max|plus)|qwen3-coder-plus|command-[ar]", "strong", 128_000),
    # Open weights, mostly named with their size.
    (r"qwq|qwen3", "mid", 32_000),
    (r"qwen", "mid", 32_000),
    (r"starcoder2", "mid", 16_000),
    (r"starcoder|santacoder", "mid", 8_192),
    (r"tiny-?llama", "tiny", 2_048),
    (r"code-?llama", "mid", 16_000),
    (r"llama-?2", "mid", 4_096),
    (r"llama", "mid", 128_000),
    (r"phi-?[12](\D|$)", "tiny", 2_048),
    (r"phi-?[34].*mini|smollm|stable-?code", "tiny", 4_096),
    (r"phi", "mid", 16_000),
    (r"gemma-?[12]?(\D|$)", "mid", 8_192),
    (r"gemma", "mid", 128_000),
    (r"granite", "mid", 8_192),
)
"""Name, tier of one without a size, and largest context of models."""

_NEEDS_WARMTH: tuple[tuple[str, float], ...] = (
    (r"gpt-oss", 1.0),
    (r"deepseek-r1|deepseek-reasoner|\bqwq\b|qwen3(?!-coder)|magistral|thinking", 0.6),
)
"""Models whose authors warn of loops below a temperature."""

_THINKS = (
    r"gpt-oss|gpt-5|\bo[134](-|$)|-r1\b|reasoner|\bqwq\b|qwen3(?!-coder)|magistral|thinking|gemini-(2\.5|3)"
    r"|grok-[34]"
)
_THOUGHT = 4000
"""Tokens in addition to the answer's: these models count their reasoning against `max_tokens`."""

_SIZE = re.compile(r"(?<![\d.a-z])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z\d])")
_ACTIVE = re.compile(r"-a\d+(?:\.\d+)?b")
_TINY_BILLIONS, _MID_BILLIONS = 4.0, 24.0


def profile_for(model_name: str) -> Profile:
    """The profile of a model by its name, such as `qwen2.5-coder:7b` or `gpt-5`.

    A size in the name decides (billions of parameters: up to 4 tiny, up to 24 mid), else the family. An unknown name
    counts as mid, which wastes little on a strong model and does little harm on a weak one.
    """
    name = model_name.lower()
    family = next((row for row in _FAMILIES if re.search(row[0], name)), None)
    _, tier, context = family or ("", "mid", _UNKNOWN_CONTEXT)
    if (size := _billions(name)) is not None:
        tier = "tiny" if size <= _TINY_BILLIONS else "mid" if size <= _MID_BILLIONS else "strong"
        context = min(context, _UNKNOWN_CONTEXT)  # open weights, served with less than their maximum
    return Profile(
        tier,
        context,
        _SAMPLES[tier],
        _REPAIRS,
        model=model_name,
        temperature=next((least for pattern, least in _NEEDS_WARMTH if re.search(pattern, name)), 0.0),
        thought=_THOUGHT if re.search(_THINKS, name) else 0,
    )


_BADLY_FORMED = 0.75
_LOOPED = 0.4
_LEAST_PROOF = 2


def with_measurements(profile: Profile, record: StoredProfile) -> Profile:
    """The profile with the measurements of the model, and its self-test."""
    profile = replace(
        profile,
        tokens_per_second=record.writing,
        reading=record.reading,
        token_factor=TokenCalibration(record.ratios).factor,
    )
    probe = record.probe
    if probe is None:
        return profile
    formed, solved, blocks = probe.well_formed, probe.solved, probe.search_replace
    return replace(
        profile,
        probed=probe.at,
        context=probe.context or profile.context,
        known_context=profile.known_context or bool(probe.context),
        max_output=probe.max_output,
        # If no reply is right there is nothing to choose. (All right proves little: the tasks are easy.)
        samples=1 if solved.tried > _LEAST_PROOF and not solved.good else profile.samples,
        repairs=profile.repairs + (formed.tried > 0 and formed.good < _BADLY_FORMED * formed.tried),
        search_replace=blocks.tried >= _LEAST_PROOF and blocks.good == blocks.tried,
        json=None if not probe.json else probe.json != "no",
        begins=bool(probe.begins),
        temperature=max(profile.temperature, _LOOPED if probe.loops else 0.0),
    )


def with_user_settings(profile: Profile, rows: Iterable[ModelRow]) -> Profile:
    """The profile with the user's settings for such models."""
    own = _own(rows, profile.model, "generator")
    return replace(
        profile,
        context=own.context or profile.context,
        known_context=profile.known_context or own.context is not None,
        samples=own.samples or profile.samples,
        repairs=profile.repairs if own.repairs is None else own.repairs,
    )


def tuned_sampling(sampling: Sampling, profile: Profile, rows: Iterable[ModelRow], most_tokens: int) -> Sampling:
    """The sampling for such a model: the user's row first, then the needs of its profile."""
    own = _own(rows, profile.model, sampling.role)
    temperature = sampling.temperature if sampling.by_user else max(sampling.temperature, profile.temperature)
    limit = min(sampling.max_tokens, own.max_tokens or most_tokens) + profile.thought
    return replace(
        sampling,
        temperature=temperature if own.temperature is None else own.temperature,
        max_tokens=min(limit, profile.max_output) if profile.max_output else limit,
    )


def _own(rows: Iterable[ModelRow], model: str, role: Role) -> ModelRow:
    """The rows that fit a model in a role, as one: the last that has a key wins."""
    found: dict[str, Any] = {"name": model}
    for row in rows:
        if row.role in ("any", role) and fnmatchcase(model.lower(), row.name.lower()):
            found |= row.model_dump(exclude_none=True, exclude={"name", "role"})
    return ModelRow.model_construct(**found)


def is_chat_model(model_name: str) -> bool:
    """False for names of models that make vectors, speech or pictures; servers list those too."""
    return not re.search(
        r"embed|rerank|whisper|\btts\b|bge-|minilm|moderation|dall-e|\bclip\b|diffusion", model_name.lower()
    )


def _billions(name: str) -> float | None:
    """The parameters in a name: `30b-a3b` counts its whole size, `8x7b` all of its experts."""
    match = _SIZE.search(_ACTIVE.sub("", name))
    if match is None:
        return None
    experts, number, unit = match.groups()
    return float(number) * int(experts or 1) / (1000 if unit == "m" else 1)
