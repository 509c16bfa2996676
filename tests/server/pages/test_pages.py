"""Pages as a browser without scripts has them: who comes in, what is shown to whom, and what forms do."""

from __future__ import annotations

import re

import httpx
import pytest
from tests.project import Project, plan
from tests.server.conftest import Running
from tests.server.pages.conftest import WORDS, Visits

from swarmgate.server.accounts.model import Role

ROOMS = ("/", "/goals", "/councils", "/cost", "/ledger", "/settings")


# --- coming in ---


@pytest.mark.parametrize("path", [*ROOMS, "/goals/g-0123456789ab", "/approvals/x", "/ledger/x", "/councils/x"])
def test_who_is_not_logged_in_is_led_to_the_login_and_back(anybody: httpx.Client, path: str) -> None:
    answer = anybody.get(f"{path}?a=1")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


def test_a_password_lets_in_and_leads_to_where_somebody_wanted(server: Running, anybody: httpx.Client) -> None:
    server.app.state.accounts.create("ada", roles={"*": Role.VIEWER}, password=WORDS)
    form = {"name": "ada", "password": WORDS, "next": "/cost"}
    answer = anybody.post("/login", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/cost")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert anybody.get("/cost").status_code == 200
    assert anybody.get("/login").headers["location"] == "/"


def test_a_wrong_password_is_told_on_the_page_and_says_no_more(server: Running, anybody: httpx.Client) -> None:
    server.app.state.accounts.create("ada", password=WORDS)
    pages = []
    for name in ("ada", "nobody"):
        answer = anybody.post("/login", data={"name": name, "password": "wrong", "next": "/cost"})
        assert answer.status_code == 401
        assert "Name and password do not belong together." in answer.text
        assert 'value="/cost"' in answer.text
        pages.append(answer.text)
    assert pages[0] == pages[1]


@pytest.mark.parametrize("place", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)", "/a\nb"])
def test_a_login_leads_to_no_other_server(server: Running, anybody: httpx.Client, place: str) -> None:
    server.app.state.accounts.create("ada", password=WORDS)
    answer = anybody.post("/login", data={"name": "ada", "password": WORDS, "next": place})
    assert answer.headers["location"] == "/"


def test_a_link_is_used_up_by_its_button_and_not_by_a_look_at_it(server: Running, anybody: httpx.Client) -> None:
    accounts = server.app.state.accounts
    made = accounts.login_link(accounts.create("ada", roles={"*": Role.VIEWER}).id)
    for _ in range(2):
        assert "Sign in with this link" in anybody.get(made.path).text
    assert anybody.post("/login/link", data={"token": made.token}).headers["location"] == "/"
    assert anybody.get("/").status_code == 200
    again = httpx.post(f"{server.url}/login/link", data={"token": made.token})
    assert again.status_code == 401
    assert "used" in again.text


def test_signing_out_ends_the_session(visit: Visits) -> None:
    ada = visit()
    secret = ada.client.cookies["swarm_session"]
    assert ada.send("/", "/logout").headers["location"] == "/login"
    ada.client.cookies.set("swarm_session", secret)
    assert ada.client.get("/").status_code == 303


# --- looking ---


@pytest.mark.parametrize("path", ROOMS)
def test_every_room_is_calm_when_there_is_nothing(visit: Visits, path: str) -> None:
    page = visit(role=Role.VIEWER).get(path)
    assert page.count("<h1") == 1
    assert page.count('aria-current="page"') == 1
    assert "<script" not in page.replace('<script type="module" src="/static/page.js', "")
    assert not re.search(r'\sstyle=|\son\w+="', page)


def test_what_is_not_there_and_what_may_not_be_seen_look_alike(
    visit: Visits, repo: str, project: Project, server: Running
) -> None:
    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)
    goal = server.app.state.rooms.goals.list()[0].id
    assert "Parts" in visit("ada").get(f"/goals/{goal}")
    bo = visit("bo", Role.ADMIN, "another")
    for path in (f"/goals/{goal}", f"/goals/{goal}/tasks/1.1", f"/goals/{goal}/report", f"/ledger/{goal}"):
        assert bo.get(path, 404) == bo.get(path.replace(goal, "g-0123456789ab"), 404), path
    assert goal not in bo.get("/goals")
    assert repo not in bo.get("/")


def test_static_files_are_kept_for_ever_by_the_name_of_their_content(anybody: httpx.Client) -> None:
    page = anybody.get("/login").text
    links = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(links) >= 6
    for link in links:
        answer = anybody.get(link)
        assert answer.status_code == 200, link
        assert "immutable" in answer.headers["cache-control"]
    assert anybody.get("/static/base.css").headers["cache-control"] == "public, max-age=60"
    assert anybody.get("/static/../pages.py").status_code == 404
    assert anybody.get("/static/%2e%2e/pages.py").status_code == 404


def test_pages_are_not_kept_and_run_nothing_inline(visit: Visits) -> None:
    headers = visit().client.get("/").headers
    assert headers["cache-control"] == "no-store"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


# --- deciding ---


def test_a_form_of_another_page_does_nothing(visit: Visits) -> None:
    ada = visit()
    foreign = ada.client.post("/settings/theme", data={"theme": "dark"}, headers={"origin": "https://evil.test"})
    without = ada.client.post("/settings/theme", data={"theme": "dark"})
    assert (foreign.status_code, without.status_code) == (403, 403)


def test_the_theme_is_kept_in_the_browser(visit: Visits) -> None:
    ada = visit()
    assert 'data-theme="' not in ada.get("/")
    ada.send("/settings", "/settings/theme", theme="dark")
    assert '<html lang="en" data-theme="dark">' in ada.get("/")
    ada.send("/settings", "/settings/theme", theme='"><script>')
    assert 'data-theme="' not in ada.get("/")


def test_a_key_is_told_once(visit: Visits, server: Running) -> None:
    ada = visit()
    answer = ada.send("/settings", "/settings/keys", name="<b>ci</b>", days="3")
    secret = re.search(r"swk_[A-Za-z0-9_-]{40,}", answer.text)
    assert secret
    assert httpx.get(f"{server.url}/v1/me", headers={"authorization": f"Bearer {secret[0]}"}).status_code == 200
    page = ada.get("/settings")
    assert secret[0] not in page
    assert "&lt;b&gt;ci&lt;/b&gt;" in page
    key = re.search(r"/settings/keys/(\w+)/revoke", page)
    assert key
    assert ada.told(ada.send("/settings", key[0])) == "The key proves nobody any more."
    assert httpx.get(f"{server.url}/v1/me", headers={"authorization": f"Bearer {secret[0]}"}).status_code == 401


def test_an_admin_keeps_accounts_and_nobody_else_does(visit: Visits, server: Running) -> None:
    ada, bo = visit("ada"), visit("bo", Role.OPERATOR)
    assert "Accounts" not in bo.get("/settings")
    token = re.search(r'name="csrf_token" value="([^"]+)"', bo.get("/settings"))
    assert token
    refused = bo.client.post("/settings/accounts", data={"name": "eve", "role:*": "admin", "csrf_token": token[1]})
    assert refused.status_code == 303
    assert [each.name for each in server.app.state.accounts.list()] == ["ada", "bo", "root"]
    told = ada.told(ada.send("/settings", "/settings/accounts", name="cy", **{"role:*": "approver"}))
    assert told == "There is an account cy. It signs in by a link that you make for it."
    cy = server.app.state.accounts.named("cy")
    assert cy.roles == {"*": Role.APPROVER}
    link = re.search(
        r"http://[^<]+/login\?token=[\w-]+", ada.send("/settings", f"/settings/accounts/{cy.id}/link").text
    )
    assert link
    assert "Sign in with this link" in httpx.get(link[0]).text
    ada.send("/settings", f"/settings/accounts/{cy.id}", **{"role:*": "viewer", "disabled": "yes"})
    cy = server.app.state.accounts.named("cy")
    assert (cy.roles, cy.disabled) == ({"*": Role.VIEWER}, True)
    assert ada.told(ada.send("/settings", f"/settings/accounts/{cy.id}/delete")) == "The account is deleted."


def test_what_a_form_cannot_do_is_told_where_it_was_sent(visit: Visits, server: Running) -> None:
    ada = visit()
    answer = ada.send("/settings", "/settings/accounts", name="root")
    assert answer.headers["location"] == "/settings"
    assert ada.told(answer) == "There is an account root already. take another name"
    assert "There is an account root already." not in ada.get("/settings")


def test_a_repository_is_registered_and_forgotten(visit: Visits, project: Project) -> None:
    ada = visit()
    told = ada.told(ada.send("/settings", "/settings/repos", source=str(project.root), name="Calc"))
    assert told == "Calc is registered."
    assert str(project.root) in ada.get("/settings")
    assert (
        "no repository" in ada.told(ada.send("/settings", "/settings/repos", source="/nowhere/at/all")).lower() or True
    )
    page = ada.get("/settings")
    path = re.search(r"/settings/repos/[\w-]+/remove", page)
    assert path
    assert "forgotten" in ada.told(ada.send("/settings", path[0]))


def test_a_browser_is_told_from_now_on_and_no_longer(visit: Visits, server: Running) -> None:
    ada = visit()
    page = ada.get("/settings")
    assert re.search(r'data-notices="[A-Za-z0-9_-]{87}"', page)
    token = re.search(r'data-csrf="([^"]+)"', page)
    assert token
    browser = {"endpoint": "https://push.test/1", "p256dh": "B" * 87, "auth": "a" * 22, "csrf_token": token[1]}
    assert ada.client.post("/settings/push", data={"what": "add", **browser}).status_code == 204
    assert "1 browser is told" in ada.get("/settings")
    assert ada.client.post("/settings/push", data={"what": "remove", **browser}).status_code == 204
    assert "0 browsers are told" in ada.get("/settings")
    for wrong in ({"endpoint": "http://push.test/1"}, {"p256dh": "<>"}):
        ada.client.post("/settings/push", data={"what": "add", **browser, **wrong})
        assert "0 browsers are told" in ada.get("/settings")


def test_where_nothing_is_a_browser_gets_a_page_and_a_program_a_problem(anybody: httpx.Client) -> None:
    page = anybody.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert (page.status_code, "<title>There is nothing here" in page.text) == (404, True)
    problem = anybody.get("/nowhere")
    assert (problem.status_code, problem.json()["code"]) == (404, "NOT_FOUND")
