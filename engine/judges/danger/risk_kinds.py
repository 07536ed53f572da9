"""The kinds of risk to the machine that runs code, and to the tests that judge it: words and codes."""

from __future__ import annotations

from collections.abc import Mapping

Risk = tuple[str, str]
"""What a piece of code does, and its name."""

PROCESS, CODE, NETWORK = "starts a process", "runs text as code", "talks to the network"
DATA, NATIVE, DELETES = "deserializes code", "calls native code", "deletes files"
INSIDE = "accesses interpreter internals"
OUTSIDE = "accesses files outside the project"
PERSISTS = "changes startup files or access rights"
SECRETS = "reads secrets"
ENVIRONMENT = "reads the whole environment"
INSTALLS = "installs packages"
LINKS = "changes links, owners or permissions"
TESTS = "tampers with tests"
HIDES = "hides all errors"

CODES: Mapping[str, str] = {
    PROCESS: "process", CODE: "eval", NETWORK: "network", DATA: "unpickle", NATIVE: "native", DELETES: "delete",
    INSIDE: "introspection", OUTSIDE: "outside-files", PERSISTS: "persistence", SECRETS: "secrets",
    ENVIRONMENT: "environment", INSTALLS: "install", LINKS: "permissions", TESTS: "test-tampering",
    HIDES: "hidden-errors",
}  # fmt: skip
"""The code of each kind, by which the user accepts it."""

NEVER_MEANT = frozenset({PERSISTS, SECRETS, ENVIRONMENT, INSTALLS, TESTS})
"""Kinds that need confirmation even if the instruction may have asked for them."""

SECRET_MOVED = "secret-moved"
"""The code for a hidden value that is dropped or written a second time."""

NEW_FILE = "new-file"
"""The code for a new file that nothing ran, or that defines a name which another file defines."""

OTHER = "danger"
"""The code for a danger found by a judge that names no kind."""

ACCEPTABLE = (*CODES.values(), SECRET_MOVED, NEW_FILE, OTHER)
"""All codes that the user may name."""

FORGES = frozenset({TESTS, INSIDE, NATIVE})
"""Kinds that can make the tests that judge the code pass: if a change adds one, passing tests prove nothing."""
