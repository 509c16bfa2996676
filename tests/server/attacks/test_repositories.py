"""Repositories that mean ill: an id that others have roles for, and what a hostile one has committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.errors import UsageError
from swarmgate.server.repositories.repositories import Repositories

ADA = "user:ada"


def test_the_id_of_a_repository_that_was_removed_is_never_anothers(tmp_path: Path) -> None:
    """Roles, goals and the scratch project are kept by the id: another one would get all of them."""
    repositories = Repositories(tmp_path, resolve=lambda _host, _port: ("93.184.216.34",))
    first = repositories.register("https://example.org/shop", by=ADA)
    repositories.remove(first.id)
    with pytest.raises(UsageError, match="has, or had"):
        repositories.register("https://example.org/evil", id="shop", by=ADA)
    assert repositories.register("https://example.org/evil", name="shop", by=ADA).id == "shop-2"
    assert repositories.register("https://example.org/shop", name="Store", by=ADA).id == "shop"  # it is the same one
    repositories.close()
