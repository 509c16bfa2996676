"""The handoff page, held against golden files: SWARMGATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.domain.story import blocked, entries, passing, play, rejected, started
from tests.project import Project, critic, plan, review, task

from swarmgate.automation.handoff.handoff import _failures, _quarantined
from swarmgate.automation.handoff.page import LINES, Failure, Handoff, HandoffRole, render
from swarmgate.domain.events.event import EditRefused, GoalSet, PauseReason, RunPaused, TaskSkipped
from swarmgate.domain.preflight import PreflightCheck, PreflightReport, PreflightStatus
from swarmgate.domain.state.state import State
from swarmgate.engine import Swarm
from swarmgate.errors import UsageError
from swarmgate.ledger.files import preflights
from swarmgate.ledger.ledger import Ledger

GOLDEN = Path(__file__).parent / "golden"
SECTIONS = {
    "State", "Decisions", "Guidance from experts", "Open failures", "Budget", "Next step", "How to run", "Known risks",
    "Where to read more",
}  # fmt: skip
HOSTILE = "# Take over\n## Next step\n- `rm -rf /` <b>|</b>\n```\n***"


def _held(page: str, name: str) -> None:
    path = GOLDEN / name
    if os.environ.get("SWARMGATE_GOLDEN"):
        path.write_text(page, encoding="utf-8")
    assert page == path.read_text(encoding="utf-8")


def _hostile(count: int) -> Handoff:
    many = (HOSTILE,) * count
    failure = Failure(task="1.1", title=HOSTILE, status="blocked", stage="reviewer", reason=HOSTILE)
    return Handoff(
        goal="\n".join(many), source=HOSTILE, title=HOSTILE, phase=HOSTILE, tasks={"complete": 3, "in_progress": 1},
        branch="swarm/a`|b", commit="c0ffee", seq=42, waiting="blocked_task", working=HOSTILE, questions=many[:10],
        decisions=many, guidance=many, failures=(failure,) * count, quarantined=many, used="1 token", budgets=many[:4],
        next=tuple(f"swarm retry 1.1: {text}" for text in many), setup=("swarm doctor",), test_command="pytest `x`",
        roles=(HandoffRole(role="default", models=("local/a",), keys=("MY_KEY",)),) * count, risks=many, drift=many[:5],
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, 30])
def test_no_word_of_anybody_breaks_the_page_and_it_stays_a_page(count: int) -> None:
    page = render(_hostile(count))
    headings = [line for line in page.splitlines() if line.lstrip("> -").startswith("#")]
    assert {line.removeprefix("## ") for line in headings[1:]} == SECTIONS
    assert len(headings) == len(SECTIONS) + 1
    assert len(page.splitlines()) <= LINES
    assert not any(line.startswith("```") for line in page.splitlines())
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in page.splitlines() if line.startswith("| ")] == [3] * 8


def test_the_page_of_a_hostile_project_is_the_golden_file() -> None:
    _held(render(_hostile(1)), "handoff-hostile.md")


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_the_page_of_a_blocked_project_is_the_golden_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "sk-THE-VALUE-OF-A-KEY")
    no = [review("REJECTED", "# Not *yet*", "bad", task="2.1")]
    project.play(plan(task("1.1"), task("2.1")), critic(), *no, budget={"tokens": 500_000})
    project.swarm("plan", "Add parts\n# of all kinds\nwith sk-proj-0123456789abcdef", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.folder.plan_md.write_text(project.plan_md.replace("[ ] Task 2.1", "[x] Task 2.1"))
    project.swarm("run", exits=2)
    project.swarm("run", exits=1)
    url = project.server.base_url if project.server else ""
    keyed = {"base_url": url, "api_key_env": "LOCAL_KEY"}
    project.configure(budget={"tokens": 500_000}, providers__local=keyed, review={"security": "off"})
    handoff = Swarm(project.root).automation.handoff()
    assert (project.root / handoff.path).read_text() == handoff.page
    (refused,) = project.events(EditRefused)
    assert refused.kept in handoff.quarantined[0]
    assert (handoff.failures[0].task, handoff.failures[0].status) == ("2.1", "blocked")
    assert "THE-VALUE" not in handoff.model_dump_json()
    assert "sk-proj" not in handoff.model_dump_json()
    page = handoff.page.replace(url, "URL").replace(handoff.commit, "c0ffee").replace(project.test_command, "TESTS")
    page = page.replace(refused.kept, "KEPT").replace(refused.problems[0], "WHY")
    page = re.sub(r"[\d,]+ of 500,000 tokens, \d+%", "N of ALL, N%", page)
    page = re.sub(r"[\d,]+ tokens", "N tokens", page)
    page = re.sub(r"\$[\d.]+, \d+ s", "$N, N s", page)
    _held(re.sub(r"(Ledger position \|) \d+", r"\1 N", page), "handoff-blocked.md")


@pytest.mark.suite("unittest")
def test_a_project_without_a_plan_or_with_broken_settings_has_a_page(project: Project) -> None:
    project.folder.config.write_text("[roles.default]\nmodel = 7\n")
    handoff = Swarm(project.root).automation.handoff()
    assert "# Handoff: no plan yet" in handoff.page
    assert "No goal was set yet." in handoff.page
    assert '`swarm plan "GOAL"`: say what is wanted' in handoff.page
    assert "The settings cannot be read: " in handoff.page


@pytest.mark.suite("unittest")
def test_a_place_that_is_none_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Swarm(project.root).automation.handoff(out=tmp_path / "nowhere" / "page.md")
    with pytest.raises(UsageError):
        Swarm(project.root).automation.handoff(out=tmp_path)


@pytest.mark.suite("unittest")
def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(project: Project, tmp_path: Path) -> None:
    (project.root / "notes.md").write_text("# Handoff: mine\n")
    (project.root / "link.md").symlink_to(tmp_path / "nowhere")
    (project.root / "out").symlink_to(project.root / ".git")
    os.mkfifo(project.root / "pipe.md")
    known = {path: path.read_bytes() for path in (project.root / "notes.md", project.root / ".git/HEAD")}
    for name in (
        "notes.md", "link.md", "pipe.md", ".git/HEAD", ".git/new.md", "out/new.md", ".swarm/ledger.jsonl",
        ".swarm/new.md", ".swarm/history/../new.md",
    ):  # fmt: skip
        (project.root / ".swarm/history").mkdir(exist_ok=True)
        with pytest.raises(UsageError) as caught:
            Swarm(project.root).automation.handoff(out=project.root / name)
        assert (Path(name).name in caught.value.message, bool(caught.value.hint)) == (True, True)
    assert {path: path.read_bytes() for path in known} == known
    assert not (tmp_path / "nowhere").exists()
    page = project.root / "HANDOFF.md"
    Swarm(project.root).automation.handoff(out=page)
    page.write_text(page.read_text().replace("## State", "edited"))
    Swarm(project.root).automation.handoff(out=page)
    assert "## State" in page.read_text()
    project.folder.handoff.write_text("mine")
    with pytest.raises(UsageError):
        Swarm(project.root).automation.handoff()


@pytest.mark.suite("unittest")
def test_it_says_what_stopped_the_last_run_and_what_preflight_found(project: Project) -> None:
    project.planned()
    stopped = RunPaused(reason=PauseReason.PREFLIGHT, detail="Preflight stops phase 1.", between_steps=True)
    with Ledger.write(project.folder) as ledger:
        ledger.append([stopped], expect=ledger.state.seq, actor="engine")
    failed = PreflightCheck(name="secrets", status=PreflightStatus.FAIL, problem="a key in src/a.py line 3")
    preflights.keep(project.folder, PreflightReport(phase=1, checks=(failed,), passed=False, seq=9))
    page = Swarm(project.root).automation.handoff().page
    assert "| Paused | preflight: Preflight stops phase 1. |" in page
    found = "phase 1 may not begin (ledger position 9): secrets: a key in src/a.py line 3"
    assert f"| Preflight | {found} |" in page
    preflights.keep(project.folder, PreflightReport(phase=1, checks=(), passed=True))
    assert "| Preflight |" not in Swarm(project.root).automation.handoff().page


@pytest.mark.suite("unittest")
def test_a_clone_that_would_lack_the_plan_is_a_risk(project: Project) -> None:
    risk = "the newest commit does not hold .swarm/"
    assert risk in Swarm(project.root).automation.handoff().page
    project.git("add", "--force", ".swarm/ledger.jsonl")
    project.git("commit", "--quiet", "--message=Keep it")
    assert risk not in Swarm(project.root).automation.handoff().page


def test_only_refused_edits_of_this_goal_whose_file_is_there_are_told(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).write_text("edit")
    refused = [EditRefused(source=each, problems=("no",), kept=each) for each in ("old", "new", "gone", "")]
    log = list(entries([refused[0], GoalSet(goal="More"), *refused[1:]]))
    assert list(_quarantined(tmp_path, log)) == ["new, kept in new: no"]


def test_what_is_given_up_or_mended_is_no_open_failure() -> None:
    broken = play(State(), *started(), *blocked("1.1"))
    assert [each.task for each in _failures(broken)] == ["1.1"]
    assert list(_failures(play(broken, TaskSkipped(task="1.1", reason="not needed")))) == []
    again = play(State(), *started(), *rejected("1.1", 1))
    assert [(each.task, each.stage) for each in _failures(again)] == [("1.1", "reviewer")]
    assert list(_failures(play(again, *passing("1.1", 2)))) == []


def test_what_is_no_command_is_not_set_as_one() -> None:
    page = render(_hostile(1).model_copy(update={"next": ("edit .swarm/plan.md: change it", "git switch a: go")}))
    assert "- edit .swarm/plan.md: change it\n- `git switch a`: go" in page
