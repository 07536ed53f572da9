"""Installs what Stet ships for an editor: the plugin for Neovim, the extension for VS Code. Each can be taken back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import stet_ls.editors
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.agents.config_files.config_place import this_program

MARK = Path("lua", "stet", "installed.lua")
"""Names the server that belongs to an installed plugin; only a folder with this file is replaced or removed."""

EXTENSION = "stet-ls.stet"

VSIX_MARK = "extension/dist/installed.json"
"""The same for the extension, inside of its package; `editors/vscode/src/server/find.ts` reads it."""

VS_CODE = ("code", "code-insiders", "codium", "cursor", "code-server")
"""Programs that install an extension for VS Code, by `--install-extension`."""

_NOT_COPIED = shutil.ignore_patterns("tags", "tests")


@dataclass(frozen=True, slots=True)
class Installer:
    """Installs for one editor, and removes it. Both return what they did, a line each; a dry run changes nothing."""

    install: Callable[[bool], list[str]]
    remove: Callable[[bool], list[str]]


def shipped(*names: str) -> Path:
    """A file or folder for an editor: next to the configurations in a package, one folder above them in a checkout."""
    here = Path(stet_ls.editors.__file__).resolve().parent
    place = here.joinpath(*names)
    return place if place.exists() else here.parent.joinpath(*names)


def _stet() -> str:
    """How a shell calls this program: by its name if that finds it."""
    words = this_program().words
    found = shutil.which("stet")
    return "stet" if found and Path(found).resolve() == Path(words[0]).resolve() else " ".join(words)


def _neovim_place() -> Path:
    """The folder that Neovim loads by itself (`:help packages`)."""
    name = os.environ.get("NVIM_APPNAME") or "nvim"
    if sys.platform == "win32":
        data = Path(os.environ["LOCALAPPDATA"]) / f"{name}-data"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name
    return data / "site" / "pack" / "stet" / "start" / "stet"


def _install_neovim(dry_run: bool) -> list[str]:
    place, source = _neovim_place(), shipped("neovim")
    words = ", ".join(json.dumps(word) for word in (*this_program().words, "--stdio"))
    mark = f"-- Written by `stet editor neovim --install`.\nreturn {{ cmd = {{ {words} }} }}\n"
    _refuse_foreign(place)
    if _tree(place) == {**_tree(source), MARK: mark.encode()}:
        return [f"Neovim plugin already up to date: {place}"]
    if dry_run:
        return [f"would copy the Neovim plugin to {place}"]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".stet-") as folder:
            new = Path(folder, "stet")
            shutil.copytree(source, new, ignore=_NOT_COPIED)
            (new / MARK).write_text(mark, encoding="utf-8")
            if place.exists():
                place.replace(Path(folder, "old"))
            new.replace(place)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or place}: {error.strerror}") from None
    return [
        f"Neovim plugin copied to {place}",
        "Restart Neovim, open a file and type `:Stet`. Help: `:help stet`. To choose a model: `:Stet setup`.",
        f"To undo: {_stet()} editor neovim --remove",
    ]


def _remove_neovim(dry_run: bool) -> list[str]:
    place = _neovim_place()
    _refuse_foreign(place)
    if not place.exists():
        return [f"no Neovim plugin of Stet in {place}"]
    if dry_run:
        return [f"would remove {place}"]
    shutil.rmtree(place)
    for folder in place.parents[:2]:  # `start` and `pack/stet`, if nothing else is in them
        if not any(folder.iterdir()):
            folder.rmdir()
    return [f"removed {place}"]


def _refuse_foreign(place: Path) -> None:
    if place.exists() and not (place / MARK).is_file():
        raise UsageError(f"{place} exists and was not written by `stet editor neovim --install`; move it away first")


def _tree(folder: Path) -> dict[Path, bytes]:
    """The files of a folder that a plugin is made of, by their relative path."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != "tags")
    return {file.relative_to(folder): file.read_bytes() for file in files}


def _install_vscode(dry_run: bool) -> list[str]:
    package = shipped("vscode", "stet.vsix")
    if not package.is_file():
        raise UsageError(
            "this installation has no extension for VS Code: it was built without node",
            hint="in a clone of Stet run `make vsix` (needs node 20), then install Stet from there again",
        )
    with tempfile.TemporaryDirectory() as folder:
        marked = Path(folder, package.name)
        shutil.copyfile(package, marked)
        with zipfile.ZipFile(marked, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(VSIX_MARK, json.dumps({"command": [*this_program().words, "--stdio"]}))
        options = ["--install-extension", str(package if dry_run else marked), "--force"]
        done = [*_with_vs_code(options, "install", package, dry_run)]
    return done if dry_run else [*done, f"Reload the window in VS Code. To undo: {_stet()} editor vscode --remove"]


def _remove_vscode(dry_run: bool) -> list[str]:
    return list(_with_vs_code(["--uninstall-extension", EXTENSION], "remove", None, dry_run))


def _with_vs_code(options: list[str], verb: str, package: Path | None, dry_run: bool) -> Iterator[str]:
    """Runs each VS Code on PATH with the options. UsageError if there is none, or one fails."""
    programs = [place for name in VS_CODE if (place := shutil.which(name))]
    if not programs:
        by_hand = f"in VS Code, Extensions > … > Install from VSIX…, choose {package}" if package else ""
        raise UsageError(f"none of {', '.join(VS_CODE)} is on PATH", hint=by_hand)
    for program in programs:
        if dry_run:
            yield f"would run: {' '.join([program, *options])}"
            continue
        result = subprocess.run([program, *options], capture_output=True, text=True, errors="replace", check=False)
        if result.returncode != 0:
            last = (result.stderr or result.stdout).strip().splitlines()[-1:] or ["no output"]
            raise UsageError(f"`{' '.join([program, *options])}` failed: {last[0]}")
        yield f"{Path(program).name}: extension {EXTENSION} {verb.removesuffix('e')}ed"


INSTALLERS: Mapping[str, Installer] = {
    "neovim": Installer(_install_neovim, _remove_neovim),
    "vscode": Installer(_install_vscode, _remove_vscode),
}
"""By the name of the editor. The others take a configuration, which `stet editor NAME` prints."""
