"""What is told of a council while it goes on, in the event names of the reference: a pure reading of its record.

The events of a record are a list that only grows at its end, so whoever was told the first of them is told the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from swarmgate.council.critique.rules import RULES as CRITIQUE
from swarmgate.council.decision.model import Spoke
from swarmgate.council.orchestration.state import Ended
from swarmgate.council.records.lifecycle import Resumed, Standing
from swarmgate.council.records.record import Record
from swarmgate.domain.base import Entry
from swarmgate.server.reference import results
from swarmgate.server.reference.bodies import CritiqueBody, DiscussionBody, OrchestrationBody
from swarmgate.server.reference.names import recorded

Step = tuple[Entry[Any], Standing[Any] | None, Standing[Any]]


class Happened(NamedTuple):
    """An event: its name, and its payload, JSON-ready."""

    event: str
    payload: dict[str, Any]


def of_critique(body: CritiqueBody, record: Record[Any, Any, Any]) -> Iterator[Happened]:
    """Each judged iteration."""
    given = [each.name for each in body.config.quality_criteria]
    names = dict(zip(recorded(given, otherwise="criterion"), given, strict=True))
    for entry, before, after in record.steps():
        if before is None or len(after.own.done) <= len(before.own.done) or after.own.done[-1].evaluation is None:
            continue
        critique = results.iteration(after.own.done[-1], CRITIQUE.record(after), names)["critique"]
        yield Happened(
            "agent:critique:iteration",
            {
                "executionId": after.id,
                "iteration": after.own.done[-1].number,
                "scores": {"overall": critique["overallScore"], "criteria": critique["criteriaScores"]},
                "feedback": critique["feedback"],
                "meetsThreshold": critique["meetsThreshold"],
                "timestamp": entry.time,
            },
        )


def of_discussion(body: DiscussionBody, record: Record[Any, Any, Any]) -> Iterator[Happened]:
    """Each round: that it begins, what everybody says, and what comes of it."""
    who, begun = results.Cast(body), 0
    for entry, before, after in record.steps():
        common = {"executionId": after.id, "timestamp": entry.time}
        whole = len(after.own.rounds)
        event = entry.event
        if isinstance(event, Spoke) and not event.excluded:
            said = results.contribution(event, who, entry.time)
            yield Happened("agent:discussion:contribution", {**common, "round": event.round, **said})
        if before is not None and whole > len(before.own.rounds):
            held = results.one_round(after.own.rounds[-1], who)
            kept = {key: held[key] for key in ("round", "synthesis", "consensusScore")}
            yield Happened("agent:discussion:round-completed", {**common, **kept})
        if (isinstance(event, Resumed) or begun) and begun == whole and record.pattern.next(after.own):
            begun = whole + 1
            payload = {**common, "round": begun, "participantCount": len(who)}
            yield Happened("agent:discussion:round-started", payload)


def of_orchestration(pattern: str, body: OrchestrationBody, record: Record[Any, Any, Any]) -> Iterator[Happened]:
    """That it begins, and each task that is done or failed; a task is called as the request calls it."""
    many, done, begun = len(body.tasks), 0, False
    for entry, _, after in record.steps():
        common = {"executionId": after.id, "timestamp": entry.time}
        if isinstance(entry.event, Resumed) and not begun:
            begun = True
            yield Happened("agent:workflow:started", {**common, "workflowId": pattern, "totalSteps": many})
        if isinstance(entry.event, Ended):
            result = entry.event.result
            name = results.task_name(pattern, body, result)
            if result.status == "done":
                done += 1
                payload = {**common, "stepId": name, "result": result.text, "durationMs": round(result.seconds * 1000)}
                yield Happened("agent:workflow:step:completed", payload)
            elif result.status == "failed":
                goes_on = pattern in {"parallel", "map-reduce"}
                payload = {**common, "stepId": name, "error": result.why, "willContinue": goes_on}
                yield Happened("agent:workflow:step:failed", payload)


def end_of(kind: str, result: Mapping[str, Any], at: str) -> Iterator[Happened]:
    """How it ended: what it converged on, its result, and the error if there is one.

    Args:
        kind: `critique`, `discussion` or `workflow`, as in the names of the events.
        result: of the council, as `results` has it.
        at: when that was known.
    """
    id, failed = result["id"], result["status"] in {"failed", "cancelled"}  # noqa: A001 - the field's name
    common = {"executionId": id, "timestamp": at}
    if kind == "workflow":
        yield from _end_of_workflow(result, common)
        return
    if result.get("converged"):
        score = (
            {"finalScore": result["finalScore"]} if kind == "critique" else {"consensusScore": result["consensusScore"]}
        )
        many = ("iterations", result["totalIterations"]) if kind == "critique" else ("rounds", result["totalRounds"])
        yield Happened(f"agent:{kind}:converged", {**common, many[0]: many[1], **score})
    yield Happened(f"agent:{kind}:completed", {**common, "result": dict(result)})
    if failed:
        why = result.get("error") or "it did not come to its end"
        code = "SELF_CRITIQUE_FAILED" if kind == "critique" else "DISCUSSION_FAILED"
        yield Happened(f"agent:{kind}:error", {**common, "error": why})
        yield Happened("agent:error", {**common, "code": code, "message": why})


def _end_of_workflow(result: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[Happened]:
    tasks = result["taskResults"]
    done = [each for each in tasks if each["success"]]
    if result["status"] == "completed":
        steps = {
            each["taskId"]: {
                "stepId": each["taskId"],
                "status": "completed",
                "result": each.get("result"),
                "retryCount": 0,
            }
            for each in done
        }
        found = {"results": {each["taskId"]: each.get("result") for each in done}, "stepResults": steps}
        yield Happened("agent:workflow:completed", {**common, **found, "durationMs": result["durationMs"]})
    elif result["status"] == "cancelled":
        yield Happened("agent:workflow:cancelled", {**common, "completedSteps": len(done)})
    else:
        failed = next((each["taskId"] for each in tasks if not each["success"]), "")
        payload = {"error": result.get("error", ""), "completedSteps": len(done), "totalSteps": len(tasks)}
        yield Happened("agent:workflow:failed", {**common, **payload, **({"failedStepId": failed} if failed else {})})
