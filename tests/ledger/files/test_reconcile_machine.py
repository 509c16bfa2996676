"""Random edits of both plan files, random steps of the loop, random passes and kills: nothing of it may ever be lost.

SWARM_LONG_MACHINE=200 runs that many histories of 60 steps in the place of the few of the suite.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.domain.story import engine_batches, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import State
from swarmgate.errors import SwarmError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import Reconciliation, reconcile
from swarmgate.ledger.views.projections import Projector

_LONG = int(os.environ.get("SWARM_LONG_MACHINE", "0"))
_SEEDS = st.integers(0, 2**20)
_FILES = st.sampled_from(["plan.md", "plan.json"])


class PlanSync(RuleBasedStateMachine):
    """A project, its two plan files, and a user who edits them with markers that can be found again."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="swarm-machine-"))
        self.folder = SwarmFolder(self.root)
        self.folder.runtime.mkdir(parents=True)
        self.markers: list[str] = []
        self.old: list[tuple[str, bytes]] = []
        self.shown: list[tuple[str, bytes]] = []
        self.lost: set[str] = set()
        self.ledger: Ledger

    @initialize()
    def begin(self) -> None:
        with Ledger.write(self.folder) as ledger:
            ledger.append(started(), expect=0)
        self.ledger = Ledger.read(self.folder)

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    # --- the loop ---

    @rule(seed=_SEEDS)
    def step(self, seed: int) -> None:
        """A step of the loop, by a process that knows nothing of the watcher; it leaves edited files alone."""
        before = self._texts()
        with Ledger.write(self.folder) as ledger:
            reconcile_first = random.Random(seed).random() < 0.5  # noqa: S311 - a reproducible walk
            if reconcile_first:
                self._passed(reconcile(ledger, author="user", interrupt=_interrupt))
            batches = [batch for batch in engine_batches(ledger.state) if batch]
            if batches:
                _append(ledger, random.Random(seed).choice(batches))  # noqa: S311 - as above
        if not reconcile_first:  # it wrote over what stood there; only a pass may do so with edits
            for path, text in before.items():
                now = path.read_bytes()
                self.lost.update(m for m in self.markers if m.encode() in text and m.encode() not in now)

    @rule()
    def old_position(self) -> None:
        """An editor opens a file, to save it later."""
        for path in (self.folder.plan_md, self.folder.plan_json):
            if path.is_file():
                self.old.append((path.name, path.read_bytes()))

    # --- the user ---

    @rule(name=_FILES, seed=_SEEDS)
    def structure(self, name: str, seed: int) -> None:
        self._save(name, self._now(name), seed, _STRUCTURE)

    @rule(name=_FILES, seed=_SEEDS)
    def state_part(self, name: str, seed: int) -> None:
        self._save(name, self._now(name), seed, _STATE)

    @precondition(lambda self: self.old)
    @rule(seed=_SEEDS)
    def stale(self, seed: int) -> None:
        name, data = self.old.pop(seed % len(self.old))
        self._save(name, data, seed, _STRUCTURE)

    @precondition(lambda self: self.shown)
    @rule(seed=_SEEDS)
    def stale_title(self, seed: int) -> None:
        """An editor that opened a file some time ago changes a title: that is no edit of anybody's status."""
        name, data = self.shown[seed % len(self.shown)]
        self._save(name, data, seed, _TITLE)
        with Ledger.write(self.folder) as ledger:
            outcome = reconcile(ledger, author="user", interrupt=_interrupt)
        self._passed(outcome)
        told = " ".join(problem for each in outcome.refused if each.source == name for problem in each.problems)
        assert "ledger alone" not in told
        assert "a record and stay" not in told
        self._in_step(ledger.state)

    @rule(name=_FILES, data=st.binary(min_size=1, max_size=30), whole=st.booleans())
    def garbage(self, name: str, data: bytes, whole: bool) -> None:  # noqa: FBT001 - drawn
        marker = self._marker()
        rest = b"" if whole else self._now(name)
        self._write(name, rest + data + f"\n{marker}\n".encode(), marker)

    @rule(name=_FILES, empty=st.booleans())
    def gone(self, name: str, empty: bool) -> None:  # noqa: FBT001 - drawn
        path = self.folder.path / name
        self._given_up(path, b"")
        path.unlink(missing_ok=True)
        if empty:
            path.touch()

    @rule()
    def line_ends(self) -> None:
        text = self._now("plan.md").replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        self.folder.plan_md.write_bytes(text if text.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + text)

    # --- the passes ---

    @rule()
    def watcher_passes(self) -> None:
        """A pass of a process that lives long and shares the ledger with others."""
        with self.ledger.writing() as ledger:
            self._passed(reconcile(ledger, author="user", interrupt=_interrupt))
        self._in_step(self.ledger.state)

    @rule()
    def command_passes(self) -> None:
        with Ledger.write(self.folder) as ledger:
            self._passed(reconcile(ledger, author="user"))
        self._in_step(ledger.state)

    @rule(torn=st.booleans())
    def killed(self, torn: bool) -> None:  # noqa: FBT001 - drawn
        """The watcher dies; a line may be left half-written."""
        if torn:
            with self.folder.ledger.open("ab") as file:
                file.write(b'{"seq":')
        self.ledger = Ledger.read(self.folder)

    @invariant()
    def the_ledger_verifies(self) -> None:
        if hasattr(self, "ledger"):
            assert Ledger.read(self.folder).state.plan is not None
            assert list(self.ledger.refresh()) is not None

    # --- inside ---

    def _in_step(self, state: State) -> None:
        texts = Projector(self.folder).plan_texts(state)
        assert (self.folder.plan_md.read_text(), self.folder.plan_json.read_text()) == texts
        self.shown = [*self.shown[-6:], ("plan.md", texts[0].encode()), ("plan.json", texts[1].encode())]
        kept = b"".join(path.read_bytes() for path in self.folder.quarantine.rglob("*") if path.is_file())
        taken = "".join(
            entry.event.model_dump_json()
            for entry, _ in Ledger.read(self.folder).entries()
            if isinstance(entry.event, ev.PlanAmended)
        )
        missing = [m for m in self.markers if m not in self.lost and m.encode() not in kept and m not in taken]
        assert missing == []

    @staticmethod
    def _passed(outcome: Reconciliation) -> None:
        assert len(outcome.refused) + len(outcome.amended) <= 2
        assert not {refused.source for refused in outcome.refused} & set(outcome.amended)

    def _now(self, name: str) -> bytes:
        path = self.folder.path / name
        if path.is_file() and path.stat().st_size:
            return path.read_bytes()
        texts = Projector(self.folder).plan_texts(Ledger.read(self.folder).state)
        return texts[name == "plan.json"].encode()

    def _texts(self) -> dict[Path, bytes]:
        files = (self.folder.plan_md, self.folder.plan_json)
        return {path: path.read_bytes() for path in files if path.is_file()}

    def _marker(self) -> str:
        self.markers.append(f"mark{len(self.markers)}x")
        return self.markers[-1]

    def _save(self, name: str, data: bytes, seed: int, changes: dict[str, list[Callable[..., Any]]]) -> None:
        marker, walk = self._marker(), random.Random(seed)  # noqa: S311 - reproducible
        change = walk.choice(changes[name])
        try:
            text = change(data.decode("utf-8"), marker, walk)
        except (ValueError, LookupError, TypeError):  # there is garbage in it already
            text = data.decode("utf-8", "replace") + f"\n{marker}"
        self._write(name, text.encode(), marker)

    def _write(self, name: str, data: bytes, marker: str) -> None:
        path = self.folder.path / name
        self._given_up(path, data)
        path.write_bytes(data)
        if marker.encode() not in data:
            self.lost.add(marker)

    def _given_up(self, path: Path, data: bytes) -> None:
        """The user writes over what stood there: markers of which nothing else has heard are the user's own loss."""
        before = path.read_bytes() if path.is_file() else b""
        self.lost.update(m for m in self.markers if m.encode() in before and m.encode() not in data)


def _interrupt(state: State) -> list[ev.Event]:
    running = state.task(state.open).running
    assert running is not None
    return [ev.AttemptInterrupted(task=state.open, attempt=running.number, reason="changed by hand")]


def _append(ledger: Ledger, batch: list[ev.Event]) -> None:
    try:
        ledger.append(batch, expect=ledger.state.seq)
    except SwarmError:
        assert ledger.state.plan is not None


def _lines(change: Callable[[list[str], int, str], None], begin: str) -> Callable[[str, str, random.Random], str]:
    """A change of one of the lines of plan.md that begin so."""

    def changed(text: str, marker: str, walk: random.Random) -> str:
        lines = text.split("\n")
        at = walk.choice([n for n, line in enumerate(lines) if line.startswith(begin)] or [0])
        change(lines, at, marker)
        return "\n".join(lines)

    return changed


def _tasks(change: Callable[[list[dict[str, Any]], int, str], object]) -> Callable[[str, str, random.Random], str]:
    """A change of a task of plan.json."""

    def changed(text: str, marker: str, walk: random.Random) -> str:
        data = json.loads(text.removeprefix("\ufeff"))
        tasks = walk.choice(data["phases"])["tasks"]
        change(tasks, walk.randrange(len(tasks)) if tasks else 0, marker)
        return json.dumps(data)

    return changed


def _retitled(lines: list[str], at: int, marker: str) -> None:
    head, _, rest = lines[at].partition(": ")
    lines[at] = f"{head}: {marker} {rest}"


def _added(lines: list[str], at: int, marker: str) -> None:
    phase = next((line.split()[2][:-1] for line in reversed(lines[: at + 1]) if line.startswith("## Phase")), "1")
    new = [f"- [ ] Task {phase}.{len(marker) + len(lines)}: {marker}", "  - Accept: a", f"  - File: {marker}.py"]
    lines[at:at] = new


def _swapped(tasks: list[dict[str, Any]], at: int, marker: str) -> None:
    tasks[at]["description"] = marker
    tasks.reverse()


_STRUCTURE: dict[str, list[Callable[..., Any]]] = {
    "plan.md": [
        _lines(_retitled, "- ["),
        _lines(_retitled, "## Phase"),
        _lines(lambda lines, at, marker: lines.insert(at + 1, f"  - Description: {marker}"), "- ["),
        _lines(lambda lines, at, marker: lines.insert(at + 1, f"  - Accept: {marker}"), "- ["),
        _lines(lambda lines, at, marker: lines.insert(at + 1, f"  - File: {marker}.py"), "- ["),
        _lines(_added, "- ["),
        _lines(lambda lines, at, _: lines.__delitem__(slice(at, at + 3)), "- ["),
    ],
    "plan.json": [
        _tasks(lambda tasks, at, marker: tasks[at].update(title=marker)),
        _tasks(lambda tasks, at, marker: tasks[at].update(acceptance=[marker])),
        _tasks(lambda tasks, at, marker: tasks.append({**tasks[at], "id": tasks[at]["id"] + "7", "title": marker})),
        _tasks(_swapped),
        _tasks(lambda tasks, at, _: tasks.pop(at)),
    ],
}
_TITLE: dict[str, list[Callable[..., Any]]] = {name: changes[:1] for name, changes in _STRUCTURE.items()}
_STATE: dict[str, list[Callable[..., Any]]] = {
    "plan.md": [
        _lines(lambda lines, at, marker: lines.insert(at + 1, f"  - Note: {marker}"), "- ["),
        _lines(lambda lines, at, marker: lines.insert(at + 1, f"  - Attempt 7: REJECTED (x) - {marker}"), "- ["),
    ],
    "plan.json": [
        _tasks(lambda tasks, at, marker: tasks[at].update(note=marker)),
        _tasks(lambda tasks, at, marker: tasks[at].update(status="complete", title=marker)),
    ],
}

PlanSync.TestCase.settings = settings(
    max_examples=_LONG or 12,
    stateful_step_count=60 if _LONG else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestPlanSync = PlanSync.TestCase
