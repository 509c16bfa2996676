"""Logging in through an OpenID provider, and through one that lies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.server.conftest import NOBODY
from tests.server.http.conftest import Served, Serving
from tests.server.http.openid_provider import CLIENT, SECRET, OpenIdProvider, openid_provider

from swarmgate.config import OpenIDConnect, Server
from swarmgate.server.accounts.model import Role
from swarmgate.server.http.login.routes import local_path


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider() as one:
        yield one


@pytest.fixture
def served(provider: OpenIdProvider, serve: Serving, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv("OIDC_SECRET", SECRET)
    oidc = OpenIDConnect(issuer=provider.issuer, client_id=CLIENT, client_secret_env="OIDC_SECRET")
    made = serve(Server(oidc=oidc))
    made.accounts.create("ada@example.test", roles={"*": Role.APPROVER})
    return made


@pytest.fixture
def browser(served: Served) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


def back(browser: httpx.Client, path: str = "/login/oidc") -> str:
    """Goes to the provider; the address that this one sends the browser back to."""
    to_provider = browser.get(path)
    assert to_provider.status_code == 303
    return httpx.get(to_provider.headers["location"], verify=NOBODY).headers["location"]


def test_somebody_whom_the_provider_vouches_for_is_logged_in(
    served: Served, browser: httpx.Client, provider: OpenIdProvider
) -> None:
    done = browser.get(back(browser, "/login/oidc?next=/goals/g-1?a=b"))
    assert (done.status_code, done.headers["location"]) == (303, "/goals/g-1?a=b")
    assert "HttpOnly" in done.headers["set-cookie"]
    assert browser.get("/who").json() | {"csrf": ""} == {
        "account": "ada@example.test",
        "via": "session",
        "client": "127.0.0.1",
        "scheme": "http",
        "csrf": "",
    }
    assert "swarm_oidc" not in browser.cookies
    assert provider.asked[0]["grant_type"] == "authorization_code"
    assert [(each.action, each.detail) for each in served.accounts.log.page()] == [("login", "provider")]


def test_what_goes_to_the_provider_cannot_be_guessed_and_holds_no_secret(browser: httpx.Client) -> None:
    first, second = (browser.get("/login/oidc").headers["location"] for _ in range(2))
    one, two = (parse_qs(urlsplit(each).query) for each in (first, second))
    for name in ("state", "nonce", "code_challenge"):
        assert len(one[name][0]) >= 43
        assert one[name] != two[name]
    assert "code_verifier" not in one
    assert SECRET not in first


@pytest.mark.parametrize(
    "lies",
    [
        {"nonce": "x"},
        {"nonce": None},
        {"aud": "other"},
        {"aud": ["other", CLIENT]},
        {"aud": [CLIENT], "azp": "other"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"email_verified": False},
        {"email_verified": "true"},
        {"email_verified": None},
        {"email": None},
        {"email": ["ada@example.test"]},
        {"email": "nobody@example.test"},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_login_lets_nobody_in(
    browser: httpx.Client, provider: OpenIdProvider, lies: dict[str, Any]
) -> None:
    provider.lies = lies
    answer = browser.get(back(browser))
    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
    assert browser.get("/who").json()["account"] == ""


@pytest.mark.parametrize(
    ("algorithm", "key"),
    [("HS256", SECRET), ("none", ""), ("RS256", rsa.generate_private_key(65537, 2048))],
    ids=["shared secret", "none", "another key"],
)
def test_a_token_that_the_providers_key_did_not_sign_lets_nobody_in(
    browser: httpx.Client, provider: OpenIdProvider, algorithm: str, key: Any
) -> None:
    provider.algorithm, provider.key = algorithm, key
    assert browser.get(back(browser)).status_code == 401


def test_a_login_ends_in_the_browser_that_began_it_and_once(
    served: Served, browser: httpx.Client, provider: OpenIdProvider
) -> None:
    address = back(browser)
    with served.client() as other:
        assert other.get(address).status_code == 401  # somebody was sent a link of the attacker's
        back(other)
        assert other.get(address).status_code == 401  # who has begun one, too
    assert provider.asked == []
    wrong = address.replace("state=", "state=x")
    assert browser.get(wrong).status_code == 401
    assert browser.get(address.replace("code=", "code=x")).status_code == 401
    assert browser.get(f"{address}&iss=https://evil.example").status_code == 401
    kept = browser.cookies.get("swarm_oidc")
    assert browser.get(address).status_code == 303
    browser.cookies.set("swarm_oidc", kept or "", path="/login/oidc")
    assert browser.get(address).status_code == 401


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c"])
def test_a_cookie_that_is_not_of_this_server_is_refused(served: Served, browser: httpx.Client, cookie: str) -> None:
    address = back(browser)
    with served.client(cookies={"swarm_oidc": cookie}) as other:
        assert other.get(address).status_code == 401


def test_an_access_token_is_no_cookie_of_a_login_and_the_other_way_round(served: Served, browser: httpx.Client) -> None:
    ada = served.accounts.named("ada@example.test")
    address = back(browser)
    access = served.accounts.sessions.issue(ada.id).access_token
    with served.client(cookies={"swarm_oidc": access}) as other:
        assert other.get(address).status_code == 401
        kept = browser.cookies.get("swarm_oidc") or ""
        assert other.get("/mine", headers={"Authorization": f"Bearer {kept}"}).status_code == 401


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": None, "jwks_uri": None},
        {"jwks_uri": "http://127.0.0.1:1/"},
    ],
    ids=str,
)
def test_a_provider_that_does_not_answer_as_one_is_told(
    browser: httpx.Client, provider: OpenIdProvider, discovery: dict[str, Any]
) -> None:
    address = back(browser)
    provider.discovery = discovery
    provider.document = lambda: {  # type: ignore[method-assign]  # what is None is not there
        name: value for name, value in OpenIdProvider.document(provider).items() if value is not None
    }
    answer = browser.get(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFIG")


def test_a_server_without_a_provider_has_no_such_address(serve: Serving) -> None:
    with serve().client() as client:
        assert client.get("/login/oidc").status_code == 404
        assert client.get("/login/oidc/callback?code=x&state=y").status_code == 404


def test_new_accounts_are_made_where_a_setting_says_as_what(
    provider: OpenIdProvider, serve: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OIDC_SECRET", SECRET)
    oidc = OpenIDConnect(
        issuer=provider.issuer, client_id=CLIENT, client_secret_env="OIDC_SECRET", new_accounts="viewer",
        name_claim="preferred_username",
    )  # fmt: skip
    served = serve(Server(oidc=oidc))
    provider.person = {"sub": "8", "preferred_username": "grace"}
    with served.client() as browser:
        assert browser.get(back(browser)).status_code == 303
    assert served.accounts.named("grace").roles == {"*": Role.VIEWER}


@pytest.mark.parametrize(
    "path", ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "", "/a\nb", "javascript:alert(1)"]
)
def test_nobody_is_sent_on_to_a_foreign_page(path: str) -> None:
    assert local_path(path) == "/"
    assert local_path("/goals?x=1#y") == "/goals?x=1#y"
