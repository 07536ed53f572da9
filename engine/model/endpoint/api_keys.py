"""The key of an endpoint: from the settings, which read it from the environment, or from the system's keyring."""

from __future__ import annotations

import asyncio

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.validators.install_hints import install_command

_TIMEOUT_SECONDS = 60.0
"""A keyring may ask the user to unlock it."""


async def key_of(provider: Provider) -> str | EndpointFailure:
    """The key, "" if the endpoint needs none, or why it is unavailable. The keyring is read in a thread."""
    if provider.api_key is not None:
        return provider.api_key.get_secret_value().strip()
    if not provider.api_key_keyring:
        return ""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await asyncio.to_thread(_from_keyring, provider.api_key_keyring)
    except TimeoutError:
        return _absent(f"no response from the keyring within {_TIMEOUT_SECONDS:.0f} s; unlock it")


def _from_keyring(entry: str) -> str | EndpointFailure:
    service, _, user = entry.partition("/")
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return _absent(f"it is in the keyring, which needs the extra `keyring`: {install_command('keyring')}")
    try:
        if user:
            key = keyring.get_password(service, user)
        else:
            found = keyring.get_credential(service, None)
            key = None if found is None else found.password
    except keyring.errors.KeyringError as error:
        return _absent(f"keyring error: {error}")
    except Exception as error:  # noqa: BLE001  # a backend is anybody's code
        return _absent(f"the keyring failed ({type(error).__name__})")
    if not (key or "").strip():
        return _absent(f'the keyring has no entry "{entry}": keyring set {service} {user or "USER"}')
    return (key or "").strip()


def _absent(why: str) -> EndpointFailure:
    return EndpointFailure(Fault.NO_KEY, why, sent=False)
