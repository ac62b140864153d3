"""Settings: who wins, what is refused, and that each value knows where it came from."""

import re
from pathlib import Path

import pytest

from ugs.errors import InvalidSyntax
from ugs_gateway.settings import SETTINGS, LogFormat, Settings, is_loopback, load_settings


def test_without_anything_the_built_in_values_hold() -> None:
    settings = load_settings()
    assert settings == Settings()
    assert {settings.origin(name) for name in SETTINGS} == {"built in"}


def test_every_field_is_described_and_every_description_has_a_field() -> None:
    assert set(SETTINGS) == set(Settings.__struct_fields__) - {"origins"}


def test_every_setting_is_used_by_some_test() -> None:
    own = Path(__file__)
    others = [
        path for name in ("tests", "conformance") for path in (own.parents[2] / name).rglob("*.py") if path != own
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in others)
    names = {name: rf"\b{name}\b|--{name.replace('_', '-')}\b|UGS_{name.upper()}\b" for name in SETTINGS}
    assert [name for name, pattern in names.items() if not re.search(pattern, text)] == ["log_format"]  # tested here


def test_a_flag_wins_over_the_environment_which_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "ugs.toml"
    file.write_text('port = 1001\nhost = "::1"\nrequest_seconds = 2.5\n')
    settings = load_settings({"port": "1003", "host": None}, {"UGS_PORT": "1002", "UGS_LOG_FORMAT": "json"}, file)
    assert (settings.port, settings.host, settings.request_seconds) == (1003, "::1", 2.5)
    assert settings.log_format is LogFormat.JSON
    assert settings.origin("port") == "flag --port"
    assert settings.origin("log_format") == "environment UGS_LOG_FORMAT"
    assert settings.origin("host") == f"file {file}"


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("allow_open = true")
    assert load_settings({}, {"UGS_CONFIG": str(file)}).allow_open is True


def test_a_file_called_ugs_toml_is_found_in_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ugs.toml").write_text("port = 4321")
    monkeypatch.chdir(tmp_path)
    assert load_settings().port == 4321


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"UGS_STOER": "x"}, "unknown setting UGS_STOER. Did you mean UGS_STORE?"),
        ({"UGS_XYZZY": "x"}, "unknown setting UGS_XYZZY. Known: UGS_STORE"),
        ({"UGS_PORT": "http"}, "port must be a number from 0 to 65535, got 'http' (environment UGS_PORT)"),
        ({"UGS_PORT": "65536"}, "port must be a number from 0 to 65535"),
        ({"UGS_ALLOW_OPEN": "perhaps"}, "allow_open must be on or off"),
        ({"UGS_REQUEST_SECONDS": "nan"}, "request_seconds must be a number of seconds"),
        ({"UGS_LOG_LEVEL": "loud"}, "log_level must be debug, info, warning or error"),
        ({"UGS_STORE": " "}, "store must be a store URL"),
        ({"UGS_CONFIG": "/no/such/file.toml"}, "/no/such/file.toml does not exist"),
    ],
)
def test_a_mistake_is_told_in_words(environ: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidSyntax) as refused:
        load_settings({}, environ)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "unknown setting 'prot'. Did you mean port?"),
        ("port = [1]", "port must be a number"),
        ("port =", "is not valid TOML"),
        ("[server]\nport = 1", "unknown setting 'server'"),
    ],
)
def test_a_mistake_in_the_file_names_the_file(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(InvalidSyntax) as refused:
        load_settings({}, {}, file)
    assert words in str(refused.value)
    assert "my.toml" in str(refused.value)


def test_variables_of_others_that_begin_like_ours_are_left_alone() -> None:
    others = {"UGS_TEST_NEO4J": "x", "UGS_DB_PASSWORD": "x", "UGS_SERVICE_HOST": "x", "UGS_PORT_8000_TCP": "x"}
    assert load_settings({}, others) == Settings()


@pytest.mark.parametrize(("host", "local"), [("127.0.0.1", True), ("127.3.2.1", True), ("::1", True), ("[::1]", True)])
def test_loopback_addresses_are_local(host: str, local: bool) -> None:
    assert is_loopback(host) is local


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "localhost.evil.example", "example.org", ""])
def test_all_other_hosts_are_not(host: str) -> None:
    assert not is_loopback(host)
