"""Endpoints: the tables under `[[providers]]`, and the one that environment variables define in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr, ValidationError

from stet_ls.engine.errors import SettingsError
from stet_ls.engine.settings.keys import PROVIDER_KEYS, unknown_key
from stet_ls.engine.settings.table_schemas import Provider


@dataclass(frozen=True, slots=True)
class ConfiguredEndpoint:
    """A provider with its key filled in, unless a keyring holds it. `key_origin` says where that is, "" if nowhere."""

    provider: Provider
    key_origin: str = ""


def endpoint_of(
    table: object, index: int, place: str, environment: Mapping[str, str]
) -> tuple[ConfiguredEndpoint, list[str]]:
    """Reads one `[[providers]]` table.

    A misspelled key is a reported problem. An endpoint that cannot be used raises SettingsError, in the server too:
    continuing without it would send code to another model than the user chose.
    """
    name = f"providers[{index}]"
    if not isinstance(table, Mapping):
        raise SettingsError(f'"{name}" in {place}: expected a table with "name" and "base_url"')
    problems = [_unknown(f"{name}.{key}", key, place) for key in table if key not in PROVIDER_KEYS]
    known = {key: value for key, value in table.items() if key in PROVIDER_KEYS}
    try:
        provider = Provider.model_validate(known, strict=True)
    except ValidationError as error:
        raise SettingsError(_sentence(error, name, place)) from None
    variable = provider.api_key_env
    if provider.api_key_keyring and variable:
        problems.append(f'"{name}" in {place}: both "api_key_env" and "api_key_keyring"; the variable is used')
    if not variable:
        # The first call reads the keyring, which may need a person to unlock it.
        return ConfiguredEndpoint(
            provider, f"the keyring: {provider.api_key_keyring}" if provider.api_key_keyring else ""
        ), problems
    if not (key := environment.get(variable, "").strip()):
        problems.append(f'"{name}.api_key_env" in {place}: the environment variable {variable} is not set')
        return ConfiguredEndpoint(provider), problems
    return ConfiguredEndpoint(provider.model_copy(update={"api_key": SecretStr(key)}), variable), problems


def from_variables(environment: Mapping[str, str]) -> tuple[ConfiguredEndpoint | None, list[str]]:
    """The endpoint of STET_BASE_URL, which enables it, STET_MODEL and STET_API_KEY or OPENAI_API_KEY."""
    found = {name: value.strip() for name, value in environment.items() if value.strip()}
    if not (base_url := found.get("STET_BASE_URL")):
        unused = [name for name in ("STET_MODEL", "STET_API_KEY") if name in found]
        return None, [
            f"{name} has no effect without STET_BASE_URL: set STET_BASE_URL to the endpoint, too" for name in unused
        ]
    key_origin = next((name for name in ("STET_API_KEY", "OPENAI_API_KEY") if name in found), "")
    values: dict[str, Any] = {
        "name": "STET_BASE_URL",
        "base_url": base_url,
        "model": found.get("STET_MODEL", ""),
        "organization": found.get("OPENAI_ORG_ID", "") if key_origin == "OPENAI_API_KEY" else "",
        "api_key": SecretStr(found[key_origin]) if key_origin else None,
    }
    try:
        return ConfiguredEndpoint(Provider.model_validate(values), key_origin), []
    except ValidationError:
        raise SettingsError(
            f"the environment variable STET_BASE_URL: expected {ADDRESS}, found {shown_url(base_url)!r}"
        ) from None


ADDRESS = "an http or https address with its version path, such as http://127.0.0.1:11434/v1"


def shown_url(url: str) -> str:
    """An address as it may be shown: without a password, and without a query, which could hold a key."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be parsed"
    host = parts.netloc.rpartition("@")[2]
    netloc = f"***@{host}" if "@" in parts.netloc else host
    return urlunsplit((parts.scheme, netloc, parts.path, "***" if parts.query else "", ""))


def _unknown(dotted: str, key: str, place: str) -> str:
    if key == "api_key":
        where = 'set "api_key_env" to a variable, or "api_key_keyring" to an entry of the system\'s keyring'
        return f'"{dotted}" in {place} is ignored: files must not contain keys; {where}'
    return unknown_key(dotted, key, PROVIDER_KEYS, place)


def _sentence(error: ValidationError, name: str, place: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    known = PROVIDER_KEYS[field].expected if field in PROVIDER_KEYS else "a table"
    expected = ADDRESS if field == "base_url" else known
    return f'"{name}.{field}" in {place}: expected {expected}'
