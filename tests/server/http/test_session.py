"""Logging in by a password and by a link, and out again."""

from __future__ import annotations

import httpx
from tests.server.http.conftest import WORDS, Serving

from swarmgate.config import Server


def cookie_of(answer: httpx.Response) -> str:
    return answer.headers["set-cookie"]


def test_a_password_begins_a_session_that_a_browser_keeps_to_itself(serve: Serving) -> None:
    served = serve()
    served.accounts.create("ada", password=WORDS)
    with served.client() as browser:
        answer = browser.post("/login", json={"name": "ADA", "password": WORDS})
        assert answer.json() == "ada"
        said = cookie_of(answer)
        assert said.startswith("swarm_session=sws_")
        assert "HttpOnly" in said
        assert "SameSite=lax" in said
        assert "Max-Age=2592000" in said
        assert "Path=/" in said
        token = {"X-CSRF-Token": browser.get("/who").json()["csrf"]}
        assert browser.get("/mine").json() == "user:ada"
        before = browser.cookies["swarm_session"]
        assert browser.post("/logout", headers=token).status_code == 200
        assert browser.get("/mine").status_code == 401
        assert browser.get("/mine", headers={"Cookie": f"swarm_session={before}"}).status_code == 401
    seen = [(each.actor, each.action, each.detail, each.address) for each in served.accounts.log.page()]
    assert seen == [
        ("user:ada", "login", "password", "127.0.0.1"),
        ("user:ada", "logout", "session", "127.0.0.1"),
    ]


def test_under_tls_the_cookie_is_of_this_very_host_and_never_sent_in_the_clear(serve: Serving) -> None:
    served = serve(Server(trusted_proxies=("127.0.0.1",), behind_proxy=True, hosts=("swarm.lan",)))
    served.accounts.create("ada", password=WORDS)
    with served.client(headers={"Host": "swarm.lan", "X-Forwarded-Proto": "https"}) as browser:
        said = cookie_of(browser.post("/login", json={"name": "ada", "password": WORDS}))
    assert said.startswith("__Host-swarm_session=sws_")
    assert "Secure" in said
    assert "Path=/" in said
    assert "Domain" not in said


def test_a_session_that_somebody_prepared_is_not_the_one_that_begins(serve: Serving) -> None:
    served = serve()
    ada, eve = served.accounts.create("ada", password=WORDS), served.accounts.create("eve")
    browser, token = served.browser(eve)
    with browser:
        planted = browser.cookies["swarm_session"]
        answer = browser.post("/login", json={"name": "ada", "password": WORDS}, headers=token)
        assert planted not in cookie_of(answer)
    with served.client(cookies={"swarm_session": planted}) as other:
        assert other.get("/mine").json() == "user:eve"
    assert ada.name == "ada"


def test_a_link_logs_in_once(serve: Serving) -> None:
    served = serve()
    link = served.accounts.login_link(served.accounts.admin().id)
    with served.client() as browser:
        assert browser.post("/login/link", params={"token": link.token}).json() == "admin"
        assert browser.get("/mine").json() == "user:admin"
    with served.client() as other:
        again = other.post("/login/link", params={"token": link.token})
    assert again.status_code == 401
    assert [each.action for each in served.accounts.log.page()] == ["login", "login_refused"]


def test_refreshed_tokens_work_and_the_old_one_ends_them(serve: Serving) -> None:
    served = serve()
    ada = served.accounts.create("ada")
    old = served.accounts.sessions.issue(ada.id)
    with served.client() as client:
        new = client.post("/refresh", params={"token": old.refresh_token}).json()
        bearer = {"Authorization": f"Bearer {new['access_token']}"}
        assert client.get("/mine", headers=bearer).json() == "user:ada"
        assert client.post("/refresh", params={"token": old.refresh_token}).status_code == 401
        assert client.get("/mine", headers=bearer).status_code == 401
