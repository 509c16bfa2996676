"""What is kept of models: two processes that find out something at the same time, and disks that refuse."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from pathlib import Path

from swarmgate.domain.capabilities import Capabilities
from swarmgate.ledger.files import model_probes
from swarmgate.ledger.files.folder import SwarmFolder

URL = "http://127.0.0.1:1/v1"
_FINDS = """
import sys
from pathlib import Path
from swarmgate.ledger.files import model_probes as probes
from swarmgate.ledger.files.folder import SwarmFolder
for n in range(20):
    name = f"{sys.argv[2]}{n}"
    probes.remember(SwarmFolder(Path(sys.argv[1])), "local/m", sys.argv[3], lambda known: known.without(name))
"""


def test_nothing_is_lost_where_two_processes_find_out_at_the_same_time(folder: SwarmFolder) -> None:
    both = [subprocess.Popen([sys.executable, "-c", _FINDS, str(folder.root), name, URL]) for name in "ab"]
    assert [each.wait(timeout=60) for each in both] == [0, 0]
    found = model_probes.load(folder)["local/m"]
    assert set(found.left_out) == {f"{name}{n}" for name in "ab" for n in range(20)}


def test_another_address_begins_anew(folder: SwarmFolder) -> None:
    model_probes.remember(folder, "local/m", URL, lambda known: known.without("temperature").without("tools"))
    model_probes.remember(folder, "local/other", URL, lambda known: known.without("tools"))
    assert model_probes.load(folder)["local/m"].tools is False
    model_probes.remember(folder, "local/m", "http://127.0.0.1:2/v1", lambda known: known.without("stream"))
    found = model_probes.load(folder)
    assert (found["local/m"].tools, found["local/m"].left_out, found["local/m"].stream) == (None, (), False)
    assert found["local/other"].tools is False


def test_a_probe_forgets_what_calls_found(folder: SwarmFolder) -> None:
    model_probes.remember(folder, "local/m", URL, lambda known: known.without("temperature"))
    model_probes.save(folder, [Capabilities(model="local/m", base_url=URL, asked="2026-11-22", tools=True)])
    assert model_probes.load(folder)["local/m"].left_out == ()


def test_what_cannot_be_written_ends_nothing(folder: SwarmFolder, tmp_path: Path) -> None:
    folder.models.mkdir()  # a folder stands where the file should
    model_probes.remember(folder, "local/m", URL, lambda known: known.without("tools"))
    assert model_probes.load(folder) == {}
    elsewhere = SwarmFolder(tmp_path / "file")
    elsewhere.root.write_text("no folder at all")
    model_probes.remember(elsewhere, "local/m", URL, lambda known: known.without("tools"))


def test_a_lock_that_somebody_keeps_is_not_waited_for_long(folder: SwarmFolder) -> None:
    with (folder.runtime / "models.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        model_probes.remember(folder, "local/m", URL, lambda known: known.without("tools"))
    assert model_probes.load(folder)["local/m"].tools is False


def test_what_an_earlier_version_wrote_is_read(folder: SwarmFolder) -> None:
    old = {"model": "local/m", "base_url": URL, "asked": "2026-11-20", "tools": False, "json_schema": True}
    folder.models.write_text(json.dumps({"local/m": old}))
    found = model_probes.load(folder)["local/m"]
    assert (found.tools, found.json_schema, found.left_out, found.longest_answer) == (False, True, (), None)
