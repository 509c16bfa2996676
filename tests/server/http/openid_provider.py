"""An OpenID provider on this machine: it lets one person in, checks its client strictly, and lies where a test says."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "swarm", "the-secret-of-the-client-which-is-long"
_KEY = rsa.generate_private_key(65537, 2048)


@dataclass
class OpenIdProvider:
    """The provider.

    Attributes:
        person: claims of who logs in.
        lies: claims that the identity token has instead, or has not (None).
        algorithm: that signs the token.
        key: with which.
        discovery: what the discovery document says instead.
        asked: what clients sent to the token endpoint.
    """

    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "7", "email": "ada@example.test", "email_verified": True}
    )
    lies: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "RS256"
    key: Any = _KEY
    discovery: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The discovery document."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.discovery,
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        assert query["response_type"] == "code"
        assert (query["client_id"], query["code_challenge_method"]) == (CLIENT, "S256")
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """Tokens for a code; None: it refuses."""
        self.asked.append(form)
        begun = self.codes.pop(form.get("code", ""), None)
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            begun is None
            or authorization != f"Basic {expected}"
            or begun["code_challenge"] != challenge.decode().rstrip("=")
            or begun["redirect_uri"] != form["redirect_uri"]
        ):
            return None
        now = int(time.time())
        own = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": begun["nonce"]}
        claims = {name: value for name, value in {**own, **self.person, **self.lies}.items() if value is not None}
        signed = jwt.encode(claims, self.key, self.algorithm, headers={"kid": "k1"})
        return {"access_token": "x", "token_type": "Bearer", "id_token": signed}

    def keys(self) -> dict[str, Any]:
        """Its public key."""
        return {"keys": [{**json.loads(RSAAlgorithm.to_jwk(_KEY.public_key())), "kid": "k1", "use": "sig"}]}


def _handler(provider: OpenIdProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(303)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            else:
                found = {"/.well-known/openid-configuration": provider.document, "/keys": provider.keys}.get(parts.path)
                self._say(200 if found else 404, found() if found else {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            token = provider.token(form, self.headers.get("Authorization", ""))
            self._say(200 if token else 400, token or {"error": "invalid_grant"})

        def _say(self, status: int, what: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(what).encode())

        def log_message(self, *_: Any) -> None: ...

    return Handler


@contextmanager
def openid_provider() -> Iterator[OpenIdProvider]:
    """A provider that answers for the length of a block."""
    provider = OpenIdProvider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
