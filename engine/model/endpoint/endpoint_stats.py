"""What is known of the model at one endpoint: its speed, its token counts, its self-test."""

from __future__ import annotations

import asyncio
import time

from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.endpoint.stream_request import StreamRequest
from stet_ls.engine.model.profiles.profile_store import ProbeScores, ProfileStore, StoredProfile
from stet_ls.engine.model.profiles.profiles import Profile, with_measurements
from stet_ls.engine.model.profiles.speed import Speed
from stet_ls.engine.model.profiles.token_calibration import TokenCalibration

KEEP_SECONDS = 60.0
"""Between two writes of what was learned; the rest is written when the endpoint is closed."""


class EndpointStats:
    """The record of one model at an endpoint, saved at intervals; `problem`: why a stored one was unusable."""

    def __init__(self, store: ProfileStore, endpoint: str, *, reading: float | None = None) -> None:
        self.speed = Speed(reading=reading)
        self.correction = TokenCalibration()
        self.probe: ProbeScores | None = None
        self.problem = ""
        self._store = store
        self._endpoint = endpoint
        self._assumed_reading = reading
        self._model: str | None = None
        self._whole = False
        self._changed = False
        self._kept_at = time.monotonic()
        self._opening = asyncio.Lock()

    async def of(self, profile: Profile) -> Profile:
        """The profile with what is known."""
        async with self._opening:
            if self._model != profile.model:
                await self._open(profile.model)
        return with_measurements(profile, self._record())

    def learn(self, exchange: StreamRequest, *, estimated: int, first_token_seconds: float) -> None:
        """Take in a call that was served; `estimated` tokens were sent, by the plain estimate."""
        reading = exchange.reading
        self._changed = True
        self._whole = not exchange.streamed
        if self._whole:
            return  # here the first token arrives with the whole reply
        self.speed.learn(
            reading.usage, first_token_seconds=first_token_seconds, writing_seconds=reading.writing_seconds
        )
        if reading.usage is not None:
            self.correction.learn(estimated, reading.usage.prompt_tokens)

    def first_token_limit(self, least: float, prompt_tokens: int, sampling: Sampling) -> float:
        """Seconds after which a missing first token is a fault; for a whole reply if the endpoint does not stream."""
        limit = self.speed.first_token_limit(least, prompt_tokens)
        if not (self._whole or (self.probe is not None and self.probe.streams is False)):
            return limit
        return limit + sampling.max_tokens / (self.speed.writing or _SLOW_WRITING)

    async def found(self, probe: ProbeScores) -> None:
        """Takes in a self-test, and saves it at once."""
        self.probe, self._changed = probe, True
        await self.keep()

    async def keep(self, *, pause: float = 0.0) -> None:
        """Writes new data, unless it was written less than `pause` seconds ago."""
        if self._changed and self._model is not None and time.monotonic() - self._kept_at >= pause:
            self._changed, self._kept_at = False, time.monotonic()
            await asyncio.to_thread(self._store.save, self._record())

    async def _open(self, model: str) -> None:
        await self.keep()
        record, self.problem = await asyncio.to_thread(self._store.load, self._endpoint, model)
        self.speed = Speed(record.writing, record.reading or self._assumed_reading)
        self.correction = TokenCalibration(record.ratios)
        self.probe = record.probe
        self._model = model

    def _record(self) -> StoredProfile:
        reading = None if self.speed.reading == self._assumed_reading else self.speed.reading
        return StoredProfile(
            self._endpoint, self._model or "", self.speed.writing, reading, self.correction.ratios, self.probe
        )


_SLOW_WRITING = 10.0
"""Tokens per second to assume of an endpoint whose replies come in one piece."""
