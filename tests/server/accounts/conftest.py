"""Accounts in a home of their own, and a clock that a test moves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from swarmgate.config import Server
from swarmgate.server.accounts import passwords
from swarmgate.server.accounts.accounts import Accounts

DAY_S = 86_400.0
WORDS = "several words in a row"


class Clock:
    """Seconds since 1970, beginning now."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture(autouse=True)
def cheap_hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with the least that it takes: a real hash is a tenth of a second of both processors, by design."""
    passwords._nobodys.cache_clear()
    if "slow" not in request.keywords:
        hasher = PasswordHasher(1, 8, 1)
        monkeypatch.setattr("swarmgate.server.accounts.passwords._hasher", lambda: hasher)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(tmp_path: Path, clock: Clock) -> Iterator[Accounts]:
    made = Accounts(tmp_path / "home", Server(), clock=clock)
    yield made
    made.close()
