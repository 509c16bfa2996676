"""A run in this process whose plan files are edited in its course."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future

import pytest
from tests.confined import SANDBOX
from tests.project import Project, call, until

from swarmgate.domain.progress import Progress
from swarmgate.engine import Swarm
from swarmgate.engine.reports.outcome import RunOutcome

MARKS = [
    pytest.mark.suite("unittest"),
    pytest.mark.skipif(SANDBOX == "none", reason="without a sandbox edits wait for the next command"),
]

HANGS = {"fault": {"kind": "hang"}}
HALF = [call("write_file", path="src/calc/part_1.1.py", content="half\n")]
QUICK = {"debounce_s": 0.1}


class Run:
    """A run in a thread of this process, while somebody edits files."""

    def __init__(self, project: Project) -> None:
        self.told: list[Progress] = []
        self.on_told: Callable[[Progress], None] = lambda _: None
        self.swarm = Swarm(project.root, listener=self._listen)
        self.ended: Future[RunOutcome] = Future()
        self.loop = asyncio.new_event_loop()
        self.task = self.loop.create_task(self.swarm.run())
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        with contextlib.closing(self.loop):
            try:
                self.ended.set_result(self.loop.run_until_complete(self.task))
            except BaseException as error:  # noqa: BLE001 - raised again by `outcome`
                self.ended.set_exception(error)
            self.loop.run_until_complete(self.loop.shutdown_default_executor())

    def _listen(self, progress: Progress) -> None:
        self.told.append(progress)
        self.on_told(progress)

    def cancel(self) -> None:
        self.loop.call_soon_threadsafe(self.task.cancel)

    def until(self, condition: Callable[[], object]) -> None:
        def come_true() -> object:
            if self.ended.done():
                self.ended.result()
            return condition()

        until(come_true)

    def outcome(self) -> RunOutcome:
        found = self.ended.result(40)
        self.thread.join(10)
        return found

    @property
    def notices(self) -> str:
        return "\n".join(each.text for each in self.told if each.kind == "notice")

    def at(self, step: str) -> bool:
        return any(each.kind == "step" and each.step == step for each in self.told)


def edit(project: Project, old: str, new: str) -> str:
    """Replaces a text in plan.md; the whole text that is there now."""
    text = project.plan_md
    assert old in text
    project.folder.plan_md.write_text(text.replace(old, new, 1))
    return text.replace(old, new, 1)


def kinds(project: Project) -> list[str]:
    return [line["event"]["type"] for line in project.lines()]
