"""Tests that new events in the files of `.swarm/` reach the bus."""

from __future__ import annotations

import threading

from tests.domain.story import planned, play

from swarmgate.automation.bus.event_bus import EventBus
from swarmgate.automation.bus.worker import BusEvent
from swarmgate.domain.events.automation import TriggerFired
from swarmgate.domain.state.state import State
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

FIRED = TriggerFired(capability="hooks", subject="x")


class Listener:
    name = "listener"

    def __init__(self) -> None:
        self.got: list[BusEvent] = []

    def handle(self, seen: BusEvent) -> None:
        self.got.append(seen)

    def wants(self, seen: BusEvent) -> bool:
        del seen
        return True

    @property
    def places(self) -> list[tuple[str, int]]:
        return [(each.happening.source, each.happening.seq) for each in self.got]


def record(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as ledger:
        ledger.append(planned(), expect=ledger.state.seq)


def test_events_of_both_files_arrive_with_the_states_around_them(folder: SwarmFolder) -> None:
    bus, listener = EventBus(folder), Listener()
    bus.subscribe(listener)
    assert bus.pump() == 0
    record(folder)
    AutomationLog(folder).append(FIRED, actor="hooks")
    assert bus.pump() == 4
    assert bus.pump() == 0
    assert bus.close(5)
    assert listener.places == [("ledger", 1), ("ledger", 2), ("ledger", 3), ("automation", 1)]
    assert listener.got[1].before.plan is None
    assert listener.got[1].after.plan == listener.got[3].before.plan == play(State(), *planned()).plan
    assert bus.state.seq == 3


def test_it_can_begin_at_the_start(folder: SwarmFolder) -> None:
    record(folder)
    assert EventBus(folder).pump() == 0
    assert EventBus(folder, from_start=True).pump() == 3


def test_a_ledger_in_trouble_is_told_once(folder: SwarmFolder) -> None:
    record(folder)
    bus = EventBus(folder)
    whole = folder.ledger.read_bytes()
    folder.ledger.write_bytes(whole[100:])
    for _ in range(5):
        bus.pump()
    [told] = AutomationLog(folder).read()
    assert (told.data["worker"], told.actor) == ("events", "events")
    assert "ledger.jsonl line 1" in told.data["error"]
    folder.ledger.write_bytes(whole)
    assert bus.pump() == 0
    assert bus.state.seq == 3


def test_threads_may_pump_at_once(folder: SwarmFolder) -> None:
    bus, listener = EventBus(folder), Listener()
    bus.subscribe(listener)
    journal = AutomationLog(folder)

    def work() -> None:
        for _ in range(50):
            journal.append(FIRED, actor="hooks")
            bus.pump()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bus.pump()
    assert bus.close(10)
    assert listener.places == [("automation", number) for number in range(1, 201)]
