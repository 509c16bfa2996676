from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.http.conftest import Served, serving

from swarmgate.server.accounts.model import Account, Role


@pytest.fixture
def client(served: Served, ada: Account) -> Any:
    with served.client(headers=served.token(ada)) as one:
        yield one


def post(client: httpx.Client, key: str, body: object, path: str = "/things") -> httpx.Response:
    return client.post(path, json=body, headers={"Idempotency-Key": key})


def test_a_request_that_comes_again_is_answered_as_it_was_and_done_once(served: Served, client: httpx.Client) -> None:
    before = len(served.done)
    first, again = post(client, "k1", {"a": 1}), post(client, "k1", {"a": 1})
    assert len(served.done) == before + 1
    assert (first.status_code, first.json(), first.headers["location"]) == (
        again.status_code,
        again.json(),
        again.headers["location"],
    )
    assert (first.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    assert "idempotency-replayed" not in first.headers
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert again.headers.get_list("content-security-policy") == first.headers.get_list("content-security-policy")
    assert post(client, "k2", {"a": 1}).json()["number"] == before + 2


def test_another_request_under_the_same_key_is_refused(served: Served, client: httpx.Client) -> None:
    post(client, "k3", {"a": 1})
    before = len(served.done)
    other = post(client, "k3", {"a": 2})
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert post(client, "k3", {"a": 1}, "/things?x=1").status_code == 422
    about = client.post("/things", json={"a": 1}, headers={"Idempotency-Key": "k3", "If-Match": ""})
    assert about.status_code == 422
    assert len(served.done) == before


def test_keys_of_two_accounts_have_nothing_to_do_with_each_other(served: Served, client: httpx.Client) -> None:
    bob = served.accounts.create("bob")
    post(client, "k4", {"of": "ada"})
    with served.client(headers=served.token(bob)) as others:
        assert post(others, "k4", {"of": "bob"}).json()["of"] == "bob"
    assert post(client, "k4", {"of": "ada"}).json()["of"] == "ada"


def test_what_was_refused_may_be_tried_again_under_its_key(served: Served, client: httpx.Client) -> None:
    before = len(served.done)
    assert [post(client, "k5", {"fail": 1}).status_code for _ in range(2)] == [409, 409]
    assert len(served.done) == before + 2
    assert post(client, "k5", {"a": 1}).status_code == 201


def test_of_two_at_the_same_time_one_is_done(served: Served, client: httpx.Client) -> None:
    before = len(served.done)
    answers: list[httpx.Response] = []
    slow = threading.Thread(target=lambda: answers.append(post(client, "k6", {"seconds": 0.3})))
    slow.start()
    while len(served.done) == before:
        pass
    busy = post(client, "k6", {"seconds": 0.3})
    slow.join()
    assert (busy.status_code, busy.json()["code"]) == (409, "ILLEGAL_MOVE")
    assert answers[0].status_code == 201
    assert len(served.done) == before + 1


@pytest.mark.slow
def test_what_a_kill_cut_short_is_done_again_under_the_token_that_it_had(tmp_path: Path) -> None:
    with serving(tmp_path) as killed, serving(tmp_path) as served:
        ada = killed.accounts.create("ada", roles={"*": Role.OPERATOR})
        with killed.client(headers=killed.token(ada)) as first, served.client(headers=served.token(ada)) as then:
            cut = threading.Thread(target=lambda: post(first, "k8", {"seconds": 1.5}))  # its process is as good as gone
            cut.start()
            while not killed.tokens:
                pass
            assert post(then, "k8", {"seconds": 2}).status_code == 422, "another request under its key"
            again = post(then, "k8", {"seconds": 1.5})
            assert again.status_code == 201, again.text
            assert killed.tokens == served.tokens, "what the first one began is found"
            assert all(killed.tokens)
            cut.join()


def test_a_secret_is_told_once(served: Served, client: httpx.Client) -> None:
    before = len(served.done)
    assert post(client, "k7", {}, "/secrets").json() == "geheim"
    again = post(client, "k7", {}, "/secrets")
    assert (again.status_code, "geheim" in again.text) == (422, False)
    assert len(served.done) == before + 1
    assert b"geheim" not in (served.home / "state.sqlite3").read_bytes()


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "ü".encode()])
def test_what_is_no_key_is_refused(client: httpx.Client, key: str) -> None:
    assert post(client, key, {}).status_code == 400
