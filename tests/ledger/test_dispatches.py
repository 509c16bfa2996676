"""Dispatches on disk: as they stand, without secrets, and found again by id."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.council.dispatch.model import DispatchedReply, DispatchResult
from swarmgate.domain.dispatch import DispatchTask, Mode
from swarmgate.errors import CouncilRefused, LedgerError, LedgerWriteFailed
from swarmgate.ledger.dispatches import DispatchFiles
from swarmgate.ledger.folder import SwarmFolder


def result(dispatch_id: str = "20261121-224500-3f2a", text: str = "It will hold.") -> DispatchResult:
    return DispatchResult(
        id=dispatch_id,
        mode=Mode.SINGLE,
        tasks=(DispatchTask(role="critic", text="What breaks?"),),
        replies=(DispatchedReply(number=1, name="critic", text=text, tries=1),),
    )


@pytest.fixture
def files(tmp_path: Path) -> DispatchFiles:
    return DispatchFiles(SwarmFolder(tmp_path), redact=lambda text: text.replace("hunter2", "[redacted]"))


def test_what_is_kept_is_read_again_and_replaced(files: DispatchFiles) -> None:
    files.keep(result(text="Half."))
    files.keep(result())
    files.keep(result("20261121-224501-0000"))
    assert files.ids() == ("20261121-224500-3f2a", "20261121-224501-0000")
    assert files.load("20261121-224500-3f2a") == result()


def test_no_secret_goes_on_record(files: DispatchFiles, tmp_path: Path) -> None:
    files.keep(result(text="The password is hunter2."))
    assert files.load("20261121-224500-3f2a").replies[0].text == "The password is [redacted]."
    assert all(b"hunter2" not in path.read_bytes() for path in tmp_path.rglob("*.json"))


@pytest.mark.parametrize("wanted", ["", "x", "../../config", "20261121-224500-3f2b", "a\0b", "/etc/passwd"])
def test_another_id_is_refused(files: DispatchFiles, wanted: str) -> None:
    with pytest.raises(CouncilRefused) as caught:
        files.load(wanted)
    assert caught.value.hint == "None is on record yet."
    files.keep(result())
    with pytest.raises(CouncilRefused) as caught:
        files.load(wanted)
    assert caught.value.hint == "Did you mean 20261121-224500-3f2a?"


def test_a_damaged_record_is_named(files: DispatchFiles, tmp_path: Path) -> None:
    files.keep(result())
    path = tmp_path / ".swarm/traces/dispatches/20261121-224500-3f2a.json"
    path.write_text(path.read_text().replace('"single"', '"fast"'))
    with pytest.raises(LedgerError, match=r"\.swarm/traces/dispatches/.* is damaged, or was changed by hand: `mode`"):
        files.load("20261121-224500-3f2a")
    path.write_text("{")
    with pytest.raises(LedgerError, match="is damaged"):
        files.load("20261121-224500-3f2a")


def test_a_disk_that_refuses_is_an_error(files: DispatchFiles, tmp_path: Path) -> None:
    (tmp_path / ".swarm").write_text("no folder")
    with pytest.raises(LedgerWriteFailed):
        files.keep(result())
