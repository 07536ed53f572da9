"""A keyring for tests: `STET_TEST_KEYRING` holds SERVICE/USER=PASSWORD entries, one a line; "locked" refuses all."""

from __future__ import annotations

import os

from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential
from keyring.errors import KeyringLocked


class Keyring(KeyringBackend):
    """Reads the variable again each time."""

    priority = 1  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return self._entries().get((service, username))

    def get_credential(self, service: str, username: str | None) -> SimpleCredential | None:
        found = [(user, key) for (name, user), key in self._entries().items() if name == service]
        return next((SimpleCredential(user, key) for user, key in found if username in (None, user)), None)

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        raise NotImplementedError

    def _entries(self) -> dict[tuple[str, str], str]:
        text = os.environ.get("STET_TEST_KEYRING", "")
        if text == "locked":
            raise KeyringLocked("the collection is locked")
        rows = (line.partition("=") for line in text.splitlines())
        return {(name.partition("/")[0], name.partition("/")[2]): key for name, _, key in rows}
