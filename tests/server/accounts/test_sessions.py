from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.server.accounts.conftest import DAY_S, Clock

from swarmgate.errors import ConfigError, NotFound, Unauthenticated, UsageError
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Account
from swarmgate.server.accounts.sessions import AUDIENCE
from swarmgate.server.accounts.signing import Signer


@pytest.fixture
def ada(accounts: Accounts) -> Account:
    return accounts.create("ada")


# --- tokens ---


def test_an_access_token_proves_its_account_for_fifteen_minutes(accounts: Accounts, ada: Account) -> None:
    tokens = accounts.sessions.issue(ada.id)
    claims = jwt.decode(tokens.access_token, options={"verify_signature": False})
    assert jwt.get_unverified_header(tokens.access_token)["alg"] == "HS256"
    assert set(claims) == {"iss", "aud", "sub", "exp", "nbf", "iat", "jti", "sid"}
    assert (claims["sub"], claims["exp"] - claims["iat"], tokens.expires_in) == (ada.id, 900, 900)
    who = accounts.verify(tokens.access_token)
    assert (who.account, who.via, who.session) == (ada, "token", claims["sid"])


def claims_of(accounts: Accounts, ada: Account) -> dict[str, Any]:
    token = accounts.sessions.issue(ada.id).access_token
    found: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return found


def key_of(tmp_path: Path) -> bytes:
    return (tmp_path / "home/signing.key").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"exp": -1},
        {"nbf": 4_000_000_000},
        {"iat": 4_000_000_000},
        {"aud": "swarmgate-oidc"},
        {"aud": ["swarmgate-api", "other"]},
        {"iss": "somebody"},
        {"sub": "a-000000000000"},
        {"sid": "0" * 16},
        *({name: None} for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti", "sid")),
    ],
    ids=str,
)
def test_a_token_whose_claims_are_not_ours_is_refused_though_its_signature_is(
    accounts: Accounts, ada: Account, tmp_path: Path, change: dict[str, Any]
) -> None:
    claims = claims_of(accounts, ada)
    accounts.verify(jwt.encode(claims, key_of(tmp_path), "HS256"))
    changed = {name: value for name, value in {**claims, **change}.items() if value is not None}
    with pytest.raises(Unauthenticated):
        accounts.verify(jwt.encode(changed, key_of(tmp_path), "HS256"))


def test_no_algorithm_but_hs256_is_taken(accounts: Accounts, ada: Account, tmp_path: Path) -> None:
    claims = claims_of(accounts, ada)
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    head, body, mark = jwt.encode(claims, key_of(tmp_path), "HS256").split(".")

    def with_header(**header: str) -> str:
        return urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")

    forged = [
        jwt.encode(claims, "", "none"),
        f"{with_header(alg='none', typ='JWT')}.{body}.",
        f"{with_header(alg='nOnE', typ='JWT')}.{body}.",
        f"{with_header(alg='none', typ='JWT')}.{body}.{mark}",
        f"{with_header(alg='HS512', typ='JWT')}.{body}.{mark}",
        jwt.encode(claims, key_of(tmp_path) * 2, "HS512"),
        jwt.encode(claims, private, "RS256"),
        jwt.encode(claims, b"x" * 64, "HS256"),
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{urlsafe_b64encode(json.dumps(claims | {'sub': 'a-1'}).encode()).decode().rstrip('=')}.{mark}",
        "",
        ".",
        "..",
        "a.b.c",
        "\0",
        "ü",
    ]
    for token in forged:
        with pytest.raises(Unauthenticated):
            accounts.verify(token)


def test_a_refresh_token_is_used_up_and_one_that_comes_again_ends_the_login(accounts: Accounts, ada: Account) -> None:
    first = accounts.sessions.issue(ada.id)
    other = accounts.sessions.issue(ada.id)
    second = accounts.refresh(first.refresh_token)
    third = accounts.refresh(second.refresh_token)
    assert accounts.verify(third.access_token).account == ada
    with pytest.raises(Unauthenticated):
        accounts.refresh(first.refresh_token)  # it was stolen, or the second one was
    for token in (first.access_token, second.access_token, third.access_token):
        with pytest.raises(Unauthenticated):
            accounts.verify(token)
    with pytest.raises(Unauthenticated):
        accounts.refresh(third.refresh_token)
    assert accounts.verify(other.access_token).account == ada
    assert [(each.action, each.subject) for each in accounts.log.page()] == [("refresh_token_reused", ada.id)]


@pytest.mark.parametrize("token", ["", "swr_", "swr_x", "sws_" + "a" * 43])
def test_what_is_no_refresh_token_ends_nothing(accounts: Accounts, ada: Account, token: str) -> None:
    tokens = accounts.sessions.issue(ada.id)
    with pytest.raises(Unauthenticated):
        accounts.refresh(token)
    assert accounts.verify(tokens.access_token).account == ada
    assert accounts.log.page() == ()


def test_a_secret_of_one_kind_is_none_of_another(accounts: Accounts, ada: Account) -> None:
    tokens, key = accounts.sessions.issue(ada.id), accounts.keys.create(ada.id, "ci")
    _, cookie = accounts.sessions.begin(ada.id)
    link = accounts.login_link(ada.id).token
    for ask, wrong in (
        (accounts.verify, (tokens.refresh_token, cookie, link)),
        (accounts.verify_cookie, (tokens.access_token, tokens.refresh_token, key.secret, link)),
        (accounts.refresh, (tokens.access_token, cookie, key.secret, link)),
        (accounts.redeem, (tokens.access_token, tokens.refresh_token, cookie, key.secret)),
    ):
        for secret in wrong:
            with pytest.raises(Unauthenticated):
                ask(secret)
    assert accounts.verify_cookie(cookie).account == accounts.verify(key.secret).account == ada


def test_a_login_lives_as_long_as_it_is_used(accounts: Accounts, ada: Account, clock: Clock) -> None:
    tokens = accounts.sessions.issue(ada.id)
    _, cookie = accounts.sessions.begin(ada.id)
    for _ in range(3):
        clock.ahead_s += 20 * DAY_S
        tokens = accounts.refresh(tokens.refresh_token)
        assert accounts.verify_cookie(cookie).account == ada
    clock.ahead_s += 31 * DAY_S
    with pytest.raises(Unauthenticated):
        accounts.refresh(tokens.refresh_token)
    with pytest.raises(Unauthenticated):
        accounts.verify_cookie(cookie)


def test_a_login_that_is_ended_is_over_at_once(accounts: Accounts, ada: Account) -> None:
    tokens = accounts.sessions.issue(ada.id)
    who = accounts.verify(tokens.access_token)
    accounts.sessions.end(who.session)
    with pytest.raises(Unauthenticated):
        accounts.verify(tokens.access_token)
    with pytest.raises(Unauthenticated):
        accounts.refresh(tokens.refresh_token)


# --- keys, links ---


def test_an_api_key_proves_its_account_until_it_is_over_or_deleted(
    accounts: Accounts, ada: Account, clock: Clock
) -> None:
    key = accounts.keys.create(ada.id, "ci")
    who = accounts.verify(key.secret)
    assert (who.account, who.via, who.key_id, who.session) == (ada, "key", key.id, "")
    for wrong in (key.secret[:-1], f"{key.secret}A", key.secret.swapcase(), f"swk_{'0' * 12}_{key.secret[17:]}"):
        with pytest.raises(Unauthenticated):
            accounts.verify(wrong)
    short = accounts.keys.create(ada.id, "today", expires=key.created.replace(year=key.created.year + 1))
    assert accounts.verify(short.secret).account == ada
    clock.ahead_s = 370 * DAY_S
    with pytest.raises(Unauthenticated):
        accounts.verify(short.secret)
    bob = accounts.create("bob")
    with pytest.raises(NotFound):
        accounts.keys.delete(bob.id, key.id)
    accounts.keys.delete(ada.id, key.id)
    with pytest.raises(Unauthenticated):
        accounts.verify(key.secret)
    assert [each.name for each in accounts.keys.of(ada.id)] == ["today"]


def test_a_key_that_is_over_already_and_the_hundred_and_first_are_refused(accounts: Accounts, ada: Account) -> None:
    with pytest.raises(UsageError, match="over already"):
        accounts.keys.create(ada.id, "x", expires=ada.created)
    for number in range(100):
        accounts.keys.create(ada.id, str(number))
    with pytest.raises(UsageError, match="100 keys"):
        accounts.keys.create(ada.id, "one more")


def test_a_login_link_logs_in_once_and_for_a_quarter_of_an_hour(accounts: Accounts, ada: Account, clock: Clock) -> None:
    link, late = accounts.login_link(ada.id), accounts.login_link(ada.id)
    assert link.path == f"/login?token={link.token}"
    who = accounts.redeem(link.token)
    assert (who.account, who.via) == (ada, "link")
    with pytest.raises(Unauthenticated, match="used"):
        accounts.redeem(link.token)
    clock.ahead_s = 15 * 60 + 1
    with pytest.raises(Unauthenticated):
        accounts.redeem(late.token)


# --- the signing key ---


def test_the_signing_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    first = Signer.at(tmp_path).sign(AUDIENCE, "x", 60)
    path = tmp_path / "signing.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert Signer.at(tmp_path).read(first, AUDIENCE)["sub"] == "x"
    assert [each.name for each in tmp_path.iterdir()] == ["signing.key"]
    with pytest.raises(Unauthenticated):
        Signer.at(tmp_path / "other").read(first, AUDIENCE)


def test_a_signing_key_that_others_can_read_or_that_is_short_is_refused(tmp_path: Path) -> None:
    Signer.at(tmp_path)
    os.chmod(tmp_path / "signing.key", 0o640)  # noqa: PTH101 - as a person would
    with pytest.raises(ConfigError, match="read by others"):
        Signer.at(tmp_path)
    (tmp_path / "signing.key").write_text("short")
    os.chmod(tmp_path / "signing.key", 0o600)  # noqa: PTH101 - as a person would
    with pytest.raises(ConfigError, match="no secret of 32 bytes"):
        Signer.at(tmp_path)


def test_what_is_bound_to_a_purpose_is_of_no_use_for_another() -> None:
    signer = Signer(b"x" * 48)
    assert signer.bound("csrf", "a") == signer.bound("csrf", "a")
    assert len({signer.bound("csrf", "a"), signer.bound("csrf", "b"), signer.bound("push", "a")}) == 3
