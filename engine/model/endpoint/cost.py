"""The cost of a call, in the currency of its provider's prices."""

from __future__ import annotations

from stet_ls.engine.model.chat import Usage
from stet_ls.engine.model.endpoint.connection import is_loopback
from stet_ls.engine.settings.table_schemas import Provider

_MILLION = 1_000_000


def cost_of(provider: Provider, usage: Usage) -> float | None:
    """The price of so many tokens: 0 on this machine without prices in the settings, None elsewhere."""
    price_in, price_out = provider.price_in, provider.price_out
    if is_loopback(provider.base_url):
        price_in, price_out = price_in or 0.0, price_out or 0.0
    if price_in is None or price_out is None:
        return None
    price_cached = price_in if provider.price_cached is None else provider.price_cached
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    fresh = usage.prompt_tokens - cached
    return (fresh * price_in + cached * price_cached + usage.completion_tokens * price_out) / _MILLION
