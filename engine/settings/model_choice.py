"""The model that the user chose by `stet.setup`: a small settings file of its own, so that config.toml stays theirs."""

from __future__ import annotations

import json
from dataclasses import dataclass

from stet_ls.engine.errors import UsageError
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.private_files import write_private
from stet_ls.validators.install_hints import install_command

_HEAD = "# Written by `stet.setup`. It overrides config.toml. Remove this file to forget the choice.\n"
_SERVICE = "stet"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """An embedded model by name, or an endpoint by `url`. `key_place` is `$NAME` of a variable or a keyring's entry."""

    embedded: str = ""
    url: str = ""
    model: str = ""
    key_place: str = ""


def keep(paths: Paths, choice: ModelChoice | None) -> None:
    """Writes the choice, or forgets it. UsageError if the file cannot be written."""
    file = paths.model_file
    try:
        if choice is None:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file, _HEAD + _toml(choice))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None


def _toml(choice: ModelChoice) -> str:
    if choice.embedded:
        return f"providers = []\n\n[model]\nembedded = {json.dumps(choice.embedded)}\ndiscover = false\n"
    rows = {"name": "chosen", "base_url": choice.url, "model": choice.model}
    if choice.key_place.startswith("$"):
        rows["api_key_env"] = choice.key_place[1:]
    elif choice.key_place:
        rows["api_key_keyring"] = choice.key_place
    return "[[providers]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in rows.items())


def keep_key(url: str, key: str) -> str:
    """Puts a key into the system's keyring, and returns its place. Blocks. UsageError says how to do without one."""
    if not key or key.startswith("$"):
        return key
    otherwise = "Put the key into an environment variable, and answer with $ and its name instead of the key."
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise UsageError(
            f"key: no keyring is installed ({install_command('keyring')}), and files must not contain keys. {otherwise}"
        ) from None
    user = url.partition("://")[2].strip("/").replace("/", "-")
    try:
        keyring.set_password(_SERVICE, user, key)
    except keyring.errors.KeyringError as error:
        raise UsageError(f"key: the keyring did not take it ({error}). {otherwise}") from None
    return f"{_SERVICE}/{user}"
