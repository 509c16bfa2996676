"""Tests which workers the settings switch on."""

from __future__ import annotations

import pytest

from swarmgate.automation import workers
from swarmgate.automation.workers import workers_of
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.engine.swarm import Swarm
from swarmgate.ledger.files.folder import SwarmFolder


@pytest.fixture
def folder(planned_folder: SwarmFolder) -> SwarmFolder:
    return planned_folder


def test_in_manual_mode_evidence_is_summed_up_beside_plan_sync(folder: SwarmFolder) -> None:
    swarm = Swarm(folder.root)
    assert [worker.name for worker in workers_of(swarm.project, EnginePorts())] == ["evidence_auto_summaries"]
    folder.config.write_text("[automation.capabilities]\nevidence_auto_summaries = false\n")
    assert workers_of(Swarm(folder.root).project, EnginePorts()) == ()


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ('[automation]\nmode = "hybrid"\n', ["phase_preflight", "config_doctor", "evidence_auto_summaries",
                                              "decision_drift_detection"]),
        ("[automation.capabilities]\ndecision_drift_detection = true\n", ["evidence_auto_summaries",
                                                                            "decision_drift_detection"]),
        ('[hooks]\nphase_closed = "true"\n', ["evidence_auto_summaries", "hooks"]),
    ],
)  # fmt: skip
def test_what_is_switched_on_has_a_worker(folder: SwarmFolder, settings: str, names: list[str]) -> None:
    folder.config.write_text(settings)
    assert [worker.name for worker in workers_of(Swarm(folder.root).project, EnginePorts())] == names


def test_one_that_cannot_begin_tells_so_once_and_the_others_begin(
    folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(workers._MODULES, "phase_preflight", "no_such_module")
    folder.config.write_text("[automation.capabilities]\nphase_preflight = true\n[hooks]\nphase_closed = 'true'\n")
    broken, _, hooks = workers_of(Swarm(folder.root).project, EnginePorts())
    assert (broken.name, hooks.name) == ("phase_preflight", "hooks")
    seen = None
    assert broken.subject(seen) == "start"  # type: ignore[arg-type]  # it does not look at the event
    with pytest.raises(ModuleNotFoundError):
        broken.work("start", seen)  # type: ignore[arg-type]  # as above
    assert broken.subject(seen) == ""  # type: ignore[arg-type]  # as above


def test_settings_are_read_anew(folder: SwarmFolder) -> None:
    swarm = Swarm(folder.root, flags={"loop": {"max_rejections": 4}})
    assert swarm.config.automation.mode == "manual"
    folder.config.write_text('[automation]\nmode = "auto"\n')
    assert swarm.config.automation.mode == "manual"
    again = swarm.project.anew().config
    assert (again.automation.mode, again.loop.max_rejections) == ("auto", 4)
