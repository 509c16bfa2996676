"""Accounts that outlive what made them: a key, or a login that began while its account was disabled."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.config import Server
from swarmgate.errors import Unauthenticated
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Role


def test_a_login_that_crosses_the_end_of_its_account_is_not_there_when_it_is_enabled_again(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path, Server())
    accounts.create("ada", roles={"*": Role.ADMIN})
    bob = accounts.create("bob", password="several words in a row")
    known = accounts.check_password("bob", "several words in a row")
    accounts.update(bob.id, disabled=True)  # by an admin, while the password was compared
    with pytest.raises(Unauthenticated):
        accounts.sessions.begin(known.id)
    with pytest.raises(Unauthenticated):
        accounts.sessions.issue(known.id)
    accounts.delete(bob.id)
    with pytest.raises(Unauthenticated):
        accounts.sessions.begin(known.id)
    accounts.close()
