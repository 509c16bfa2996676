"""References of a remote that several machines write."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from swarmgate.errors import RemoteAway
from swarmgate.workspace.git.hosting import shared_refs
from swarmgate.workspace.git.hosting.shared_refs import Move


@pytest.mark.slow
def test_a_remote_that_never_answers_counts_as_away(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_refs, "ANSWER_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(RemoteAway, match="longer than"):
            shared_refs.listed(repo, address, ["refs/heads/*"])
        assert "longer than" in shared_refs.push_together(repo, address, [Move("refs/heads/x", "", "HEAD")])
