"""Keys with ends that no clock reaches: one would keep the list of all keys from being read."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from tests.server.conftest import Running

from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow


def test_a_key_ends_at_a_time_that_there_is(server: Running, account: Callable[..., httpx.Client]) -> None:
    account("ada", Role.VIEWER).close()
    (ada,) = server.app.state.accounts.list()
    token = server.app.state.accounts.sessions.issue(ada.id).access_token
    ends = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "2999-01-01T00:00:00")
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}) as client:
        for each in ends:
            answer = client.post("/v1/keys", json={"name": "x", "expires": each})
            assert answer.status_code in {400, 422}, (each, answer.text)
        assert client.post("/v1/keys", json={"name": "x", "expires": "2999-01-01T00:00:00Z"}).status_code == 201
        assert client.get("/v1/keys").status_code == 200
    assert not list(server.home.glob("bugs/*"))
