"""Says what needs somebody in all repositories, as the notices tell it."""

from __future__ import annotations

from datetime import UTC, datetime

from swarmgate.server.accounts.model import EVERY_REPOSITORY, Account, Principal, Role
from swarmgate.server.notices.model import Notice
from swarmgate.server.services.decisions.needs import Needs
from swarmgate.server.services.views.decision import NeedView

_MOST = 1000
_SERVER = Principal(
    account=Account(
        id="server", name="server", roles={EVERY_REPOSITORY: Role.ADMIN}, created=datetime(2020, 1, 1, tzinfo=UTC)
    ),
    via="token",
)
"""The server itself, which looks at all that waits and decides nothing."""


async def waiting(needs: Needs) -> tuple[Notice, ...]:
    """What needs somebody now, the most urgent first."""
    found = await needs.list(_SERVER, limit=_MOST)
    return tuple(map(_notice, found.items))


def _notice(need: NeedView) -> Notice:
    return Notice(
        id=need.id,
        kind=need.kind,
        repo=need.repo,
        goal=need.goal,
        title=need.title,
        text=need.text,
        path=f"/approvals/{need.id}" if need.kind == "approval" else f"/#{need.id}",
        since=need.since,
    )
