"""`ask_sme` in a run: the model once, then context.md as the user left it."""

from __future__ import annotations

import pytest
from tests.project import Project, call, delegate, part, plan, rule

from swarmgate.domain.events.event import GuidanceGiven
from swarmgate.domain.state.state import Guidance
from swarmgate.engine.expert_answers import KeptAnswers
from swarmgate.ledger.context import guidance
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")

QUESTION = "How are values stored?"


def asking(task: str, question: str, domain: str = "Storage") -> dict[str, object]:
    write = call("write_file", path=f"src/calc/part_{task}.py", content=part(task))
    asks = call("ask_sme", domain=domain, question=question)
    return rule("coder", "code", [asks], [write, call("finish", summary="done")], task=task)


@pytest.mark.slow
def test_an_answer_is_kept_where_the_user_may_change_it(project: Project) -> None:
    expert = rule("sme", "consult", {"text": "As strings."}, domain="Storage")
    project.planned(
        plan("1.1", "2.1"), delegate(), expert, asking("1.1", QUESTION), asking("2.1", "how are values STORED")
    )
    project.swarm("run", exits=3)
    (kept,) = guidance.read(project.folder.context)
    assert (kept.domain, kept.question, kept.answer, kept.phase, kept.task) == (
        "Storage",
        QUESTION,
        "As strings.",
        1,
        "1.1",
    )
    (event,) = project.events(GuidanceGiven)
    assert (event.task, event.phase, event.answer, event.model) == ("1.1", 1, "As strings.", "local/senior")
    assert project.state.usage_by_role["sme"].calls == 1
    assert len(project.briefs("sme", "consult", task="1.1")) == 1
    assert list((project.root / ".swarm/traces").glob("*-sme-consult.json"))

    text = project.folder.context.read_text()
    project.folder.context.write_text(text.replace("As strings.", "As bytes, says the user."))
    project.swarm("approve")
    project.swarm("run", exits=3)
    told = [
        message["content"]
        for request in project.requests
        if request.headers.get("TASK") == "2.1" and request.headers["ROLE"] == "coder"
        for message in request.messages
        if message["role"] == "tool"
    ]
    assert any("As bytes, says the user." in text for text in told)
    assert project.state.usage_by_role["sme"].calls == 1
    assert "As bytes, says the user." in project.folder.context.read_text()
    assert "Parts are modules." in project.folder.context.read_text()  # the derived part came beside it


@pytest.mark.slow
def test_without_a_model_for_experts_the_work_goes_on(project: Project) -> None:
    roles = {
        f"roles__{role}": {"model": "local/senior"} for role in ("architect", "critic", "reviewer", "test_engineer")
    }
    project.play(asking("1.1", QUESTION), **roles)
    text = project.folder.config.read_text()
    project.folder.config.write_text(text.replace('[roles.default]\nmodel = "local/senior"\n', ""))
    project.swarm("plan", "goal", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert project.events(GuidanceGiven) == []
    assert "sme" not in project.state.usage_by_role


def test_without_an_expert_the_facts_of_the_domain_are_all_there_is(project: Project) -> None:
    project.folder.context.write_text("## SME Guidance Cache\n\n### Storage (Phase 1)\n- Values are bytes.\n")
    told: list[GuidanceGiven] = []
    with Ledger.write(project.folder) as ledger:
        alone = KeptAnswers(ledger, told.append, asked=False)
        assert alone.find("storage", QUESTION) == Guidance("storage", "", "Storage:\n- Values are bytes.", 0, "", "")
        assert alone.find("Colours", "Which one?") is None
        assert KeptAnswers(ledger, told.append).find("storage", QUESTION) is None
