"""OpenID Connect: the authorization code flow with PKCE, state and nonce, through Authlib.

What the way to the provider and back has to keep (state, nonce, verifier, where to go on) is in a cookie that this
server signed; nothing is kept here meanwhile. Nothing of the provider is kept either: its keys may change at any time.
"""

from __future__ import annotations

import hmac
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from swarmgate.config import OpenIDConnect
from swarmgate.errors import ConfigError, Unauthenticated
from swarmgate.server.accounts.signing import Signer

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import AsyncOAuth2Client

LIFETIME_S = 600.0
"""Seconds for the way to the provider and back."""
_AUDIENCE = "swarmgate-oidc"
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures of identity tokens that are taken: by a private key of the provider, never by a shared secret or none."""
_TIMEOUT_S = 10.0
_LEEWAY_S = 60
"""Seconds by which the provider's clock may differ."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The way to the provider: where to send the browser, and the cookie that it has to bring back."""

    address: str
    cookie: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the provider vouches for: what it calls them, for ever; their name; where they wanted to go."""

    subject: str
    name: str
    next: str


class Provider:
    """The provider of `[server.oidc]`.

    Args:
        settings: with an issuer.
        secret: of the client; empty: a public one.
        signer: of the cookie.
    """

    def __init__(self, settings: OpenIDConnect, secret: str, signer: Signer) -> None:
        self._settings, self._secret, self._signer = settings, secret, signer

    async def begin(self, redirect: str, goes_on: str) -> Begun:
        """Begins a login.

        Args:
            redirect: the address of this server that the provider sends the browser back to.
            goes_on: the path to go on to then.

        Raises:
            ConfigError: the provider does not answer as one.
        """
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        found = await self._discovered()
        async with self._client(redirect) as client:
            address, _ = client.create_authorization_url(
                found["authorization_endpoint"], state=state, code_verifier=verifier, nonce=nonce
            )
        kept = self._signer.sign(_AUDIENCE, state, LIFETIME_S, nonce=nonce, verifier=verifier, next=goes_on)
        return Begun(address, kept)

    async def finish(self, redirect: str, query: Mapping[str, str], cookie: str) -> Person:
        """Ends a login.

        Args:
            redirect: as it was begun with.
            query: what the provider sent the browser back with.
            cookie: of `begin`.

        Raises:
            Unauthenticated: this browser did not begin it, or the provider does not vouch for anybody.
            ConfigError: the provider does not answer as one.
        """
        kept = self._signer.read(cookie, _AUDIENCE)
        if not hmac.compare_digest(query.get("state", "").encode(), str(kept["sub"]).encode()):
            raise _refused("This login was not begun in this browser.")
        if query.get("iss", self._settings.issuer).rstrip("/") != self._settings.issuer:
            raise _refused("The answer is another provider's.")
        if "code" not in query:
            raise _refused("The provider did not let you in.")
        found = await self._discovered()
        keys = await _document(found["jwks_uri"])
        token = await self._token(redirect, found["token_endpoint"], query["code"], str(kept["verifier"]))
        claims = self._claims(token, keys, str(kept["nonce"]), found["issuer"])
        return Person(f"{self._settings.issuer} {claims['sub']}", self._name(claims), str(kept["next"]))

    def _client(self, redirect: str) -> AsyncOAuth2Client:
        from authlib.integrations.httpx_client import AsyncOAuth2Client  # noqa: PLC0415 - only where it is a setting

        return AsyncOAuth2Client(
            client_id=self._settings.client_id,
            client_secret=self._secret or None,
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            scope=" ".join(self._settings.scopes),
            redirect_uri=redirect,
            code_challenge_method="S256",
            timeout=_TIMEOUT_S,
            verify=_authorities(),
        )

    async def _discovered(self) -> Mapping[str, Any]:
        found = await _document(f"{self._settings.issuer}/.well-known/openid-configuration")
        if str(found.get("issuer", "")).rstrip("/") != self._settings.issuer:
            raise ConfigError(
                f"{self._settings.issuer} says that it is another issuer", hint="mend [server.oidc] issuer"
            )
        missing = {"authorization_endpoint", "token_endpoint", "jwks_uri"} - found.keys()
        if missing:
            raise ConfigError(f"{self._settings.issuer} names no {', '.join(sorted(missing))}")
        return found

    async def _token(self, redirect: str, endpoint: str, code: str, verifier: str) -> str:
        from authlib.common.errors import AuthlibBaseError  # noqa: PLC0415 - only where it is a setting

        try:
            async with self._client(redirect) as client:
                token = await client.fetch_token(endpoint, code=code, code_verifier=verifier)
        except AuthlibBaseError as error:
            raise _refused("The provider did not take the code that it had given.") from error
        except Exception as error:  # Authlib stands on httpx or on httpx2, each with errors of its own
            raise ConfigError(f"{endpoint} does not answer: {type(error).__name__}") from error
        return str(token.get("id_token", ""))

    def _claims(self, token: str, keys: Mapping[str, Any], nonce: str, issuer: str) -> Mapping[str, Any]:
        """The claims of an identity token that this provider signed, for this client, for this very login."""
        from joserfc import errors, jwk, jwt  # noqa: PLC0415 - only where it is a setting

        checks = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": self._settings.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            claims: dict[str, Any] = jwt.decode(
                token, jwk.KeySet.import_key_set(cast("jwk.KeySetSerialization", keys)), algorithms=[*_ALGORITHMS]
            ).claims
            checks.validate(claims)
        except (errors.JoseError, ValueError, KeyError, TypeError) as error:
            raise _refused("The provider's token is not one for this login.") from error
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", self._settings.client_id if not several else "") != self._settings.client_id:
            raise _refused("The provider's token is for another program.")
        return claims

    def _name(self, claims: Mapping[str, Any]) -> str:
        claim = self._settings.name_claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name:
            raise _refused(f"The provider's token has no `{claim}`.")
        if claim == "email" and claims.get("email_verified") is not True:
            raise _refused("The provider did not verify your address.")
        return name


@cache
def _authorities() -> ssl.SSLContext:
    """Whom this machine trusts, read once: it takes longer than all else that a login does here, five times over."""
    import httpx  # noqa: PLC0415 - only where it is a setting

    return httpx.create_ssl_context()


async def _document(address: str) -> Mapping[str, Any]:
    import httpx  # noqa: PLC0415 - only where it is a setting

    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, verify=_authorities()) as client:
            response = await client.get(address)
        document = response.raise_for_status().json()
    except (httpx.HTTPError, ValueError) as error:
        raise ConfigError(f"{address} does not answer as an OpenID provider: {type(error).__name__}") from error
    if not isinstance(document, dict):
        raise ConfigError(f"{address} does not answer as an OpenID provider")
    return document


def _refused(message: str) -> Unauthenticated:
    return Unauthenticated(message, hint="begin again at the login page")
