"""`swarm cost`: every token is counted once, also while a run goes on, and no unknown price is nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.council.debate_script import debating
from tests.project import Project, call, plan, rule, until

from swarmgate.domain.usage import Usage

pytestmark = pytest.mark.suite("unittest")


def rows(told: dict[str, Any], table: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in told[table]}


def tokens(told: dict[str, Any], table: str) -> int:
    return sum(int(row["tokens"]) for row in told[table])


def test_nothing_was_used_yet(project: Project) -> None:
    assert project.swarm("cost").stdout == "Nothing was used yet.\n"
    assert "Did you mean model?" in project.json("cost", "--by", "modell", exits=2)["hint"]


@pytest.mark.slow
def test_tables_add_up_and_have_the_councils(project: Project) -> None:
    project.planned(plan("1.1"), *debating())
    project.swarm("run", exits=3)
    project.swarm("debate", "Is it sound?")
    told = project.json("cost")
    whole = told["total"]["tokens"]
    assert whole > 0
    assert [tokens(told, each) for each in ("tasks", "roles", "models", "phases", "days")] == [whole] * 5
    assert {"outside of tasks", "task 1.1"} <= rows(told, "tasks").keys()
    assert rows(told, "models").keys() >= {"local/senior", "local/junior"}
    assert {"coder", "reviewer", "architect", "council"} <= rows(told, "roles").keys()
    assert rows(told, "phases").keys() == {"planning", "phase 1", "councils"}
    assert rows(told, "roles")["council"]["tokens"] == rows(told, "phases")["councils"]["tokens"]
    assert told["total"]["usage"]["usd"] > 0
    project.swarm("status")  # and whoever writes next settles the debate
    project.swarm("approve")
    after = project.json("cost")
    assert (after["total"]["tokens"], after["total"]["unsettled"]) == (whole, Usage().model_dump())
    assert project.json("cost", "--by", "role").keys() == {"total", "roles"}
    page = json.loads(project.folder.plan_json.read_text())
    of_task = rows(after, "tasks")["task 1.1"]
    assert page["phases"][0]["tasks"][0]["usage"]["tokens"] == of_task["tokens"]
    assert page["usage"]["tokens"] == whole - rows(after, "roles")["council"]["tokens"]
    assert page["usage"]["usd"] == pytest.approx(
        after["total"]["usage"]["usd"] - rows(after, "roles")["council"]["usage"]["usd"], abs=1e-5
    )
    page["usage"]["tokens"] = 1
    project.folder.plan_json.write_text(json.dumps(page))
    project.swarm("sync")
    assert json.loads(project.folder.plan_json.read_text())["usage"]["tokens"] > 1


@pytest.mark.slow
def test_an_unknown_price_is_told_and_never_counted_as_nothing(project: Project) -> None:
    project.play(plan("1.1"), prices__junior={"input": None, "output": None})
    text = project.folder.config.read_text().replace("[prices.junior]\n", "")
    project.folder.config.write_text(text)
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    told = project.json("cost")
    assert rows(told, "models")["local/junior"]["usage"]["usd"] is None
    assert told["total"]["usage"]["usd"] is None
    assert told["total"]["usage"]["known_usd"] > 0
    text = project.swarm("cost").stdout
    assert "at least $" in text
    assert "no price was known for calls of: local/junior\n" in text
    assert max(map(len, text.splitlines())) <= 80
    assert json.loads(project.folder.plan_json.read_text())["usage"]["usd"] is None


@pytest.mark.slow
def test_what_a_run_elsewhere_used_and_has_not_recorded_counts_and_is_marked(project: Project) -> None:
    reads = [call("read_file", path="AGENTS.md")]
    project.planned(plan("1.1"), rule("coder", "code", reads, {"fault": {"kind": "hang"}}))
    before = project.json("cost")
    process = project.start("run", "--json")
    until(lambda: any(project.folder.traces.glob("*-coder-code.json")))
    told = project.json("cost")
    unsettled = told["total"]["unsettled"]
    assert unsettled["calls"] == 1
    assert rows(told, "roles")["coder"]["unsettled"]["calls"] == 1
    assert rows(told, "tasks")["task 1.1"]["unsettled"]["calls"] == 1
    assert rows(told, "models")["local/junior"]["tokens"] == unsettled["prompt_tokens"] + unsettled["completion_tokens"]
    assert told["total"]["tokens"] > before["total"]["tokens"]
    assert "are not on record yet" in project.swarm("cost").stdout
    status = project.json("status")
    assert status["unsettled"]["calls"] == 1
    assert "not on record yet" in project.swarm("status").stdout
    process.kill()
    process.communicate()
    killed = project.json("cost")["total"]
    assert killed["unsettled"] == unsettled
    project.play(plan("1.1"))
    project.swarm("run", exits=3)
    settled = project.json("cost")
    assert settled["total"]["unsettled"]["calls"] == 0
    assert rows(settled, "roles")["interrupted"]["usage"]["calls"] == 1


@pytest.mark.slow
def test_a_council_in_another_process_counts_while_it_goes_on_and_after_it_was_killed(project: Project) -> None:
    project.play(*debating(), rule("participant", "debate", {"fault": {"kind": "hang"}}, round="2"))
    process = project.start("debate", "Is it sound?")
    until(lambda: rows(project.json("cost"), "roles").get("council", {}).get("tokens", 0) > 0)
    told = project.json("cost")
    council = rows(told, "roles")["council"]
    assert council["unsettled"] == council["usage"]
    assert rows(told, "tasks").keys() == rows(told, "phases").keys() == {"councils"}
    assert len(rows(told, "days")) == 1
    process.kill()
    process.communicate()
    killed = project.json("cost")["total"]
    assert killed["tokens"] >= council["tokens"]
    project.play()
    project.swarm("plan", "Add parts", exits=3)
    after = rows(project.json("cost"), "roles")["council"]
    assert (after["tokens"], after["unsettled"]) == (killed["tokens"], Usage().model_dump())
