"""Configurations to paste, one file per editor; `stet editor NAME` prints them and says where they belong."""

from collections.abc import Mapping

PLACES: Mapping[str, str] = {
    "emacs": "Into init.el, for Emacs 27 or newer. Keys: C-c s, then a letter; `C-h f stet-refactor` explains.",
    "helix": "Into ~/.config/helix/languages.toml; name Stet next to the servers that you use already.",
    "jetbrains": "Save it as template.json in a folder of its own. With the plugin LSP4IJ: New Language Server, import"
    " from a custom template, choose the folder.",
    "kate": "Settings > Configure Kate > LSP Client > User Server Settings; then enable the plugin LSP Client.",
    "neovim": "Into init.lua, for Neovim 0.11. The plugin in editors/neovim adds the command :Stet.",
    "sublime": "With the package LSP: Preferences > Package Settings > LSP > Server Configurations"
    ' (older versions: below "clients" in LSP.sublime-settings).',
    "vim": "Into vimrc. No plugin is needed.",
    "zed": "Into ~/.config/zed/tasks.json; run them with task: spawn. They work on the saved file. Zed starts language"
    " servers for its extensions only, and there is none for Stet yet.",
}
"""Where each configuration belongs: JSON cannot hold a comment that says so."""
