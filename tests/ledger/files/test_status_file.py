from __future__ import annotations

from tests.domain.story import play, started

from swarmgate.domain.state.state import State
from swarmgate.domain.status import StatusFile, WorkerStatus
from swarmgate.ledger.files import status_file
from swarmgate.ledger.files.folder import SwarmFolder

STATUS = StatusFile(
    written_at="2026-01-01T00:00:00Z",
    started_at="2026-01-01T00:00:00Z",
    heartbeat_s=30,
    pid=7,
    host="h",
    place="watch",
    mode="manual",
    watching="events",
    workers=(WorkerStatus(name="plan_sync"),),
)


def test_what_is_written_is_read(folder: SwarmFolder) -> None:
    assert status_file.read(folder) is None
    assert status_file.write(folder, STATUS) == ""
    assert status_file.read(folder) == STATUS
    assert [path.name for path in folder.runtime.iterdir()] == ["status.json"]


def test_a_removed_runtime_folder_is_made_anew_and_a_removed_project_is_not(folder: SwarmFolder) -> None:
    folder.runtime.rmdir()
    assert status_file.write(folder, STATUS) == ""
    folder.path.rename(folder.path.with_name("away"))
    assert "No such file" in status_file.write(folder, STATUS)
    assert not folder.path.exists()


def test_what_is_unreadable_is_none(folder: SwarmFolder) -> None:
    for content in (b"{", b"[]", b"\xff", b'{"version": 1}'):
        folder.status.write_bytes(content)
        assert status_file.read(folder) is None


def test_a_time_that_is_none_makes_it_unreadable(folder: SwarmFolder) -> None:
    for written_at in ("foo", "", "2026-01-01", "2026-01-01T00:00:00"):
        status_file.write(folder, STATUS.model_copy(update={"written_at": written_at}))
        assert status_file.read(folder) is None


def test_what_stopped_shows_the_work_as_it_goes_on_and_nothing_else_changes(folder: SwarmFolder) -> None:
    state = play(State(), *started())
    status_file.refresh(folder, state)
    assert status_file.read(folder) is None  # no run ever left one
    status_file.write(folder, STATUS)
    status_file.refresh(folder, state)
    assert status_file.read(folder) == STATUS  # its own process writes it
    status_file.write(folder, STATUS.model_copy(update={"watching": "stopped"}))
    status_file.refresh(folder, state)
    now = status_file.read(folder)
    assert now is not None
    assert (now.work.seq, now.work.task, now.work.step, now.work.running) == (state.seq, "1.1", "delegate", "")
    assert now.written_at > STATUS.written_at
    assert now.model_copy(update={"work": STATUS.work, "written_at": "", "watching": ""}) == STATUS.model_copy(
        update={"written_at": "", "watching": ""}
    )
