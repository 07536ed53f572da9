"""What to expect of a model from its name alone: how strong it is, how much it reads, how to spend calls on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Tier = Literal["tiny", "mid", "strong"]


@dataclass(frozen=True, slots=True)
class Profile:
    """How the engine treats a model. `context` is in tokens; `tokens_per_second` is None until it was measured."""

    tier: Tier
    context: int
    samples: int
    repairs: int
    tokens_per_second: float | None = None


_SPENDING: dict[Tier, tuple[int, int]] = {"tiny": (4, 1), "mid": (2, 1), "strong": (1, 2)}
"""Samples and repairs. Up to 3B a retry with the real failure gains about 3 points and further samples more; strong
models gain 30 by a repair (aider's published runs, first against second try)."""

_UNKNOWN_CONTEXT = 8192
"""Most servers of local models allow this much or are started with it; hosted models are in the table."""

_FAMILIES: tuple[tuple[str, Tier, int], ...] = (
    # Hosted families, the small siblings before the names that they contain.
    (r"gpt-[\d.]+[a-z]*-nano", "mid", 128_000),
    (r"gpt-4o-mini|gpt-3\.5", "mid", 16_000),
    (r"gpt-(4|5)|\bo[134](-|$)|chatgpt|codex", "strong", 128_000),
    (r"claude.*(haiku|instant)", "mid", 200_000),
    (r"claude", "strong", 200_000),
    (r"gemini.*flash-lite|gemini.*-8b", "mid", 1_000_000),
    (r"gemini", "strong", 1_000_000),
    (r"grok", "strong", 128_000),
    (r"deepseek-(chat|reasoner|v\d)|deepseek.r1$", "strong", 64_000),
    (r"mistral-large|devstral-medium|codestral", "strong", 128_000),
    (r"mistral-(small|medium)|ministral", "mid", 32_000),
    (r"kimi|glm-[45]|minimax|qwen(\d+)?-?(max|plus)|qwen3-coder-plus|command-[ar]", "strong", 128_000),
    (r"phi-?[34].*mini|smollm|tinyllama|gemma.*[^\d]2b|stable-code", "tiny", 4096),
)
"""Name pattern, tier, context. Used where the name tells no size."""

_SIZE = re.compile(r"(?<![\d.a-z])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z\d])")
_ACTIVE = re.compile(r"-a\d+(?:\.\d+)?b")
_TINY_BILLIONS, _MID_BILLIONS = 4.0, 24.0


def profile_for(model_name: str) -> Profile:
    """The profile of a model by its name, such as `qwen2.5-coder:7b` or `gpt-5`.

    A size in the name decides (billions of parameters: up to 4 tiny, up to 24 mid), else the family. A name that tells
    nothing is taken for mid, which wastes little on a strong model and does little harm on a weak one.
    """
    name = model_name.lower()
    family = next(((tier, context) for pattern, tier, context in _FAMILIES if re.search(pattern, name)), None)
    size = _billions(name)
    if size is not None:
        tier: Tier = "tiny" if size <= _TINY_BILLIONS else "mid" if size <= _MID_BILLIONS else "strong"
        return _profile(tier, _UNKNOWN_CONTEXT)
    return _profile(*(family or ("mid", _UNKNOWN_CONTEXT)))


def is_chat_model(model_name: str) -> bool:
    """False for names of models that make vectors, speech or pictures; servers list those beside the others."""
    return not re.search(
        r"embed|rerank|whisper|\btts\b|bge-|minilm|moderation|dall-e|\bclip\b|diffusion", model_name.lower()
    )


def _billions(name: str) -> float | None:
    """The parameters that a name tells: `30b-a3b` counts its whole size, `8x7b` all of its experts."""
    match = _SIZE.search(_ACTIVE.sub("", name))
    if match is None:
        return None
    experts, number, unit = match.groups()
    return float(number) * int(experts or 1) / (1000 if unit == "m" else 1)


def _profile(tier: Tier, context: int) -> Profile:
    samples, repairs = _SPENDING[tier]
    return Profile(tier, context, samples, repairs)
