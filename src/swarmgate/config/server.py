"""The settings tables of the team server: `[server]` and those below it. They belong in the user's own file."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from swarmgate.config.base import Seconds, Section, VariableName, redis_address

MEBIBYTE = 1024 * 1024

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[?[0-9A-Fa-f:.]+\]?")


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError as error:
        raise ValueError("must be an address or a network, such as 10.0.0.7 or 10.0.0.0/24") from error
    return value


def _host(value: str) -> str:
    if not _HOST.fullmatch(value):
        raise ValueError("must be the name of a host or its address, without a scheme, a port or a path")
    return value.lower()


def _store(value: str) -> str:
    return value if value == "sqlite" else redis_address(value, or_else='"sqlite"')


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
        raise ValueError('must be the address of a page, such as "https://swarm.example.org"')
    if parts.username or parts.password:
        raise ValueError("holds a name or a password, which never stand in files")
    return value.rstrip("/")


def _public(value: str) -> str:
    if urlsplit(value).path.strip("/"):
        raise ValueError("must be the address of the server without a path")
    return value


Network = Annotated[str, AfterValidator(_network)]
"""An IP address, or a network of them."""
HostName = Annotated[str, AfterValidator(_host)]
"""The name of a host, or its address."""
WebAddress = Annotated[str, AfterValidator(_web_address)]
"""An address on http or https without a name or a password in it; perhaps empty."""
PerMinute = Annotated[int, Field(ge=1, le=1_000_000)]


class ServerLimits(Section):
    """`[server.limits]`: how much an account, or an address, may ask of the server."""

    writes_per_minute: PerMinute = Field(
        100, description="Requests that change something, by one account (or one address that has none) in a minute."
    )
    logins_per_minute: PerMinute = Field(
        10, description="Attempts to log in, by one address and for one account in a minute."
    )
    sockets_per_minute: PerMinute = Field(
        5, description="WebSockets that one account may open in a minute; one address may open ten times as many."
    )
    body_bytes: int = Field(MEBIBYTE, ge=1024, le=64 * MEBIBYTE, description="The largest body of a request, in bytes.")
    body_s: Seconds = Field(20, description="Longest time in which the body of a request has to come.")


class OpenIDConnect(Section):
    """`[server.oidc]`: log in through an OpenID Connect provider; on where `issuer` is set."""

    issuer: WebAddress = Field("", description="The provider's address, below which `.well-known/` lies.")
    client_id: str = Field("", description="What the provider calls this server.")
    client_secret_env: VariableName = Field(
        "", description="The variable that holds the secret; empty: a public client."
    )
    name: str = Field("single sign-on", description="What the button on the login page says after `Log in with`.")
    scopes: tuple[str, ...] = Field(("openid", "profile", "email"), description="What is asked for.")
    name_claim: str = Field(
        "email",
        description="The claim that is the account's name: an `email` that the provider verified, or another one that "
        "people cannot change themselves.",
    )
    new_accounts: Literal["", "viewer", "approver", "operator", "admin"] = Field(
        "", description="Role, in all repositories, of an account made at somebody's first login; empty: none is made."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.issuer and not self.client_id:
            raise ValueError("has an `issuer` and no `client_id`")
        parts = urlsplit(self.issuer)
        if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
            raise ValueError("has an `issuer` on http: beyond this machine it has to be https")
        if self.issuer and "openid" not in self.scopes:
            raise ValueError("has `scopes` without `openid`")
        return self


class Notify(Section):
    """`[[server.notify]]`: who is told when something needs somebody."""

    kind: Literal["webhook", "slack"] = Field(
        "webhook",
        description="`webhook`: signed JSON with all fields; `slack`: a text, as Slack and its like take it.",
    )
    url: WebAddress = Field("", description="Where it is sent.")
    url_env: VariableName = Field(
        "", description="The variable that holds the address instead, where it is a secret itself."
    )
    secret_env: VariableName = Field(
        "", description="The variable that holds the secret by which a webhook is signed; empty: unsigned."
    )
    repos: tuple[str, ...] = Field((), description="Ids of the repositories that it is for; empty: all.")

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if bool(self.url) == bool(self.url_env):
            raise ValueError("needs one of `url` and `url_env`")
        return self


class Telemetry(Section):
    """`[server.telemetry]`: what the server tells about itself."""

    log: Literal["text", "json"] = Field("text", description="How a line of the log reads.")
    level: Literal["debug", "info", "warning", "error"] = Field("info", description="From where on lines are written.")
    metrics: bool = Field(True, description="Whether `/metrics` is there.")
    otlp_endpoint: WebAddress = Field(
        "", description="Where OpenTelemetry spans are sent (OTLP over HTTP); empty: nowhere."
    )
    content: bool = Field(False, description="Whether spans carry what models were told and said, redacted.")


class Server(Section):
    """`[server]`: the team server, `swarm serve`. It belongs in your own file, never in a project's."""

    home: str = Field("", description="Folder of what the server keeps; empty: `server` in swarmgate's data folder.")
    host: HostName = Field("127.0.0.1", description="Where it listens; beyond loopback it takes accounts and TLS.")
    port: int = Field(8642, ge=0, le=65_535, description="The port; 0: a free one.")
    store: Annotated[str, AfterValidator(_store)] = Field(
        "sqlite", description='Where the state is that can be dropped: "sqlite", or "redis://HOST:PORT/NUMBER".'
    )
    store_password_env: VariableName = Field("", description="The variable that holds the password of that Redis.")
    concurrency: int = Field(2, ge=1, le=64, description="Goals and councils that are worked on at once.")
    tls_cert: str = Field("", description="File of the certificate and its chain, PEM.")
    tls_key: str = Field("", description="File of its private key, PEM.")
    behind_proxy: bool = Field(False, description="Whether a proxy in front of the server does TLS.")
    trusted_proxies: tuple[Network, ...] = Field(
        (), description="Addresses and networks of the proxies whose `X-Forwarded-*` headers are believed."
    )
    public_url: Annotated[WebAddress, AfterValidator(_public)] = Field(
        "", description="The address that people open; empty: host and port."
    )
    hosts: tuple[HostName, ...] = Field(
        (), description="Names that a request may call the server by, beside its host, loopback and `public_url`."
    )
    private_hosts: tuple[HostName, ...] = Field(
        (), description="Hosts on private addresses that repositories may be fetched from and notices sent to."
    )
    trusted_sources: tuple[str, ...] = Field(
        (),
        description="Addresses of repositories whose committed settings may start programs, open the sandbox, and name "
        "providers and keys; one that ends with a slash stands for all below it.",
    )
    token_minutes: int = Field(15, ge=1, le=1440, description="How long an access token lives.")
    refresh_days: int = Field(30, ge=1, le=365, description="How long a login lives that is used.")
    limits: ServerLimits = Field(default_factory=ServerLimits, description="How much may be asked of the server.")
    oidc: OpenIDConnect = Field(default_factory=OpenIDConnect, description="Log in through a provider.")
    notify: tuple[Notify, ...] = Field((), description="Who is told when something needs somebody.")
    telemetry: Telemetry = Field(default_factory=Telemetry, description="What the server tells about itself.")

    @model_validator(mode="after")
    def _both_files(self) -> Self:
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("needs `tls_cert` and `tls_key` together")
        return self

    def store_address(self, environ: Mapping[str, str]) -> str:
        """`store` with the password of a Redis, if a variable holds one: for the client, and for nobody's eyes."""
        password = environ.get(self.store_password_env, "") if self.store_password_env else ""
        if not password or self.store == "sqlite":
            return self.store
        scheme, _, rest = self.store.partition("://")
        user, at, place = rest.rpartition("@")
        return f"{scheme}://{user if at else ''}:{quote(password, safe='')}@{place}"

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that hold secrets of the server itself."""
        named = (self.store_password_env, self.oidc.client_secret_env)
        told = (name for each in self.notify for name in (each.url_env, each.secret_env))
        return frozenset(filter(None, (*named, *told)))

    @property
    def tls(self) -> bool:
        """Whether the server does TLS itself."""
        return bool(self.tls_cert and self.tls_key)
