"""Metrics in the words of the reference, counted over the councils that were begun in its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

from swarmgate.domain.metrics import Execution
from swarmgate.server.reference.bodies import PatternName
from swarmgate.server.reference.results import Status, status_of

_RECENT = 10
_STRATEGIES = ("unanimous", "majority", "weighted", "facilitator")


class Counted(NamedTuple):
    """One council: its request, how it stands, and what is on record of it."""

    id: str
    pattern: PatternName
    body: dict[str, Any]
    status: str
    began: str
    execution: Execution | None

    @property
    def word(self) -> Status:
        """The reference's word for how it stands."""
        return status_of(self.status)


def orchestrations(all: Sequence[Counted]) -> dict[str, Any]:  # noqa: A002 - what is counted
    """How many of each pattern and status, how long they took, and the newest ones."""
    done = [each for each in all if each.word == "completed"]
    return {
        "total": len(all),
        "byPattern": {name: sum(each.pattern == name for each in all) for name in get_args(PatternName)},
        "byStatus": {name: sum(each.word == name for each in all) for name in get_args(Status)},
        "avgDurationMs": _ms(all),
        "successRate": len(done) / len(all) if all else 0,
        "recentMetrics": [
            {
                "id": each.id,
                "pattern": each.pattern,
                "status": each.word,
                "durationMs": _ms([each]),
                "taskCount": len(each.body.get("tasks", ())) or 1,
                "timestamp": each.began,
            }
            for each in sorted(all, key=lambda each: each.began, reverse=True)[:_RECENT]
        ],
    }


def critiques(all: Sequence[Counted]) -> dict[str, Any]:  # noqa: A002 - what is counted
    """Self-critiques, in both of the forms that the reference documents."""
    mine = [each for each in all if each.pattern == "self-critique"]
    agents = sorted({_agent(each.body) for each in mine})
    return {
        "totalExecutions": len(mine),
        **_totals(mine, "Critiques"),
        "avgIterations": _mean(each.rounds for each in _executions(mine)),
        "avgFinalScore": _mean(each.score for each in _executions(mine)),
        "avgQualityImprovement": _mean(each.improvement for each in _executions(mine)),
        "convergenceRate": _mean(each.converged for each in _executions(mine)),
        "avgDurationMs": _ms(mine),
        "byAgent": {
            agent: {
                "total": len(own := [each for each in mine if _agent(each.body) == agent]),
                "avgScore": _mean(each.score for each in _executions(own)),
                "convergenceRate": _mean(each.converged for each in _executions(own)),
            }
            for agent in agents
        },
    }


def discussions(all: Sequence[Counted]) -> dict[str, Any]:  # noqa: A002 - what is counted
    """Discussions, in both of the forms that the reference documents."""
    mine = [each for each in all if each.pattern == "discussion"]
    return {
        "totalExecutions": len(mine),
        **_totals(mine, "Discussions"),
        "avgRounds": _mean(each.rounds for each in _executions(mine)),
        "avgParticipants": _mean(_seats(each.body) for each in mine),
        "avgConsensusScore": _mean(each.score for each in _executions(mine)),
        "convergenceRate": _mean(each.converged for each in _executions(mine)),
        "avgDurationMs": _ms(mine),
        "byStrategy": {
            name: {
                "total": len(own := [each for each in mine if _strategy(each.body) == name]),
                "convergenceRate": _mean(each.converged for each in _executions(own)),
            }
            for name in _STRATEGIES
        },
    }


# --- inside ---


def _totals(mine: Sequence[Counted], what: str) -> dict[str, int]:
    words = [each.word for each in mine]
    return {
        f"total{what}": len(mine),
        f"completed{what}": words.count("completed"),
        f"failed{what}": words.count("failed"),
    }


def _executions(mine: Iterable[Counted]) -> list[Execution]:
    return [each.execution for each in mine if each.execution]


def _ms(mine: Sequence[Counted]) -> int:
    return round(_mean(each.seconds for each in _executions(mine)) * 1000)


def _mean(values: Iterable[float | None]) -> float:
    known = [float(each) for each in values if each is not None]
    return round(sum(known) / len(known), 4) if known else 0


def _agent(body: dict[str, Any]) -> str:
    return str((body.get("task") or body).get("agentId") or "claude")


def _seats(body: dict[str, Any]) -> int:
    return len(body.get("participants") or body.get("config", {}).get("participants") or ())


def _strategy(body: dict[str, Any]) -> str:
    return str(body.get("config", {}).get("consensusStrategy", "majority"))
