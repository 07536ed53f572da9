"""Where settings come from.

Defaults < user file < chosen model < project file < environment < editor < command arguments.

Each later source overrides the earlier ones key by key. The user's file, the environment and the command line belong to
the user. The project's file and all that an editor sends may come with the opened folder: each key says whether these
may set it, only tighten it, or neither (`SettableBy`); any other value is ignored and reported.
"""

from stet_ls.engine.settings.keys import KEYS, PROVIDER_KEYS, TABLES, Key, SettableBy
from stet_ls.engine.settings.load import LoadedSettings, SettingRow, load
from stet_ls.engine.settings.sources import NOT_SETTINGS
from stet_ls.engine.storage.setting_files import PROJECT_FILE, find_project

__all__ = [
    "KEYS",
    "NOT_SETTINGS",
    "PROJECT_FILE",
    "PROVIDER_KEYS",
    "TABLES",
    "Key",
    "LoadedSettings",
    "SettableBy",
    "SettingRow",
    "find_project",
    "load",
]
