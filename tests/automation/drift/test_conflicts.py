"""Tests which pairs of sentences contradict each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automation.drift.labelled import alarmed

from swarmgate.automation.drift.claims import sentences
from swarmgate.automation.drift.report import TextKind


@pytest.mark.parametrize(
    ("decision", "later"),
    [
        ("Use Python 3.12", "Use Python 3.9 in the image"),
        ("Use winston for logging", "Write the log with pino"),
        ("Use `requests` for HTTP calls", "Use httpx to call the API"),
        ("Uploads may hold at most 10 MB", "Uploads may hold up to 0.5 GB"),
        ("Do not add an ORM", "Add the ORM Peewee"),
    ],
)
def test_what_speaks_against_a_decision(decision: str, later: str) -> None:
    assert alarmed(decision, later)


@pytest.mark.parametrize(
    ("decision", "later"),
    [
        ("Use Python 3.12", "Support Python 3.9 and 3.12"),
        ("Use `requests` for HTTP calls", "Count the requests of each client"),
        ("Use Postgres", "Read `pytest.ini` and `data.sqlite3`"),
        ("Use argon2 for passwords", "Use argon2 or bcrypt for passwords"),
        ("Uploads may hold at most 10 MB", "Uploads may hold at most 10,000 KB"),
        ("Uploads may hold at most 10 MB", "Warn at uploads over 5 MB"),
        ("Do not commit secrets", "Add a commit hook that detects secrets"),
        ("Never log passwords unless debugging", "Log passwords when debugging"),
        ("Use Vite", "\u2014 ... ( ) ;"),
        ("Use argon2 for password hashes", "Find the users whose password still has an md5 hash"),
        ("Sessions expire after 30 minutes", "Existing sessions expire after 2 hours"),
        ("Use pytest for the tests", "Run the JavaScript tests with jest"),
        ("Production runs on Kubernetes", "Development runs on Nomad"),
        ("Invoices are immutable once sent", "Invoices are mutable until they are sent"),
    ],
)
def test_what_does_not(decision: str, later: str) -> None:
    assert not alarmed(decision, later)


@pytest.mark.parametrize(("development", "expected"), [("Use pytest", True), ("Use Flask for the web server", False)])
def test_a_development_dependency_speaks_only_of_development(development: str, expected: bool) -> None:  # noqa: FBT001
    from swarmgate.automation.drift.comparison import LaterText, compare
    from swarmgate.automation.drift.report import Decision, Place

    decision = Decision(id="D1", text=development, place=Place())
    packages = [LaterText(TextKind.DEPENDENCY, name, Place(), development=True) for name in ("nose2", "django")]
    assert bool(compare([decision], packages)) is expected


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_breaks_it_and_none_speaks_against_itself(one: str, other: str) -> None:
    sentences(one)
    alarmed(one, other)
    assert not alarmed(one, one)
