"""Where settings come from: precedence, origins, and messages that name the key, the place and what was expected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.engine.errors import SettingsError
from stet_ls.engine.settings import KEYS, NOT_SETTINGS, LoadedSettings, find_project, load
from stet_ls.engine.settings.schema import Settings

ROOMS = Path(__file__).parents[3]


@pytest.fixture
def user_file(stet_home: Path) -> Path:
    return stet_home / "config.toml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def origin(loaded: LoadedSettings, key: str) -> str:
    return next(row.origin for row in loaded.rows if row.key == key and not row.refused)


def value(loaded: LoadedSettings, key: str) -> object:
    return next(row.value for row in loaded.rows if row.key == key and not row.refused)


def test_without_any_source_everything_is_a_default(stet_home: Path) -> None:
    loaded = load(project=None)

    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert {row.key for row in loaded.rows} == set(KEYS)
    assert {row.origin for row in loaded.rows} == {"default"}


def test_each_source_overrides_those_before_it(user_file: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One key more is left to each earlier source, so every step of the order is seen."""
    names = ["deadline", "model.max_tokens", "checks.fix_attempts", "memory.min_score", "memory.max_solutions"]
    user_file.write_text(
        "deadline = 1\n[model]\nmax_tokens = 101\n[checks]\nfix_attempts = 1\n[memory]\nmin_score = 0.1\n"
        "max_solutions = 1\n"
    )
    (project / ".stet.toml").write_text(
        "deadline = 0.9\n[model]\nmax_tokens = 100\n[checks]\nfix_attempts = 0\n[memory]\nmin_score = 0.2\n"
    )
    monkeypatch.setenv("STET_DEADLINE", "3")
    monkeypatch.setenv("STET_MODEL_MAX_TOKENS", "103")
    monkeypatch.setenv("STET_CHECKS_FIX_ATTEMPTS", "3")

    loaded = load(
        project=project, editor={"deadline": 0.8, "model": {"max_tokens": 99}}, arguments={"deadline": 5}, strict=True
    )

    assert [value(loaded, name) for name in names] == [5, 99, 3, 0.2, 1]
    assert [origin(loaded, name) for name in names] == [
        "command line",
        "editor settings",
        "environment: STET_CHECKS_FIX_ATTEMPTS",
        f"project file: {project / '.stet.toml'}, line 7",
        f"user file: {user_file}, line 8",
    ]
    assert loaded.settings.deadline == 5
    assert loaded.settings.memory.min_score == 0.2


def test_an_unknown_key_is_a_warning_in_the_server_and_an_error_on_the_command_line(user_file: Path) -> None:
    user_file.write_text("[model]\ntemprature = 0.1\n")
    expected = f'unknown key "model.temprature" in {user_file}, line 2: did you mean "model.temperature"?'

    assert load(project=None).warnings == (expected,)
    with pytest.raises(SettingsError, match=re.escape(expected)) as caught:
        load(project=None, strict=True)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[model]\ntemperature = "hot"', '"model.temperature" in {at} 2: expected a number from 0 to 2, found "hot"'),
        ("[model]\nmax_tokens = 3", '"model.max_tokens" in {at} 2: expected a whole number of at least 16, found 3'),
        ('deadline = "30"', '"deadline" in {at} 1: expected a number greater than 0, found "30"'),
        ("[checks]\nlive = 1", '"checks.live" in {at} 2: expected true or false, found 1'),
        ('[checks]\nlive_off = "go"', '"checks.live_off" in {at} 2: expected a list of texts, found "go"'),
        (
            '[log]\nlevel = "loud"',
            '"log.level" in {at} 2: expected one of "debug", "info", "warning", "error", found "loud"',
        ),
        ("model = 3", '"model" in {at} 1: expected a table'),
    ],
)
def test_a_wrong_value_is_reported_with_key_location_and_expectation(user_file: Path, text: str, said: str) -> None:
    user_file.write_text(text)

    loaded = load(project=None)

    assert loaded.warnings == (said.format(at=f"{user_file}, line"),)
    assert loaded.settings == Settings(), "a value that cannot be used leaves the default in force"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"deadline = \n", "is not valid TOML"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"a = " + b"[" * 100_000, "is not valid TOML"),
        (b"#" * 256_001, "larger than 256,000 bytes"),
        (b".".join([b"a"] * 1500) + b" = 1\n", "is not valid TOML"),
        (b"".join(b"k%d = 1\n" % number for number in range(201)), "has more than 200 keys"),
    ],
    ids=["syntax", "bytes", "nesting", "size", "dots", "keys"],
)
def test_an_unusable_file_is_named_and_ignored(user_file: Path, content: bytes, said: str) -> None:
    user_file.write_bytes(content)

    (warning,) = load(project=None).warnings

    assert str(user_file) in warning
    assert said in warning
    with pytest.raises(SettingsError):
        load(project=None, strict=True)


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir], ids=["pipe", "device", "folder"]
)
def test_a_settings_file_that_is_a_pipe_does_not_block(user_file: Path, make: Callable[[Path], None]) -> None:
    make(user_file)

    (warning,) = load(project=None).warnings

    assert warning.startswith(f"cannot read {user_file}:")


def test_deeply_nested_editor_settings_are_handled() -> None:
    nested: dict[str, object] = {}
    for _ in range(2000):
        nested = {"a": nested}

    (warning,) = load(project=None, editor=nested).warnings

    assert warning.startswith('unknown key "a.a.a')


def test_an_empty_known_section_is_accepted_and_an_unknown_one_is_not(user_file: Path) -> None:
    user_file.write_text("[memory]\n[memry]\n")

    assert [warning.partition(" in ")[0] for warning in load(project=None).warnings] == ['unknown key "memry"']


def test_a_byte_order_mark_is_accepted(user_file: Path) -> None:
    user_file.write_bytes(b"\xef\xbb\xbfdeadline = 7\n")

    assert load(project=None, strict=True).settings.deadline == 7


def test_values_that_an_editor_did_not_set_override_nothing(user_file: Path) -> None:
    """Editors send null for what no one set, and their own keys of our section along."""
    user_file.write_text("deadline = 8\n")
    sent = {"deadline": None, "server": {"command": ["stet", "--stdio"]}, "trace.server": "off"}

    loaded = load(project=None, editor=sent, strict=True)

    assert loaded.settings.deadline == 8


def test_variables_are_text_and_lists_are_split_at_commas(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_CHECKS_LIVE", "off")
    monkeypatch.setenv("STET_CHECKS_LIVE_OFF", "go, rust,")
    monkeypatch.setenv("STET_MODEL_TEMPERATURE", "0.5")
    monkeypatch.setenv("STET_DEADLINE", "  ")

    settings = load(project=None, strict=True).settings

    assert settings.checks.live is False
    assert settings.checks.live_off == ("go", "rust")
    assert settings.model.temperature == 0.5
    assert settings.deadline == Settings().deadline


def test_a_misspelled_variable_is_reported(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_DEADLNE", "3")

    assert load(project=None).warnings == (
        'the environment variable STET_DEADLNE is not a setting: did you mean "STET_DEADLINE"?',
    )


def test_every_variable_that_the_code_reads_is_known() -> None:
    """Else the loader would call it a misspelt setting."""
    rooms = [ROOMS / room for room in ("engine", "server", "validators")]
    read = {
        name
        for room in rooms
        for file in room.rglob("*.py")
        for name in re.findall(r"environ(?:\.get\(|\[)\"(STET_[A-Z_]+)\"", file.read_text())
    }

    assert "STET_HOME" in read
    assert read <= NOT_SETTINGS | {key.variable for key in KEYS.values()}


def test_one_line_of_variables_defines_the_only_endpoint(user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file.write_text('[[providers]]\nname = "other"\nbase_url = "http://127.0.0.1:1/v1"\n')
    monkeypatch.setenv("STET_BASE_URL", "http://127.0.0.1:9/v1/")
    monkeypatch.setenv("STET_MODEL", "m")
    monkeypatch.setenv("STET_API_KEY", "s3cret")

    loaded = load(project=None, strict=True)

    (provider,) = loaded.settings.providers
    assert (provider.base_url, provider.model) == ("http://127.0.0.1:9/v1", "m")
    assert provider.api_key is not None
    assert provider.api_key.get_secret_value() == "s3cret"
    assert value(loaded, "providers[0].api_key") == "set (from STET_API_KEY)"
    assert "s3cret" not in repr(loaded)


def test_the_variables_of_openai_apply_only_together_with_those_of_stet(
    stet_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that lies about for other programs must not send code anywhere."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    assert load(project=None, strict=True).settings.providers == ()

    monkeypatch.setenv("STET_BASE_URL", "https://api.example/v1")
    (provider,) = load(project=None, strict=True).settings.providers

    assert provider.api_key is not None
    assert provider.api_key.get_secret_value() == "sk-other"
    assert provider.organization == "org"


def test_a_model_without_an_endpoint_is_reported(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_MODEL", "m")

    (warning,) = load(project=None).warnings

    assert warning.startswith("STET_MODEL has no effect without STET_BASE_URL")


@pytest.mark.parametrize("address", ["ftp://x/v1", "127.0.0.1:8000/v1", "file:///etc/passwd", "http://", "http://[::1"])
@pytest.mark.parametrize("strict", [True, False])
def test_an_address_that_is_not_http_is_an_error_everywhere(
    stet_home: Path, monkeypatch: pytest.MonkeyPatch, address: str, strict: bool
) -> None:
    """A warning would not do: the job would go to another model than its user chose."""
    monkeypatch.setenv("STET_BASE_URL", address)

    with pytest.raises(SettingsError, match="STET_BASE_URL: expected an http or https address"):
        load(project=None, strict=strict)


def test_a_provider_finds_its_key_in_the_environment(user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file.write_text(
        '[[providers]]\nname = "a"\nbase_url = "http://u:pw@127.0.0.1:1/v1?key=k3y"\napi_key_env = "A_KEY"\n'
    )
    monkeypatch.setenv("A_KEY", "s3cret")

    loaded = load(project=None, strict=True)

    key = loaded.settings.providers[0].api_key
    assert key is not None
    assert key.get_secret_value() == "s3cret"
    assert value(loaded, "providers[0].api_key") == "set (from A_KEY)"
    assert value(loaded, "providers[0].base_url") == "http://***@127.0.0.1:1/v1?***"
    assert not any(secret in repr(loaded.rows) for secret in ("s3cret", "pw", "k3y"))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('api_key = "s3cret"', "files must not contain keys"),
        ('modle = "m"', 'did you mean "model"?'),
        ('api_key_env = "NOT_SET_HERE"', "the environment variable NOT_SET_HERE is not set"),
    ],
)
def test_a_mistake_in_a_provider_is_reported_and_the_endpoint_kept(user_file: Path, lines: str, said: str) -> None:
    user_file.write_text(f'[[providers]]\nname = "a"\nbase_url = "http://127.0.0.1:1/v1"\n{lines}\n')

    loaded = load(project=None)

    assert len(loaded.settings.providers) == 1
    assert said in loaded.warnings[0]
    assert "s3cret" not in loaded.warnings[0]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('name = "a"', '"providers[0].base_url" in {file}, line 1: expected an http or https address'),
        ('base_url = "http://127.0.0.1:1/v1"', '"providers[0].name" in {file}, line 1: expected a text'),
        (
            'name = "a"\nbase_url = "http://h/v1"\ncontext = "big"',
            '"providers[0].context" in {file}, line 1: expected a',
        ),
    ],
)
def test_an_unusable_provider_is_an_error_everywhere(user_file: Path, table: str, said: str) -> None:
    user_file.write_text(f"[[providers]]\n{table}\n")

    with pytest.raises(SettingsError, match=re.escape(said.format(file=user_file))):
        load(project=None)


def test_the_project_file_is_searched_up_to_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "package" / "module"
    inner.mkdir(parents=True)
    (tmp_path / ".stet.toml").write_text("")
    assert find_project(inner, below=Path("/nowhere")) is None, "a file above, in no repository of ours, means nothing"

    (tmp_path / "repository" / ".git").mkdir()
    assert find_project(inner, below=Path("/nowhere")) is None, "the search ends at the repository's root"

    (tmp_path / "repository" / ".stet.toml").write_text("")
    assert find_project(inner, below=Path("/nowhere")) == tmp_path / "repository"


def test_model_rows_of_the_user_are_read_one_by_one(user_file: Path) -> None:
    user_file.write_text(
        '[[models]]\nname = "tiny*"\ntemperature = 0.4\n'
        '[[models]]\nname = "tiny*"\nrole = "reviewer"\nmax_tokens = 300\n'
    )

    loaded = load(project=None, strict=True)

    assert [(row.role, row.temperature, row.max_tokens) for row in loaded.settings.models] == [
        ("any", 0.4, None),
        ("reviewer", None, 300),
    ]
    assert value(loaded, "models[1].role") == "reviewer"
    assert origin(loaded, "models[1].role") == f"user file: {user_file}, line 1"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('name = "x"\ntemperatur = 1', r'unknown key "models\[0\].temperatur" .*did you mean "temperature"'),
        ('name = "x"\ntemperature = 9', r'"models\[0\].temperature" .*expected a number from 0 to 2'),
        ('name = "x"\nrole = "critic"', r'"models\[0\].role" .*expected one of "any", "generator", "reviewer"'),
        ("temperature = 1", r'"models\[0\].name" .*expected a text'),
    ],
)
def test_a_wrong_model_row_is_reported(table: str, message: str, user_file: Path) -> None:
    user_file.write_text(f'[[models]]\n{table}\n[[models]]\nname = "right"\n')

    with pytest.raises(SettingsError, match=message):
        load(project=None, strict=True)
    assert [row.name for row in load(project=None).settings.models][-1] == "right"


def test_a_key_of_the_keyring_is_not_fetched_for_settings(user_file: Path) -> None:
    """It may want a person to unlock it, and the settings are read before every job."""
    user_file.write_text(
        '[[providers]]\nname = "a"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_keyring = "stet/work"\n'
    )

    loaded = load(project=None, strict=True)

    assert loaded.settings.providers[0].api_key is None
    assert value(loaded, "providers[0].api_key") == "set (from the keyring: stet/work)"
