"""Who may change accounts, passwords and keys: somebody who is logged in, whatever a key of theirs may else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from argon2 import PasswordHasher
from tests.server.services.conftest import House

from swarmgate.errors import NotAllowed, Unauthenticated
from swarmgate.server.accounts import passwords
from swarmgate.server.accounts.model import Principal, Role

OLD, NEW = "several words in a row", "other words, all in a row"


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with the least that it takes."""
    passwords._nobodys.cache_clear()
    monkeypatch.setattr("swarmgate.server.accounts.passwords._hasher", lambda: PasswordHasher(1, 8, 1))


CHANGES: dict[str, Callable[[House, Principal], Coroutine[Any, Any, Any]]] = {
    "create": lambda house, who: house.services.accounts.create(who, name="eve", roles={"*": Role.ADMIN}),
    "change": lambda house, who: house.services.accounts.update(who, who.account.id, roles={"*": Role.ADMIN}),
    "delete": lambda house, who: house.services.accounts.delete(who, who.account.id),
    "link": lambda house, who: house.services.accounts.login_link(who, who.account.id),
    "key": lambda house, who: house.services.accounts.new_key(who, name="more"),
    "password": lambda house, who: house.services.accounts.set_password(who, NEW, current=OLD),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_key_of_an_admin_changes_no_account_password_or_key(house: House, change: str) -> None:
    known = house.rooms.accounts
    admin = known.create("root", roles={"*": Role.ADMIN}, password=OLD)
    keyed = known.verify(known.keys.create(admin.id, "ci").secret)
    before = (known.list(), known.keys.of(admin.id))
    with pytest.raises(NotAllowed, match="A key changes no"):
        await CHANGES[change](house, keyed)
    assert (known.list(), known.keys.of(admin.id)) == before
    assert known.check_password("root", OLD).id == admin.id
    assert (await house.services.accounts.list(keyed)).items == before[0], "it may look"


async def test_another_password_takes_the_present_one_and_ends_all_other_sessions(house: House) -> None:
    known, accounts = house.rooms.accounts, house.services.accounts
    ada = known.create("ada", password=OLD)
    here, elsewhere = (known.verify_cookie(known.sessions.begin(ada.id)[1]) for _ in range(2))
    secret = known.sessions.begin(ada.id)[1]
    for wrong in ("", NEW):
        with pytest.raises(NotAllowed, match="present password"):
            await accounts.set_password(here, NEW, current=wrong)
    assert known.check_password("ada", OLD).id == ada.id
    assert [each.action for each in known.log.page(0, 10)] == ["password_change_refused"] * 2
    await accounts.set_password(here, NEW, current=OLD)
    assert known.check_password("ada", NEW).id == ada.id
    assert elsewhere.session != here.session
    with pytest.raises(Unauthenticated):
        known.verify_cookie(secret)


async def test_who_has_no_password_yet_gives_themselves_one(house: House) -> None:
    known = house.rooms.accounts
    bo = known.create("bo")
    await house.services.accounts.set_password(known.verify_cookie(known.sessions.begin(bo.id)[1]), NEW, current="")
    assert known.check_password("bo", NEW).has_password
