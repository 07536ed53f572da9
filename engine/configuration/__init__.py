"""Where settings come from: defaults < user file < project file < environment < editor < command arguments.

Each later source overrides the earlier ones key by key. A project's files (its `.stet.toml`, and the editor settings
that arrive with a workspace) may not set a key marked `user_only`: such a value is ignored, and told.
"""

from stet_ls.engine.configuration.keys import KEYS, PROVIDER_KEYS, TABLES, Key
from stet_ls.engine.configuration.load import Loaded, Row, load
from stet_ls.engine.configuration.sources import NOT_SETTINGS, PROJECT_FILE, find_project

__all__ = [
    "KEYS",
    "NOT_SETTINGS",
    "PROJECT_FILE",
    "PROVIDER_KEYS",
    "TABLES",
    "Key",
    "Loaded",
    "Row",
    "find_project",
    "load",
]
