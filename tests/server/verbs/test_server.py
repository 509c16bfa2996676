from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project
from typer.testing import CliRunner, Result

from swarmgate.cli.app import app
from swarmgate.config import load
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.serving.home import taken


@pytest.fixture
def operate(home: Path) -> Any:
    def run(*args: str, exits: int = 0, stdin: str | None = None) -> Result:
        done = CliRunner().invoke(app, ["server", *args, "--home", str(home)], input=stdin)
        assert done.exit_code == exits, f"{done.stdout}\n{done.stderr}"
        return done

    return run


def _json(done: Result) -> Any:
    return json.loads(done.stdout)


def test_an_account_is_made_with_a_link_that_logs_it_in_once(operate: Any, home: Path) -> None:
    made = _json(operate("accounts", "add", "ada", "--role", "approver", "--role", "operator=shop", "--json"))
    assert made["roles"] == {"*": "approver", "shop": "operator"}
    accounts = Accounts(home, load().server)
    assert accounts.redeem(made["link"].partition("token=")[2]).account.name == "ada"
    assert [entry.action for entry in accounts.log.page()] == ["account_created", "login_link"]
    accounts.close()


def test_a_password_is_asked_for_and_never_printed(operate: Any, home: Path) -> None:
    typed = "several words in a row"
    done = operate("accounts", "add", "ada", "--password", stdin=f"{typed}\n{typed}\n")
    assert typed not in done.output
    accounts = Accounts(home, load().server)
    assert accounts.check_password("ada", typed).name == "ada"
    accounts.close()


def test_a_link_leads_to_the_server_that_is_at_work(operate: Any, home: Path) -> None:
    operate("accounts", "add", "ada")
    with taken(home, "http://127.0.0.1:4711"):
        assert _json(operate("accounts", "link", "ada", "--json"))["link"].startswith("http://127.0.0.1:4711/login?")
        assert _json(operate("status", "--json"))["serving"]["place"] == "http://127.0.0.1:4711"
    assert _json(operate("status", "--json"))["serving"] == {}


def test_accounts_are_changed_and_deleted(operate: Any) -> None:
    for name in ("ada", "bob"):
        operate("accounts", "add", name, "--role", "admin")
    assert operate("accounts", "change", "bob", "--disable").stdout == "bob: admin; disabled\n"
    assert operate("accounts", "change", "bob", "--enable", "--role", "viewer").stdout == "bob: viewer\n"
    operate("accounts", "delete", "bob")
    assert operate("accounts", "list").stdout == "ada: admin\n"
    assert "last account" in operate("accounts", "delete", "ada", exits=2).stderr


def test_a_key_is_printed_once_and_revoked(operate: Any, home: Path) -> None:
    operate("accounts", "add", "ada")
    secret = operate("keys", "add", "ada", "nightly report", "--days", "3").stdout.strip()
    accounts = Accounts(home, load().server)
    assert accounts.verify(secret).account.name == "ada"
    listed = operate("keys", "list", "ada").stdout
    assert secret not in listed
    key, _, purpose = listed.strip().split("  ")
    assert purpose == "nightly report"
    operate("keys", "revoke", "ada", key)
    assert operate("keys", "list", "ada").stdout == "ada has no keys.\n"
    accounts.close()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("accounts", "add", "ada", "--role", "king"), "'king' is no role"),
        (("accounts", "add", "a b"), "cannot be the name"),
        (("accounts", "link", "nobody"), "There is no account nobody"),
        (("keys", "revoke", "nobody", "x"), "There is no account nobody"),
        (("backup", "/dev/null"), "nothing is overwritten"),
        (("restore", "/dev"), "is no backup"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(operate: Any, words: tuple[str, ...], told: str) -> None:
    operate("status")
    assert told in operate(*words, exits=2).stderr


def test_repositories_are_registered_and_forgotten(operate: Any, project: Project) -> None:
    assert operate("repositories", "add", str(project.root), "--name", "Shop").stdout == f"shop: {project.root}\n"
    assert [each["name"] for each in _json(operate("repositories", "list", "--json"))] == ["Shop"]
    operate("repositories", "remove", "shop")
    assert "None yet" in operate("repositories", "list").stdout
    assert "not over 'git'" in operate("repositories", "add", "git://example.org/x", exits=2).stderr
