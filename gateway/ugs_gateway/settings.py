"""The settings of the gateway: read once, typed, with the source of each value.

A flag overrides the environment (`UGS_…`), the environment overrides a TOML file, and the file overrides the defaults.
An unknown setting is an error, because a misspelt one would otherwise be ignored silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs_gateway.defaults import DEFAULT_FILE, DEFAULT_STORE
from ugs_gateway.http.authority import HostPolicy, parse_host
from ugs_gateway.os_support import usable_cores

PREFIX = "UGS_"
PLAIN_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")
FILE_VARIABLE = "UGS_CONFIG"
BELIEVE, PROPOSE = "believe", "propose"
"""What becomes of the facts that an extractor reads."""

# Variables with our prefix that are not settings: for the command line, the tests and the compose file, and those that
# Kubernetes puts into every container beside a service called `ugs`.
FOREIGN = re.compile(
    r"UGS_(ACTOR|URL|TOKEN|HISTORY|TEST_.*|DB_PASSWORD|OUTSIDE_DATA|REQUIRE_OUTSIDE|TCK_DATA|SERVICE_.*|PORT_\d.*)"
)


MAX_WORKERS = 256


class LogLevel(StrEnum):
    """The least severe level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """Human-readable lines or JSON lines."""

    TEXT = "text"
    JSON = "json"


class Mode(StrEnum):
    """Development defaults, or the strict checks of production."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class Openness(StrEnum):
    """Whether introspection is allowed."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Tenancy(StrEnum):
    """Whether tenants share one graph."""

    SEPARATE = "separate"
    SHARED = "shared"


class Settings(Struct, frozen=True):
    """The gateway's settings; `SETTINGS` below says what each means."""

    store: str = DEFAULT_STORE
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    allow_open: bool = False
    allowed_hosts: str = ""
    max_body_bytes: int = 1 << 20
    max_json_depth: int = 48
    max_document_chars: int = 65_536
    max_tokens: int = 1_000
    max_depth: int = 12
    max_aliases: int = 15
    max_directives: int = 50
    max_cost: int = 15_000
    max_page: int = 500
    max_answer_bytes: int = 32 << 20
    max_subscriptions: int = 50
    max_requests_per_minute: int = 0
    max_failed_logins_per_minute: int = 60
    request_seconds: float = 10.0
    request_memory_bytes: int = 256 << 20
    total_memory_bytes: int = 0
    drain_seconds: float = 8.0
    mode: Mode = Mode.DEVELOPMENT
    tenants: Tenancy = Tenancy.SEPARATE
    max_tenants: int = 100
    token_file: str = ""
    store_keys: bool = False
    jwt_key_file: str = ""
    jwt_keys_url: str = ""
    jwt_issuer: str = ""
    jwt_algorithm: str = "HS256"
    jwt_audience: str = ""
    public_url: str = ""
    allowed_origins: str = ""
    trusted_proxies: str = ""
    introspection: Openness = Openness.AUTO
    trusted_documents: str = ""
    trusted_only: bool = False
    program_seconds: float = 60.0
    federation: bool = False
    lenient_api_params: bool = False
    any_is_concept: bool = False
    embedder: str = "hashing"
    extractor: str = ""
    extractor_url: str = ""
    extractor_model: str = ""
    extractor_key_file: str = ""
    extractor_calls_per_day: int = 1_000
    extractor_trust: str = BELIEVE
    webhooks: bool = False
    webhook_private_addresses: bool = False
    webhook_attempts: int = 12
    webhook_seconds: float = 10.0
    mirror: str = ""
    mcp_profile: str = "core"
    mcp_max_bytes: int = 1 << 20
    compression: bool = True
    metrics: bool = True
    otlp_endpoint: str = ""
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.TEXT
    origins: Mapping[str, str] = {}
    """The source of each value: `flag --port`, `environment UGS_PORT`, `file ugs.toml` or `built in`."""

    def origin(self, name: str) -> str:
        """The source of a value."""
        return self.origins.get(name, "built in")

    @property
    def has_login(self) -> bool:
        """Whether callers must authenticate."""
        return bool(self.token_file or self.store_keys or self.jwt_key_file or self.jwt_keys_url)

    @property
    def origin_list(self) -> list[str]:
        """The allowed origins as a list."""
        return [origin.strip() for origin in self.allowed_origins.split(",") if origin.strip()]

    @property
    def host_policy(self) -> HostPolicy:
        """The policy for the Host header. With authentication every host is accepted, unless names are listed or the
        listener is loopback: a page that uses DNS rebinding has no credentials."""
        names = [name.strip() for name in self.allowed_hosts.split(",") if name.strip()]
        return HostPolicy(names, local_only=self.is_local, any_name=self.has_login)

    @property
    def shows_schema(self) -> bool:
        """Whether every authenticated caller may use introspection."""
        if self.introspection is Openness.AUTO:
            return self.mode is Mode.DEVELOPMENT
        return self.introspection is Openness.ON

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the gateway."""
        return is_loopback(self.host)


class Setting(Struct, frozen=True):
    """The documentation, parser and rule of one setting."""

    meaning: str
    read: Callable[[str], Any]
    rule: str
    """The rule for values, as shown in error messages."""


def _switch(text: str) -> bool:
    return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}[text.lower()]


def _between(low: float, high: float, kind: type[int] | type[float]) -> Callable[[str], int | float]:
    def read(text: str) -> int | float:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


def _numbers(low: int, high: int) -> tuple[Callable[[str], int | float], str]:
    return _between(low, high, int), f"a number from {low} to {high}"


def _workers(text: str) -> int:
    return min(usable_cores(), MAX_WORKERS) if text == "auto" else int(_between(1, MAX_WORKERS, int)(text))


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        return names[names.index(text)]

    return read


def _host_names(text: str) -> str:
    for name in (part.strip() for part in text.split(",") if part.strip()):
        host = parse_host(name)
        if host is None or host.port is not None:
            raise ValueError(name)
    return text


def _public_url(text: str) -> str:
    parts = urlsplit(text)
    if (
        parts.scheme not in ("http", "https")
        or parse_host(parts.netloc) is None
        or not PLAIN_PATH.fullmatch(parts.path)
    ):
        raise ValueError(text)
    if parts.query or parts.fragment:
        raise ValueError(text)
    return text


SETTINGS: Mapping[str, Setting] = {
    "store": Setting("Where the data lives, as a URL; its scheme chooses the backend.", _text, "a store URL"),
    "host": Setting("The address to listen on.", _text, "a host name or address"),
    "port": Setting("The port to listen on; 0 takes a free one.", _between(0, 65535, int), "a number from 0 to 65535"),
    "workers": Setting(
        "How many processes serve, on a store that several processes can open; `auto`: one for each core.",
        _workers,
        f"a number from 1 to {MAX_WORKERS}, or auto",
    ),
    "allow_open": Setting(
        "Listen on an address that other machines can reach, although nobody has to log in.", _switch, "on or off"
    ),
    "allowed_hosts": Setting(
        "Names, separated by commas, that requests may ask for (`Host`) besides `localhost` and addresses. "
        "Without any, every name is answered to where callers must log in, and none where they need not.",
        _host_names,
        "host names such as graph.example, without ports",
    ),
    "max_body_bytes": Setting(
        "The largest request body that is read.", _between(1024, 1 << 30, int), "a number from 1024 to 1073741824"
    ),
    "max_json_depth": Setting("How deep the JSON of a request may be nested.", *_numbers(4, 48)),
    "max_document_chars": Setting("How long a GraphQL document may be.", *_numbers(1_000, 1 << 20)),
    "max_tokens": Setting("How many tokens a GraphQL document may have.", *_numbers(50, 100_000)),
    "max_depth": Setting("How many levels deep a query may go.", *_numbers(2, 50)),
    "max_aliases": Setting("How many aliases a query may have.", *_numbers(0, 1_000)),
    "max_directives": Setting("How many directives a query may have.", *_numbers(0, 1_000)),
    "max_cost": Setting("How many rows and objects a query may ask for in all.", *_numbers(10, 10_000_000)),
    "max_page": Setting("How many rows one page may have.", *_numbers(1, 10_000)),
    "max_answer_bytes": Setting(
        "How large the answer to a query may become; one that becomes larger is refused.", *_numbers(65_536, 1 << 30)
    ),
    "max_subscriptions": Setting("How many operations may run at once on one WebSocket.", *_numbers(1, 10_000)),
    "max_requests_per_minute": Setting(
        "How often one user, or one address without login, may ask in a minute; 0 for no limit.",
        *_numbers(0, 1_000_000),
    ),
    "max_failed_logins_per_minute": Setting(
        "How many wrong keys or tokens one address may send in a minute before it has to wait; good ones always work. "
        "0 for no limit.",
        *_numbers(0, 1_000_000),
    ),
    "request_seconds": Setting(
        "How long one request may take.", _between(0.1, 3600, float), "a number of seconds from 0.1 to 3600"
    ),
    "request_memory_bytes": Setting(
        "How much memory one request may use, about.",
        *_numbers(1 << 20, 1 << 40),
    ),
    "total_memory_bytes": Setting(
        "How much memory all requests, and the caches they fill, may use, about; 0 for a quarter of the machine.",
        *_numbers(0, 1 << 42),
    ),
    "drain_seconds": Setting(
        "How long requests under way may finish after a stop was asked for.",
        _between(0, 3600, float),
        "a number of seconds from 0 to 3600",
    ),
    "mode": Setting(
        "`production` refuses to start with anything unsafe and hides the schema from strangers.",
        Mode,
        "development or production",
    ),
    "tenants": Setting(
        "`separate`: every tenant has a graph of its own; `shared`: one graph for all, where only facts know tenants.",
        Tenancy,
        "separate or shared",
    ),
    "max_tenants": Setting("How many tenants besides `default` one gateway serves.", *_numbers(0, 10_000)),
    "token_file": Setting(
        "A file of API keys made by `ugs token create`; with it, callers must log in.", _text, "a path"
    ),
    "store_keys": Setting(
        "Know the API keys that are kept in the store (`ugs key add`); with it, callers must log in.",
        _switch,
        "on or off",
    ),
    "jwt_key_file": Setting(
        "A file with the key of JSON Web Tokens (a secret, a PEM public key, a JWKS); with it, callers must log in.",
        _text,
        "a path",
    ),
    "jwt_keys_url": Setting(
        "Where whoever issues JSON Web Tokens publishes their keys (JWKS); with it, callers must log in. "
        "Set jwt_algorithm to the one they sign with.",
        _text,
        "an https URL",
    ),
    "jwt_issuer": Setting("The issuer that JSON Web Tokens must name; empty for any.", str, "a text"),
    "jwt_algorithm": Setting(
        "The one algorithm that JSON Web Tokens may be signed with.",
        _one_of("HS256", "HS384", "HS512", "RS256", "ES256", "EdDSA"),
        "HS256, HS384, HS512, RS256, ES256 or EdDSA",
    ),
    "jwt_audience": Setting("The audience that JSON Web Tokens must name; empty for none.", str, "a text"),
    "public_url": Setting(
        "The address that clients know the gateway by; with it and jwt_issuer, MCP clients that are refused are told "
        "where to log in.",
        _public_url,
        "a URL such as https://graph.example, without query",
    ),
    "allowed_origins": Setting(
        "Web pages from these origins may call the gateway, separated by commas.",
        str,
        "origins such as https://app.example",
    ),
    "trusted_proxies": Setting(
        "Addresses of proxies, separated by commas, that may say for whom they ask (`X-Forwarded-For`).",
        str,
        "addresses such as 10.0.0.2",
    ),
    "introspection": Setting(
        "Whether the schema may be explored and misspelt names get a suggestion; `auto`: not in production. "
        "Admins always may.",
        Openness,
        "auto, on or off",
    ),
    "trusted_documents": Setting(
        "Documents that clients may name by their SHA-256: a JSON file of hashes and texts, or a folder of .graphql "
        "files.",
        _text,
        "a path",
    ),
    "trusted_only": Setting(
        "Refuse every document that is not trusted, and openCypher and programs that come with a request; "
        "administrators are exempt for openCypher and programs.",
        _switch,
        "on or off",
    ),
    "program_seconds": Setting(
        "How long one program, or one deck of them, may run.",
        _between(0.1, 3600, float),
        "a number of seconds from 0.1 to 3600",
    ),
    "federation": Setting("Be a subgraph of Apollo Federation 2 (`_service`, `_entities`).", _switch, "on or off"),
    "lenient_api_params": Setting(
        "Accept api operations of programs without `params`, with a warning.", _switch, "on or off"
    ),
    "any_is_concept": Setting(
        "Let `:Concept` in the queries of programs match every node, whatever its type.", _switch, "on or off"
    ),
    "embedder": Setting(
        "What makes vectors of texts, for search by likeness: `hashing`, `wordllama` (needs the extra `embeddings`), "
        "`minilm` (needs the extra `sentences`), "
        "or one that a package of yours brings.",
        _text,
        "a name",
    ),
    "extractor": Setting(
        "What reads facts out of notes that are remembered as plain text: `openai` (any address that speaks its chat "
        "completions), `patterns` (plain English sentences, no model), or one that a package of yours brings; "
        "empty for none.",
        str,
        "a name",
    ),
    "extractor_url": Setting(
        "The address of the model, such as http://localhost:11434/v1; notes are sent there.", str, "an http(s) URL"
    ),
    "extractor_model": Setting("The model that the extractor asks for.", str, "a name"),
    "extractor_key_file": Setting("A file with the key that the extractor sends.", _text, "a path"),
    "extractor_calls_per_day": Setting(
        "How often the extractor may be called in a day (UTC); what is left waits.", *_numbers(1, 10_000_000)
    ),
    "extractor_trust": Setting(
        "What becomes of the facts that are read out of notes: `believe`: they are kept at once; `propose`: no read "
        "shows them until somebody approves them.",
        _one_of(BELIEVE, PROPOSE),
        "believe or propose",
    ),
    "webhooks": Setting(
        "Send events to the addresses that are kept in the store (`ugs webhook add`).", _switch, "on or off"
    ),
    "webhook_private_addresses": Setting(
        "Let webhooks lead to private addresses, such as those of this machine and its network, and use plain http.",
        _switch,
        "on or off",
    ),
    "webhook_attempts": Setting(
        "How often the delivery of an event is tried, with pauses that double up to five minutes, before it is "
        "given up.",
        *_numbers(1, 1_000),
    ),
    "webhook_seconds": Setting(
        "How long the receiver of a webhook may take to answer.",
        _between(0.1, 300, float),
        "a number of seconds from 0.1 to 300",
    ),
    "mirror": Setting(
        "A folder in which registry, ontology and content are kept as files for people; other tenants' in `_tenants`.",
        _text,
        "a path",
    ),
    "mcp_profile": Setting(
        "Which tools `/mcp` offers: those that only read, the eighteen of typed memory, seven for facts and notes "
        "(`memory`), or all there are.",
        _one_of("read-only", "core", "memory", "extended"),
        "read-only, core, memory or extended",
    ),
    "mcp_max_bytes": Setting(
        "The largest answer of an MCP tool; longer lists are cut and say so, longer content is read in parts.",
        *_numbers(1_024, 1 << 30),
    ),
    "compression": Setting("Compress large answers for clients that ask for it (gzip).", _switch, "on or off"),
    "metrics": Setting("Serve `/metrics` for Prometheus.", _switch, "on or off"),
    "otlp_endpoint": Setting(
        "Where to send OpenTelemetry traces, such as http://localhost:4318; needs the extra `otel`.", _text, "a URL"
    ),
    "log_level": Setting("How much is logged.", LogLevel, "debug, info, warning or error"),
    "log_format": Setting("Lines for people (`text`) or for machines (`json`).", LogFormat, "text or json"),
}


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


def flag(name: str) -> str:
    """The command-line option of a setting."""
    return "--" + name.replace("_", "-")


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Settings:
    """Load the settings from all sources; raises E005 naming the source of a wrong value."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, found in _sources(flags or {}, environ or {}, file):
        for name, raw in found.items():
            place = origin(name)
            values[name] = _read(name, raw, place)
            origins[name] = place
    return Settings(**values, origins=origins)


Source = tuple[Callable[[str], str], Mapping[str, Any]]


def _sources(flags: Mapping[str, Any], environ: Mapping[str, str], file: Path | None) -> list[Source]:
    """The sources in ascending priority."""
    path = _config_file(environ, file)
    given = {name: value for name, value in flags.items() if value is not None}
    return [
        (lambda name: f"file {path}", {} if path is None else _from_file(path)),
        (lambda name: f"environment {variable(name)}", _from_environment(environ)),
        (lambda name: f"flag {flag(name)}", given),
    ]


def _config_file(environ: Mapping[str, str], file: Path | None) -> Path | None:
    named = file or (Path(environ[FILE_VARIABLE]) if environ.get(FILE_VARIABLE) else None)
    if named is not None and not named.is_file():
        raise InvalidSyntax(f"The settings file {named} does not exist")
    default = Path(DEFAULT_FILE)
    return named or (default if default.is_file() else None)


def _from_file(path: Path) -> dict[str, Any]:
    import tomllib  # imported late: most installations have no settings file

    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSyntax(f"The settings file {path} is not valid TOML: {error}") from error
    except OSError as error:
        raise InvalidSyntax(f"The settings file {path} cannot be read: {error.strerror}") from error
    for name in found:
        if name not in SETTINGS:
            raise InvalidSyntax(f"The settings file {path} has an unknown setting {name!r}.{_meant(name)}")
    return found


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, value in environ.items():
        if not name.startswith(PREFIX) or name == FILE_VARIABLE or FOREIGN.fullmatch(name):
            continue
        setting = name.removeprefix(PREFIX).lower()
        if setting not in SETTINGS:
            raise InvalidSyntax(f"The environment has an unknown setting {name}.{_meant(setting, variable)}")
        found[setting] = value
    return found


def _meant(name: str, spelled: Callable[[str], str] = str) -> str:
    import difflib

    close = difflib.get_close_matches(name, SETTINGS, n=1)
    if close:
        return f" Did you mean {spelled(close[0])}?"
    return f" Known: {', '.join(spelled(known) for known in SETTINGS)}"


def _read(name: str, raw: Any, place: str) -> Any:
    """Parse a value. TOML numbers and booleans are accepted and parsed by their text."""
    setting = SETTINGS[name]
    text = str(raw)
    try:
        if not isinstance(raw, str | int | float):
            raise ValueError(raw)
        return setting.read(text)
    except (ValueError, KeyError) as error:
        raise InvalidSyntax(f"{name} must be {setting.rule}, got {text!r} ({place})", setting=name) from error


def is_loopback(host: str) -> bool:
    """Whether a host name or address is a loopback one."""
    found = parse_host(host) or parse_host(f"[{host}]")
    return found is not None and found.port is None and found.is_loopback
