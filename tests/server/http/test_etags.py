from __future__ import annotations

import pytest
from tests.server.http.conftest import Served

from swarmgate.server.accounts.model import Account


def test_who_has_a_version_already_is_not_sent_it_again(served: Served) -> None:
    with served.client() as client:
        first = client.get("/versioned")
        assert (first.status_code, first.headers["etag"]) == (200, '"7"')
        for known in ('"7"', 'W/"7"', '"6", "7"'):
            assert client.get("/versioned", headers={"If-None-Match": known}).status_code == 304
        assert client.get("/versioned", headers={"If-None-Match": '"6"'}).status_code == 200


@pytest.mark.parametrize(
    ("said", "status"),
    [(None, 200), ("*", 200), ('"7"', 200), ('"6"', 412), ("7", 400), ('W/"7"', 400), ('"seven"', 400), ("", 400)],
)
def test_what_was_decided_about_something_older_is_refused(
    served: Served, ada: Account, said: str | None, status: int
) -> None:
    headers = served.token(ada) | ({} if said is None else {"If-Match": said})
    with served.client() as client:
        answer = client.put("/versioned", headers=headers)
    assert answer.status_code == status
    assert status != 412 or answer.json()["code"] == "STALE"
