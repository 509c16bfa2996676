"""What became of a council, in the words of the reference: a pure translation of its record.

Scores are 0 to 1, durations whole milliseconds, times ISO 8601 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from swarmgate.council.critique.model import Criterion as OurCriterion
from swarmgate.council.critique.model import CritiqueRecord, Evaluation, Iteration
from swarmgate.council.critique.scoring import missed, version_of
from swarmgate.council.decision.model import Contribution, DecisionRecord, DecisionRound
from swarmgate.council.orchestration.results import OrchestrationRecord, StepResult
from swarmgate.council.records.lifecycle import Standing
from swarmgate.server.reference.bodies import CritiqueBody, DiscussionBody, OrchestrationBody
from swarmgate.server.reference.names import recorded
from swarmgate.server.reference.requests import cast_of, mapping_tasks, seat_names, selected

Status = Literal["pending", "running", "completed", "failed", "cancelled"]

TIMED_OUT = "timed out"
"""Stands in the error of what its time ended."""


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def status_of(ours: str) -> Status:
    """The reference's word for how a council stands.

    Args:
        ours: as `CouncilSummary.status` has it.
    """
    words: dict[str, Status] = {
        "queued": "pending",
        "prepared": "pending",
        "working": "running",
        "complete": "completed",
        "open": "cancelled",
        "paused": "completed",  # its time was up: what it came to is the result, as in the reference
    }
    return words.get(ours, "failed")


def waiting(id: str, pattern: str, ours: str, *, began: str, why: str = "") -> dict[str, Any]:  # noqa: A002 - the field's name
    """What is known of a council of which nothing is on record yet."""
    found = {"id": id, "status": status_of(ours), "pattern": pattern, "taskResults": [], "durationMs": 0}
    return {**found, "startedAt": began, **({"error": why} if why else {})}


def critique(body: CritiqueBody, record: CritiqueRecord, standing: Standing[Any], ours: str) -> dict[str, Any]:
    """A self-critique: its iterations, and the best output.

    Args:
        body: the request as it came.
        record: of ours.
        standing: of the record.
        ours: as of `status_of`.
    """
    given = [each.name for each in body.config.quality_criteria]
    names = dict(zip(recorded(given, otherwise="criterion"), given, strict=True))
    judged = [iteration(each, record, names) for each in record.iterations if each.evaluation]
    outcome = record.outcome
    last = judged[-1]["critique"]["overallScore"] if judged else 0.0
    converged = bool(outcome and outcome.passed)
    results = [
        _task(body.work.id, each.version, each.failed, each.seconds) for each in record.iterations if each.version
    ]
    return {
        **_common(standing, "self-critique", ours),
        "taskResults": results,
        "iterations": judged,
        "totalIterations": len(judged),
        "originalOutput": judged[0]["output"] if judged else None,
        "finalOutput": outcome.version if outcome else None,
        "finalScore": outcome.mean if outcome else last,
        "converged": converged,
        **_error(standing, ours, _why_not(record) if outcome and not converged else ""),
    }


def iteration(each: Iteration, record: CritiqueRecord, names: Mapping[str, str]) -> dict[str, Any]:
    """One judged iteration.

    Args:
        each: of ours.
        record: that it is of.
        names: the criteria's names as the request has them, by those on record.
    """
    found = each.evaluation
    return {
        "iteration": each.number,
        "output": version_of(record.iterations, each.number),
        "critique": evaluation(found, record.critique.criteria, names) if found else None,
        "durationMs": _ms(each.seconds),
        "timestamp": _ended(each.started_at, each.seconds),
    }


def evaluation(found: Evaluation, criteria: Sequence[OurCriterion], names: Mapping[str, str]) -> dict[str, Any]:
    """How a version was judged; `meetsThreshold`: every criterion is met."""
    reasons = [f"{names.get(each.criterion, each.criterion)}: {each.reason}" for each in found.scores if each.reason]
    return {
        "overallScore": found.mean,
        "criteriaScores": {names.get(each.criterion, each.criterion): each.score for each in found.scores},
        "feedback": "\n".join([*reasons, *(f"- {each}" for each in found.suggestions)]),
        "meetsThreshold": not missed(criteria, found),
    }


def discussion(body: DiscussionBody, record: DecisionRecord, standing: Standing[Any], ours: str) -> dict[str, Any]:
    """A discussion: its rounds, and the consensus if there is one.

    Args:
        body: the request as it came.
        record: of ours.
        standing: of the record.
        ours: as of `status_of`.
    """
    who = Cast(body)
    outcome = record.outcome
    consensus = bool(outcome and outcome.consensus)
    return {
        **_common(standing, "discussion", ours),
        "taskResults": [],
        "topic": body.topic,
        "rounds": [one_round(each, who) for each in record.rounds],
        "totalRounds": len(record.rounds),
        "finalConsensus": (outcome.decided or outcome.proposed) if outcome else "",
        "consensusScore": outcome.score if outcome else 0.0,
        "converged": consensus,
        "participantSummaries": _summaries(record.rounds, who),
        **_error(standing, ours, _no_consensus(record) if outcome and not consensus else ""),
    }


class Cast:
    """Who is who in a discussion, by the names on record.

    Args:
        body: the request as it came.
    """

    def __init__(self, body: DiscussionBody) -> None:
        cast = cast_of(body)
        self._known = dict(zip(seat_names(cast), cast, strict=True))

    def id(self, name: str) -> str:
        """The participant's id as the request has it; where it gives none, as the record has it."""
        return (self._known[name].id if name in self._known else "") or name

    def role(self, name: str) -> str:
        """The participant's role as the request has it."""
        return self._known[name].role if name in self._known else ""

    def __len__(self) -> int:
        return len(self._known)


def one_round(held: DecisionRound, who: Cast) -> dict[str, Any]:
    """One whole round."""
    ended = _ended(held.started_at, held.seconds)
    return {
        "round": held.number,
        "contributions": [contribution(each, who, ended) for each in held.contributions if not each.excluded],
        "synthesis": held.synthesis.text if held.synthesis else "",
        "consensusScore": held.count.score,
        "durationMs": _ms(held.seconds),
        "timestamp": ended,
    }


def contribution(each: Contribution, who: Cast, at: str) -> dict[str, Any]:
    """What one participant said in a round, and when that was on record."""
    agreed = {} if each.agreement is None else {"agreementScore": each.agreement}
    known = {"participantId": who.id(each.participant), "role": who.role(each.participant)}
    return {**known, "content": each.text, **agreed, "timestamp": at}


def orchestration(
    pattern: str, body: OrchestrationBody, record: OrchestrationRecord, standing: Standing[Any], ours: str
) -> dict[str, Any]:
    """Tasks that were combined, each with its result.

    Args:
        pattern: sequential, parallel, conditional or map-reduce.
        body: the request as it came.
        record: of ours.
        standing: of the record.
        ours: as of `status_of`.
    """
    steps = [*record.steps, *([record.partial] if record.partial else [])]
    failed = next((each.why for step in steps for each in step.failures), "")
    status = "failed" if failed and status_of(ours) == "completed" else status_of(ours)
    found = {**_common(standing, pattern, ours), "status": status, "taskResults": _task_results(pattern, body, steps)}
    if pattern == "map-reduce" and status == "completed" and steps:
        reduced = next((each.text for each in steps[0].parts if not each.part), None)
        mapped = [each.text for each in steps[0].parts if each.part]
        found["aggregatedResult"] = mapped if mapping_tasks(body)[1] is None else reduced or steps[0].text
    return {**found, **({"error": failed} if failed else _error(standing, ours, ""))}


def task_name(pattern: str, body: OrchestrationBody, result: StepResult) -> str:
    """What the request calls the task that a result is of; of an item of a map with its number, from 0."""
    if pattern == "map-reduce":
        task, reduce = mapping_tasks(body)
        if result.part and task:
            return f"{task.id}_{result.part - 1}"
        return reduce.id if reduce else result.id
    if pattern == "conditional":
        chosen = selected(body)
        return result.id if chosen is None else body.tasks[chosen].id
    at = int(result.id.removeprefix("t")) if result.id.removeprefix("t").isdigit() else 0
    return body.tasks[at - 1].id if 0 < at <= len(body.tasks) else result.id


def nothing_selected(id: str, at: str) -> dict[str, Any]:  # noqa: A002 - the field's name
    """A conditional of which no task is done: it is over at once, and nothing of it is kept."""
    found = {"id": id, "status": "completed", "pattern": "conditional", "taskResults": [], "durationMs": 0}
    return {**found, "startedAt": at, "completedAt": at}


# --- inside ---


def _common(standing: Standing[Any], pattern: str, ours: str) -> dict[str, Any]:
    over = status_of(ours) in {"completed", "failed", "cancelled"}
    return {
        "id": standing.id,
        "status": status_of(ours),
        "pattern": pattern,
        "durationMs": _ms(standing.seconds),
        "startedAt": standing.created_at,
        **({"completedAt": standing.newest_at} if over else {}),
    }


def _error(standing: Standing[Any], ours: str, why: str) -> dict[str, str]:
    if status_of(ours) == "cancelled":
        return {"error": why or standing.why or "stopped before its end"}
    told = why or (standing.why if status_of(ours) == "failed" else "")
    return {"error": told} if told else {}


def _why_not(record: CritiqueRecord) -> str:
    most, outcome = record.critique.iterations, record.outcome
    if outcome and outcome.ended_by == "timeout":
        return f"Self-critique {TIMED_OUT} before meeting quality thresholds"
    if outcome and outcome.ended_by == "iterations":
        return f"Self-critique reached maximum iterations ({most}) without meeting quality thresholds"
    return "Self-critique did not converge"


def _no_consensus(record: DecisionRecord) -> str:
    outcome = record.outcome
    if outcome and outcome.ended_by == "timeout":
        return f"Discussion {TIMED_OUT} before a consensus"
    return f"No consensus: {outcome.count.why}" if outcome and outcome.count else "No consensus"


def _ended(started_at: str, seconds: float) -> str:
    """When something was over that began at a time, in ISO 8601."""
    if not started_at:
        return ""
    at = datetime.fromisoformat(started_at) + timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds")


def _summaries(rounds: Sequence[DecisionRound], who: Cast) -> dict[str, dict[str, Any]]:
    said: dict[str, list[float]] = {}
    for held in rounds:
        for each in held.contributions:
            if not each.excluded:
                said.setdefault(who.id(each.participant), []).append(each.agreement or 0.0)
    return {
        name: {"contributions": len(levels), "agreementRate": round(sum(levels) / len(levels), 4)}
        for name, levels in said.items()
    }


def _task(name: str, text: str, failed: str, seconds: float) -> dict[str, Any]:
    came = {"error": failed} if failed else {"result": text}
    return {"taskId": name, "success": not failed, **came, "durationMs": _ms(seconds)}


def _task_results(pattern: str, body: OrchestrationBody, steps: Sequence[StepResult]) -> list[dict[str, Any]]:
    """A result for each task that was begun, under the id that the request gives it."""
    leaves = [each for step in steps for each in (step.parts or (step,))]
    begun = [each for each in leaves if each.status in {"done", "failed"}]
    return [
        _task(task_name(pattern, body, each), each.text, each.why if each.status == "failed" else "", each.seconds)
        for each in begun
    ]
