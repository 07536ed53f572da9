"""Paths and words in literals that lead out of a project: tables that all languages share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stet_ls.engine.judges.danger.risk_kinds import OUTSIDE, PERSISTS, SECRETS, TESTS

_LONGEST = 200
_PERSISTS = re.compile(
    r"(?:.*[/\\])?(?:\.(?:bash(?:rc|_profile|_login|_logout)|profile|z(?:shrc|profile|shenv|login)|[kc]shrc|tcshrc"
    r"|xinitrc|xprofile|xsession(?:rc)?|inputrc|vimrc|pam_environment|gitconfig)"
    r"|authorized_keys|\.gitattributes|pip\.(?:conf|ini)|(?:site|user)customize\.py|[\w-]+\.pth|config\.fish|crontab)"
    r"|(?:.*[/\\])?(?:\.git[/\\](?:hooks|config)|\.husky|\.vscode|\.github[/\\]workflows|\.config[/\\](?:autostart|systemd|fish)|autostart"
    r"|Launch(?:Agents|Daemons)|Start Menu|cron(?:tabs|\.\w+))(?:[/\\].*)?"
    r"|(?:.*[/\\])?hooks[/\\](?:pre|post|prepare|commit)-[\w-]+|(?:pre-commit|pre-push|post-(?:commit|merge|checkout))"
    r"|/etc/(?:cron|profile|rc|init|systemd|sudoers|ld\.so|hosts|environment|passwd|ssh).*"
    r"|.*CurrentVersion\\+Run.*",
    re.IGNORECASE,
)
_STARTED = re.compile(
    r"(?:.*[/\\])?(?:(?:GNU)?[Mm]akefile|package\.json|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|conftest\.py|__init__\.py"
    r"|Dockerfile|\.pre-commit-config\.yaml|\.npmrc)"
)
"""Files that tools and loaders run by themselves: reading them is ordinary."""
_STARTS = re.compile(
    r"LD_\w+|DYLD_\w+|PYTHON\w+|NODE_OPTIONS|NODE_PATH|BASH_ENV|PROMPT_COMMAND|PERL5\w+|RUBYOPT|GIT_\w+|PATH"
)
"""Variables that control what a program loads or starts: reading them is ordinary."""
_SECRET_FILES = re.compile(
    r"(?:.*[/\\])?\.(?:ssh|aws|gnupg|kube|docker|azure|netrc|pgpass|npmrc|pypirc|git-credentials|password-store)"
    r"(?:[/\\].*)?|(?:.*[/\\])?id_(?:rsa|dsa|ecdsa|ed25519)(?:\.\w+)?|/etc/(?:shadow|gshadow)|/proc/[\w*{}]+/(?:environ|mem)"
    r"|(?:.*[/\\])?(?:logins\.json|key[34]\.db|Login Data|keychain(?:-db)?)"
)
SECRET_VARIABLE = re.compile(
    r"(?:.*_)?(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_KEY|ACCESS_KEY(?:_ID)?|CREDENTIALS?)(?:_.*)?|SSH_AUTH_SOCK"
)
HOME_VARIABLE = re.compile(r"HOME|USERPROFILE|HOMEPATH|APPDATA|LOCALAPPDATA|XDG_\w+")
INSTALLER = re.compile(
    r"(?:.*\s)?(?:pip[\d.]*|uv|npm|pnpm|yarn|bun|poetry|pdm|conda|mamba|apt|apt-get|dnf|brew|gem|cargo|go|composer)"
    r"\s+(?:-\S+\s+)*(?:pip\s+)?(?:install|add|get|i)(?:\s.*)?"
)
_PIP_OF_NPM = re.compile(r"(?:.*\s)?npx\s.*|(?:.*\s)?pipx\s+run\s.*")
OUTSIDE_PATH = re.compile(
    r"~.*|/(?!dev/(?:null|stdin|stdout|stderr|tty)$).*|[A-Za-z]:[/\\].*|\\\\.*|(?:\.?\.[/\\])*\.\.(?:[/\\].*)?",
    re.DOTALL,
)
_TESTS = re.compile(
    r"PYTEST.*|_pytest(?:\..*)?|NODE_TEST_CONTEXT|(?:.*[/\\])?(?:test_\w*|\w+_test|conftest)\.py"
    r"|(?:.*[/\\])?[\w-]+\.(?:test|spec)\.[cm]?[jt]sx?|.*\.stet-run.*|__(?:eq|ne)__|prepareStackTrace"
)


_OUTSIDE_PATH = re.compile(
    r"~(?:/\S*)?|/(?:home|root|Users|etc|var|opt|mnt|srv|boot|sys|proc|Library)(?:/\S*)?|[A-Za-z]:[/\\](?:Users|Windows|Program)\S*"
)


def risks_named_by(literal: str) -> Iterator[str]:
    """The kinds of a literal that is a path or a name in itself. Prose contains blanks and is neither."""
    if not 2 <= len(literal) <= _LONGEST or "\n" in literal:
        return
    for kind, look in ((PERSISTS, _PERSISTS), (SECRETS, _SECRET_FILES), (TESTS, _TESTS)):
        if look.fullmatch(literal):
            yield kind


def runs_written_file(path: str) -> bool:
    """Whether a tool of the project runs files written to a path."""
    return _STARTED.fullmatch(path[:_LONGEST]) is not None


def controls_programs(name: str) -> bool:
    """Whether setting an environment variable controls what a program loads."""
    return _STARTS.fullmatch(name) is not None


def is_outside_path(literal: str) -> bool:
    """Whether a literal is a path in a home folder or of the system, for any use."""
    return len(literal) <= _LONGEST and _OUTSIDE_PATH.fullmatch(literal) is not None


def installs_packages(command: str) -> bool:
    """Whether a command line installs packages or runs one that it fetches."""
    return any(look.fullmatch(command[:_LONGEST]) for look in (INSTALLER, _PIP_OF_NPM))


def leaves_project(path: str) -> bool:
    """Whether a path, as written, leaves the project."""
    return len(path) > 1 and OUTSIDE_PATH.fullmatch(path[:_LONGEST]) is not None


def environment_variable_kind(name: str) -> str:
    """The kind of an environment variable; "" for an ordinary one."""
    if SECRET_VARIABLE.fullmatch(name):
        return SECRETS
    if HOME_VARIABLE.fullmatch(name):
        return OUTSIDE
    return TESTS if name.startswith("PYTEST") or name == "NODE_TEST_CONTEXT" else ""
