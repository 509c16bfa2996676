"""Adds guard notes, ended turns and guidance to the state; none of them changes a task's status."""

from __future__ import annotations

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect
from swarmgate.domain.state.state import Guidance, State, replace

SELF_CODING = "self-coding"
"""The rule that the architect writes no project files outside of an escalated attempt."""


def guard_acted(state: State, event: ev.GuardActed, _: ev.Entry) -> State:
    note = event.note
    if note.rule == SELF_CODING and note.effect is not Effect.NOTED:
        state = replace(state, self_coding=state.self_coding + note.count)
    if not event.task:
        return replace(state, guards=(*state.guards, note))
    record = state.task(event.task)
    return replace(state, tasks=state.tasks.set(event.task, replace(record, guards=(*record.guards, note))))


def turn_ended(state: State, event: ev.TurnEnded, _: ev.Entry) -> State:
    if not event.task:
        return replace(state, turns=(*state.turns, event.turn))
    record = state.task(event.task)
    return replace(state, tasks=state.tasks.set(event.task, replace(record, turns=(*record.turns, event.turn))))


def guidance_given(state: State, event: ev.GuidanceGiven, entry: ev.Entry) -> State:
    given = Guidance(event.domain, event.question, event.answer, event.phase, event.task, entry.time)
    return replace(state, guidance=(*state.guidance, given))


def phase_estimated(state: State, event: ev.PhaseEstimated, _: ev.Entry) -> State:
    return replace(state, estimates=state.estimates.set(event.phase, event))
