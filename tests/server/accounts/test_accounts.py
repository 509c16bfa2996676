from __future__ import annotations

import statistics
import time
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from tests.server.accounts.conftest import WORDS

from swarmgate.config import Server
from swarmgate.errors import IllegalMove, NotFound, Unauthenticated, UsageError
from swarmgate.server.accounts import passwords
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import Principal, Role


def test_an_account_is_kept_over_a_restart(tmp_path: Path) -> None:
    before = Accounts(tmp_path, Server())
    made = before.create("Ada", roles={"api": Role.APPROVER, "*": Role.VIEWER}, password=WORDS)
    before.close()
    after = Accounts(tmp_path, Server())
    assert after.list() == (made,)
    assert after.get(made.id) == after.named("ADA") == made
    assert after.check_password("ada", WORDS) == made
    after.close()


def test_no_file_of_the_home_can_be_read_by_others_or_holds_a_password(tmp_path: Path) -> None:
    home = tmp_path / "home"
    accounts = Accounts(home, Server())
    ada = accounts.create("ada", password=WORDS)
    key = accounts.keys.create(ada.id, "ci")
    link = accounts.login_link(ada.id)
    tokens = accounts.sessions.issue(ada.id)
    session, cookie = accounts.sessions.begin(ada.id)
    assert home.stat().st_mode & 0o077 == 0
    assert [each.name for each in home.iterdir() if each.stat().st_mode & 0o077] == []
    kept = b"".join(each.read_bytes() for each in home.iterdir())
    assert session.id.encode() in kept
    for secret in (WORDS, key.secret, link.token, tokens.refresh_token, tokens.access_token, cookie):
        assert secret.encode() not in kept
    for shown in (key, link, tokens):
        assert not any(secret in repr(shown) for secret in (key.secret, link.token, tokens.refresh_token))
    accounts.close()


def test_a_role_may_all_that_the_one_before_may() -> None:
    order = [Role.VIEWER, Role.APPROVER, Role.OPERATOR, Role.ADMIN]
    assert [[one.includes(other) for other in order] for one in order] == [
        [True, False, False, False],
        [True, True, False, False],
        [True, True, True, False],
        [True, True, True, True],
    ]


def test_the_higher_of_the_role_for_all_and_that_for_one_repository_holds(accounts: Accounts) -> None:
    ada = accounts.create("ada", roles={"*": Role.APPROVER, "api": Role.VIEWER, "web": Role.OPERATOR})
    bob = accounts.create("bob", roles={"api": Role.ADMIN})
    assert [ada.role(each) for each in ("api", "web", "other")] == [Role.APPROVER, Role.OPERATOR, Role.APPROVER]
    assert [bob.role(each) for each in ("api", "web", "*")] == [Role.ADMIN, None, None]
    who = Principal(account=bob, via="token")
    assert who.may(Role.VIEWER, "api")
    assert not who.may(Role.VIEWER, "web")
    assert not who.may(Role.VIEWER)
    assert (who.repositories, Principal(account=ada, via="key").repositories) == (frozenset({"api"}), None)
    assert who.actor == "user:bob"


def test_a_name_is_one_accounts_in_whatever_case(accounts: Accounts) -> None:
    ada = accounts.create("Ada")
    bob = accounts.create("bob")
    with pytest.raises(UsageError, match="There is an account aDA already"):
        accounts.create("aDA")
    with pytest.raises(UsageError, match="already"):
        accounts.update(bob.id, name="ADA")
    assert accounts.update(ada.id, name="ada").name == "ada"


@pytest.mark.parametrize("name", ["", " ada", "a b", "-x", "a" * 101, "a\nb", "<b>", "a:b", "é" * 3])
def test_what_is_no_name_is_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        accounts.create(name)


@pytest.mark.parametrize("password", ["short", "x" * 1001, "ada-ada"])
def test_a_password_that_is_none_is_refused(accounts: Accounts, password: str) -> None:
    with pytest.raises(UsageError):
        accounts.create("ada", password=password)
    ada = accounts.create("ada")
    with pytest.raises(UsageError):
        accounts.set_password(ada.id, password)


def test_there_is_always_somebody_who_may_keep_accounts(accounts: Accounts) -> None:
    admin = accounts.admin()
    assert accounts.admin() == admin
    assert admin.roles == {"*": Role.ADMIN}
    for change in ({"roles": {"*": Role.OPERATOR}}, {"roles": {"api": Role.ADMIN}}, {"disabled": True}):
        with pytest.raises(IllegalMove, match="last account"):
            accounts.update(admin.id, **change)
    with pytest.raises(IllegalMove, match="last account"):
        accounts.delete(admin.id)
    assert accounts.get(admin.id) == admin
    other = accounts.create("bob", roles={"*": Role.ADMIN})
    accounts.delete(admin.id)
    assert accounts.admin() == other


def test_the_first_admin_gets_a_name_that_is_free(accounts: Accounts) -> None:
    accounts.create("Admin", roles={"*": Role.VIEWER})
    assert accounts.admin().name == "admin2"


def test_what_is_not_there_is_not_found(accounts: Accounts) -> None:
    for ask in (accounts.get, accounts.named, accounts.delete, accounts.update, accounts.login_link):
        with pytest.raises(NotFound):
            ask("a-000000000000")
    with pytest.raises(NotFound):
        accounts.set_password(f"a-{0:012}", WORDS)


@pytest.mark.parametrize("how", ["disabled", "deleted"])
def test_nothing_proves_an_account_that_is_disabled_or_deleted(accounts: Accounts, how: str) -> None:
    ada = accounts.create("ada", password=WORDS)
    access = accounts.sessions.issue(ada.id)
    _, cookie = accounts.sessions.begin(ada.id)
    key, link = accounts.keys.create(ada.id, "ci").secret, accounts.login_link(ada.id).token
    assert [accounts.verify(each).account for each in (access.access_token, key)] == [ada, ada]
    assert accounts.verify_cookie(cookie).account == ada
    if how == "disabled":
        accounts.update(ada.id, disabled=True)
    else:
        accounts.delete(ada.id)
    for secret in (access.access_token, key):
        with pytest.raises(Unauthenticated):
            accounts.verify(secret)
    for ask, secret in (
        (accounts.verify_cookie, cookie),
        (accounts.redeem, link),
        (accounts.refresh, access.refresh_token),
    ):
        with pytest.raises(Unauthenticated):
            ask(secret)
    with pytest.raises(Unauthenticated):
        accounts.check_password("ada", WORDS)


def test_a_change_by_another_process_holds_at_once(accounts: Accounts, tmp_path: Path) -> None:
    ada = accounts.create("ada", roles={"*": Role.ADMIN})
    accounts.create("bob", roles={"*": Role.ADMIN})
    token = accounts.sessions.issue(ada.id).access_token
    assert accounts.verify(token).may(Role.ADMIN)
    other = Accounts(tmp_path / "home", Server())
    other.update(ada.id, roles={"*": Role.VIEWER})
    assert not accounts.verify(token).may(Role.APPROVER)
    other.sessions.end_all(ada.id)
    with pytest.raises(Unauthenticated):
        accounts.verify(token)
    other.close()


def test_another_password_ends_all_sessions_but_the_one_that_asks(accounts: Accounts) -> None:
    ada = accounts.create("ada", password=WORDS)
    here, there = accounts.sessions.begin(ada.id), accounts.sessions.begin(ada.id)
    accounts.set_password(ada.id, f"{WORDS} and another", session=here[0].id)
    assert accounts.verify_cookie(here[1]).session == here[0].id
    with pytest.raises(Unauthenticated):
        accounts.verify_cookie(there[1])
    with pytest.raises(Unauthenticated):
        accounts.check_password("ada", WORDS)


def test_a_refusal_does_not_tell_why(accounts: Accounts) -> None:
    accounts.create("ada", password=WORDS)
    accounts.create("nopassword")
    accounts.update(accounts.create("off", password=WORDS).id, disabled=True)
    told = set()
    for name, password in (("ada", "x"), ("nobody", WORDS), ("nopassword", WORDS), ("off", WORDS), ("ada", "x" * 5000)):
        with pytest.raises(Unauthenticated) as caught:
            accounts.check_password(name, password)
        told.add((caught.value.message, caught.value.hint, caught.value.code))
    assert len(told) == 1


def test_a_hash_of_weaker_parameters_is_replaced_at_the_next_login(
    accounts: Accounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = accounts.create("ada", password=WORDS)
    monkeypatch.setattr("swarmgate.server.accounts.passwords._hasher", lambda: PasswordHasher(2, 16, 1))
    kept = [_hash(tmp_path)]
    for _ in range(2):
        assert accounts.check_password("ada", WORDS) == ada
        kept.append(_hash(tmp_path))
    assert ("m=8,t=1" in kept[0], "m=16,t=2" in kept[1]) == (True, True)
    assert kept[1] == kept[2]


def _hash(tmp_path: Path) -> str:
    return str(Database(tmp_path / "home").rows("SELECT password FROM accounts")[0]["password"])


@pytest.mark.slow
def test_a_password_is_kept_by_argon2id_as_rfc_9106_recommends() -> None:
    assert passwords._hasher().hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=4$")


@pytest.mark.slow
def test_a_refusal_takes_as_long_whether_there_is_an_account_or_not(accounts: Accounts) -> None:
    accounts.create("ada", password=WORDS)
    accounts.create("nopassword")
    took: dict[str, list[float]] = {"ada": [], "nobody": [], "nopassword": []}
    for _ in range(12):
        for name, times in took.items():
            began = time.process_time()
            with pytest.raises(Unauthenticated):
                accounts.check_password(name, "a wrong password")
            times.append(time.process_time() - began)
    fastest, *_, slowest = sorted(statistics.median(times) for times in took.values())
    assert slowest < 1.3 * fastest, took


def test_somebody_of_a_provider_is_bound_to_what_it_calls_them(accounts: Accounts) -> None:
    ada = accounts.create("ada@example.test", roles={"api": Role.OPERATOR})
    assert accounts.of_provider("https://id 7", "ADA@example.test", None).id == ada.id
    accounts.update(ada.id, name="countess")
    assert accounts.of_provider("https://id 7", "other@example.test", None).id == ada.id
    with pytest.raises(Unauthenticated, match="no account"):
        accounts.of_provider("https://id 8", "nobody@example.test", None)
    with pytest.raises(Unauthenticated):  # the name is bound to another subject
        accounts.of_provider("https://id 9", "countess", None)
    made = accounts.of_provider("https://id 8", "new@example.test", Role.VIEWER)
    assert (made.name, made.roles) == ("new@example.test", {"*": Role.VIEWER})
    accounts.update(made.id, disabled=True)
    with pytest.raises(Unauthenticated, match="disabled"):
        accounts.of_provider("https://id 8", "new@example.test", Role.VIEWER)
