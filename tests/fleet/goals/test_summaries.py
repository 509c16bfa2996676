"""The list of goals of a remote, which the processes of one machine share."""

from __future__ import annotations

import pytest
from tests.fleet.remote import Remote

from swarmgate.fleet.goals import summaries
from swarmgate.workspace.files import exclusive

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]


def test_nobody_waits_for_a_process_that_stands_still_with_the_list(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summaries, "STILL_S", 0.1)
    first = remote.submit()
    assert set(summaries.summaries(remote.site)) == {first}
    (lock,) = (remote.site.home / "lists").glob("*.lock")
    with lock.open("w") as held:
        exclusive.take(held.fileno())
        second = remote.submit()
        assert set(summaries.summaries(remote.site)) == {first, second}
    assert len(list(lock.parent.iterdir())) == 2, "the lock and the list are left"
    assert set(summaries.summaries(remote.site)) == {first, second}
