"""The names of files whose content is a secret: no model reads them, and no sandbox shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

from stet_ls.engine.privacy.gitignore import decision, parse

SECRET_FILES = (
    ".env", ".env.*", "*.env", ".envrc", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.ppk", "*.kdbx", "*.gpg", "*.age",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "*_rsa", "*_ed25519",
    ".ssh/", ".gnupg/", ".aws/", ".azure/", ".kube/", "**/.config/gcloud/", "**/.docker/config.json", ".dockercfg",
    "credentials", "credentials.json", "credentials.csv", "credentials.xml", "client_secret*.json",
    "service[-_]account*.json", "kubeconfig", "*.kubeconfig", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*",
    ".terraformrc", "terraform.rc", ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials",
    ".pgpass", ".my.cnf", ".htpasswd", ".s3cfg", ".boto", ".vault-token", "vault_pass*", "master.key",
    "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "*.secrets", ".secrets", "local.settings.json",
)  # fmt: skip
"""Patterns of names that are secret in any folder; in the syntax of .gitignore."""

_LINES = parse("\n".join(SECRET_FILES))
_QUICK = re.compile("|".join(translate(line.strip("/").rpartition("/")[2]) for line in SECRET_FILES if line[0] != "!"))


def is_secret(path: Sequence[str], *, folder: bool = False) -> bool:
    """True for a secret file or folder by the names of its path in any case; a walk has checked the folders above."""
    path = [name.lower() for name in path]
    return _QUICK.match(path[-1]) is not None and bool(decision(_LINES, path, folder=folder))
