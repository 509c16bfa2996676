"""The handoff page, held against golden files: SWARMGATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.project import Project, critic, plan, review, task

from swarmgate.domain.events import EditRefused
from swarmgate.domain.handoff import LINES, Failure, Handoff, HandoffRole, render
from swarmgate.engine import Swarm
from swarmgate.errors import UsageError

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


@pytest.mark.suite("unittest")
def test_the_page_of_a_blocked_project_is_the_golden_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "sk-THE-VALUE-OF-A-KEY")
    no = [review("REJECTED", "# Not *yet*", "bad", task="2.1")]
    project.play(plan(task("1.1"), task("2.1")), critic(), *no, budget={"tokens": 500_000})
    project.swarm("plan", "Add parts\n# of all kinds", exits=3)
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
    page = handoff.page.replace(handoff.commit, "c0ffee").replace(project.test_command, "TESTS")
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
