"""Renders an orchestration: its outcome and the result of every step."""

from __future__ import annotations

from swarmgate.council.orchestration.results import OrchestrationOutcome, OrchestrationRecord, StepResult
from swarmgate.council.views.formatting import cost

_ITEM = 60
"""Characters of an item."""


def ended(outcome: OrchestrationOutcome) -> list[str]:
    """How one ended, as the command that held it prints it."""
    lines = [f"Orchestration {outcome.id}{f': {outcome.title}' if outcome.title else ''}"]
    for step in outcome.steps:
        lines += _step(step)
    last = next((step for step in reversed(outcome.steps) if step.status == "done" and step.text), None)
    lines += ["", last.text] if last and not outcome.failed else []
    lines += ["", f"{len(outcome.steps)} steps ({_spent(outcome)}); all of it: swarm orchestrate show {outcome.id}"]
    if outcome.failed:
        why = next((step.why for step in outcome.steps if step.id == outcome.failed), "")
        lines += [f"It stopped at the step {outcome.failed}. {_next_action(outcome.id, why)}"]
    return lines


def lines(record: OrchestrationRecord) -> list[str]:
    """One step by step, as far as it is."""
    asked = record.orchestration
    title = f": {asked.title}" if asked.title else ""
    lines = [f"Orchestration {asked.id}{title}, {record.status}, {len(record.steps)}/{len(asked.steps)} steps"]
    for step in (*record.steps, *((record.partial,) if record.partial else ())):
        lines += ["", *_step(step, texts=True)]
    left = asked.steps[len(record.steps) + bool(record.partial) :]
    lines += ["", f"Still to do: {', '.join(step.id for step in left)}"] if left else []
    if record.status != "complete":
        why = record.partial.why if record.partial and record.status == "failed" else ""
        lines += ["", *([record.why] if record.why else []), _next_action(asked.id, why)]
    return lines


def _next_action(name: str, why: str) -> str:
    """How it goes on after a step that failed, and `why`; a bound that a step has of its own stands in the file."""
    if f"-{name}." in why and "budget" in why:
        return "A bound of that step is used up: change it in the file, and begin anew with: swarm orchestrate FILE"
    return f"Go on with: swarm orchestrate resume {name}"


def _step(step: StepResult, depth: int = 0, *, texts: bool = False) -> list[str]:
    """A line for a step and each of its parts; `texts`: with what they gave."""
    indent = "  " * depth
    fields = ", ".join(f"{name} {_value(value)}" for name, value in step.fields.items() if value != "")
    cost = f" ({_spent(step)})" if step.usage.calls else ""
    item = f" {_short(step.item)!r}" if step.item else ""
    line = f"{indent}[{step.status}] {step.label}, {step.kind}{item}{f': {fields}' if fields else ''}{cost}"
    failed = any(part.status == "failed" for part in step.parts)  # each says why in its own line
    why = "" if failed and not step.fields else step.why.partition(":")[0] if failed else step.why
    lines = [line, *([f"{indent}  {why}"] if why else [])]
    if texts and step.record and step.status == "done":
        lines += [f"{indent}  record {step.record}", *(f"{indent}  | {each}" for each in step.text.splitlines())]
    for part in step.parts:
        lines += _step(part, depth + 1, texts=texts)
    return lines


def _value(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _short(item: str) -> str:
    line = " ".join(item.split())
    return line if len(line) <= _ITEM else f"{line[: _ITEM - 3]}..."


def _spent(of: StepResult | OrchestrationOutcome) -> str:
    return cost(of.usage, of.seconds)
