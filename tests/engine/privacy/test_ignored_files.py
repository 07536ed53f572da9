"""What is never shown: files of secrets, the user's list, and the lists of a project, which can only add."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path, PurePosixPath

import pytest

from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.privacy.gitignore import decision, parse
from stet_ls.engine.privacy.ignored_files import IgnoredFiles, left_out


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    return tmp_path


def ignored(root: Path, *own: str, buffers: tuple[Buffer, ...] = ()) -> IgnoredFiles:
    return IgnoredFiles(Workspace((root,), buffers), own)


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", "api/.env.production", "prod.env", "id_rsa", "keys/server.pem", ".netrc", ".npmrc",
        ".pypirc", "home/.aws/credentials", ".kube/config", "kubeconfig", "prod.tfvars", "terraform.tfstate",
        "secrets.yaml", "client_secret_123.json", ".ssh/config", "release.keystore",
        ".docker/config.json", "deploy_ed25519",
    ],
)  # fmt: skip
def test_files_that_usually_hold_secrets_are_hidden(root: Path, name: str) -> None:
    assert ignored(root).reason(root / name) == "file of secrets"
    assert ignored(root).reason(PurePosixPath(name)) == "file of secrets"


@pytest.mark.parametrize(
    "name", ["main.py", ".env.example", "env.py", "keys.py", "id_rsa.pub", "secrets.py", "config.json", "README.md"]
)
def test_other_files_are_not_hidden(root: Path, name: str) -> None:
    assert ignored(root).reason(root / name) is None


def test_a_project_can_hide_more_but_never_show_what_the_user_hides(root: Path) -> None:
    (root / ".stetignore").write_text("!.env\n!private/\n!*.key\nvendor/\n*.sql\n")
    hidden = ignored(root, "private/")
    assert hidden.reason(root / ".env") == "file of secrets"
    assert hidden.reason(root / "a.key") == "file of secrets"
    assert hidden.reason(root / "private" / "a.py") == "ignored by privacy.ignore"
    assert hidden.reason(root / "vendor" / "lib" / "a.py") == "ignored by .stetignore"
    assert hidden.reason(root / "a.sql") == "ignored by .stetignore"
    assert hidden.reason(root / "a.py") is None


def test_the_nearest_ignore_file_wins_and_its_buffer_before_the_disk(root: Path) -> None:
    (root / ".stetignore").write_text("*.txt\n")
    (root / "src" / ".stetignore").write_text("!keep.txt\nmore.py\n")
    assert ignored(root).reason(root / "src" / "deep" / "keep.txt") is None
    assert ignored(root).reason(root / "src" / "other.txt") is not None
    assert ignored(root).reason(root / "src" / "deep" / "more.py") is not None
    assert ignored(root).reason(root / "more.py") is None
    unsaved = Buffer(root / "src" / ".stetignore", 2, "deep/\n")
    assert ignored(root, buffers=(unsaved,)).reason(root / "src" / "deep" / "a.py") is not None
    assert ignored(root, buffers=(unsaved,)).reason(root / "src" / "more.py") is None


def test_a_changed_ignore_file_is_read_again(root: Path) -> None:
    hidden = ignored(root)
    assert hidden.reason(root / "a.py") is None
    (root / ".stetignore").write_text("a.py\n")
    assert hidden.reason(root / "a.py") is not None
    (root / ".stetignore").write_text("other.py\n")
    assert hidden.reason(root / "a.py") is None


def test_an_unreadable_ignore_file_hides_everything(root: Path) -> None:
    (root / ".stetignore").mkdir()
    assert ignored(root).reason(root / "a.py") == "ignored by .stetignore"
    (root / ".stetignore").rmdir()
    (root / ".stetignore").write_text("x\n" * 3000)
    assert ignored(root).reason(root / "a.py") == "ignored by .stetignore"


def test_pieces_of_context_are_hidden_by_their_names(root: Path) -> None:
    (root / ".stetignore").write_text("notes.md\n")
    given = [".env", f"{root}/notes.md", "failing call", "src\\id_rsa", (root / "src/a.py").as_uri()]
    assert left_out(given, ignored(root)) == {
        ".env": "file of secrets",
        f"{root}/notes.md": "ignored by .stetignore",
        "src\\id_rsa": "file of secrets",
    }


LINKS = {
    "a link": ("notes.md", ".env"),
    "a link to a link": ("notes.md", "second.md"),
    "a folder that is a link": ("shown/id_rsa.txt", None),
    "a name with dots": ("src/../notes.md", ".env"),
    "a link out of the workspace": ("notes.md", "../outside/.netrc"),
}


@pytest.mark.parametrize(("name", "target"), LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("way", ["plain", "root is a link"])
def test_the_target_of_a_link_is_checked(tmp_path: Path, name: str, target: str | None, way: str) -> None:
    real = tmp_path / "real"
    for folder in (real / "src", real / ".ssh", tmp_path / "outside"):
        folder.mkdir(parents=True)
    (real / "second.md").symlink_to(".env")
    (real / "shown").symlink_to(".ssh")
    if target is not None:
        (real / "notes.md").symlink_to(target)
    root = tmp_path / "alias" if way == "root is a link" else real
    if root != real:
        root.symlink_to(real)
    assert ignored(root).reason(root / name) == "file of secrets"
    assert ignored(root).reason(root / "src" / "a.py") is None


def test_a_link_to_an_ignored_file_is_hidden(root: Path) -> None:
    """By the project's list, by the user's, and for a name that the user gave to a piece of context."""
    for folder in ("private", "mine"):
        (root / folder).mkdir()
        (root / folder / "a.py").touch()
        (root / f"{folder}.py").symlink_to(f"{folder}/a.py")
    (root / ".stetignore").write_text("private/\n")
    hidden = ignored(root, "mine/")
    assert hidden.reason(root / "private.py") == "ignored by .stetignore"
    assert hidden.reason(root / "mine.py") == "ignored by privacy.ignore"
    assert left_out(["private.py", "mine.py", "other.py"], hidden) == {
        "private.py": "ignored by .stetignore",
        "mine.py": "ignored by privacy.ignore",
    }


@pytest.mark.parametrize("name", [".ENV", "ID_RSA", "Server.PEM", "Secrets.YAML"])
def test_names_of_secret_files_are_matched_in_any_case(root: Path, name: str) -> None:
    assert ignored(root).reason(root / name) == "file of secrets"


PARTS = ["a", "b", "*", "**", "a*", "*b", "?", "[ab]", "[!a]", "a**b", "\\*", "a b"]
NAMES = ["a", "b", "ab", "ba", "a b", "*", "c"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_patterns_have_the_meaning_of_git(tmp_path: Path) -> None:
    """Against `git check-ignore`, with lines and paths drawn by chance."""
    chance = random.Random(4)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    paths = ["/".join(chance.choice(NAMES) for _ in range(chance.randint(1, 4))) for _ in range(60)]
    for _ in range(25):
        lines = [_line(chance) for _ in range(chance.randint(1, 4))]
        (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n")
        (tmp_path / ".stetignore").write_text("\n".join(lines) + "\n")
        output = subprocess.run(
            ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"],
            input="\0".join(paths),
            capture_output=True,
            text=True,
        ).stdout.split("\0")
        ours = [path for path in paths if ignored(tmp_path).reason(tmp_path / path)]
        assert ours == [path for path in paths if path in output], lines


def _line(chance: random.Random) -> str:
    body = "/".join(chance.choice(PARTS) for _ in range(chance.randint(1, 3)))
    return chance.choice(["", "", "!"]) + chance.choice(["", "/"]) + body + chance.choice(["", "", "/"])


@pytest.mark.parametrize("line", ["*a" * 60 + "b", "**/a/" * 40 + "b", "[a-" * 50, "a**" * 80 + "b", "?*" * 100 + "b"])
def test_no_pattern_is_slow(line: str) -> None:
    started = time.process_time()
    for path in (["a"] * 1000, ["a" * 255] * 16, ["a" * 250 + "c"]):
        decision(parse(line), path)
    assert time.process_time() - started < 2


def test_a_name_in_another_unicode_form_is_the_same_name(tmp_path: Path) -> None:
    """As the percent signs of a URI, or as letters with separate accents."""
    (tmp_path / ".stetignore").write_text("h\u00e9.md\nplain.md\n")
    separate = "he\u0301.md"
    hidden = IgnoredFiles(Workspace((tmp_path,)), ("own-\u00e9.md",))
    assert hidden.reason(tmp_path / separate) == "ignored by .stetignore"
    assert hidden.reason(tmp_path / "own-e\u0301.md") == "ignored by privacy.ignore"
    base = tmp_path.as_uri()
    names = [f"{base}/pl%61in.md", f"FILE://localhost{tmp_path}/plain.md", f"{base}/%2eenv", f"{base}/other%2emd"]
    assert list(left_out(names, hidden)) == names[:3]
