"""The whole loop over the services, in a clone of the server's: plan, approve, run, answer, hand over."""

from __future__ import annotations

import pytest
from tests.project import call, part, plan, rule
from tests.server.services.conftest import House

from swarmgate.errors import IllegalMove, NotFound
from swarmgate.server.services.views.goal import PullRequestView

pytestmark = pytest.mark.slow


async def test_a_goal_goes_from_its_first_words_to_a_pull_request(working: House) -> None:
    house, services = working, working.services
    house.project.play(plan("1.1", "2.1"))
    made = await services.goals.create(house.op, repo="calc", text="Add parts")
    assert (made.state, made.owner, made.wanted and made.wanted.verb) == ("queued", house.op.account.id, "plan")
    with pytest.raises(NotFound):
        await services.goals.plan(house.op, made.id)
    await house.until(made.id, waiting="plan_approval")
    for phase in (0, 1, 2):
        waits = (await services.approvals.list(house.bo)).items[0]
        view = await services.approvals.get(house.bo, waits.id)
        assert view.phase == phase
        if phase:
            proof = view.proofs[0]
            assert proof.gates is not None
            assert proof.gates.passed
            assert proof.tests is not None
            assert proof.tests.green
            assert f'+VALUE = "{phase}.1"' in proof.change.text
            assert view.usage.calls
        run = await services.approvals.decide(house.bo, view.id, "approve", if_match=view.seq)
        if phase < 2:
            assert run.state in {"queued", "working"}
            await house.until(made.id, waiting="phase_approval")
    await house.until(made.id, waiting="nothing")
    begun = await services.goals.pull_request(house.cy, made.id, check=True)
    described = (await house.over(begun.id)).result
    assert isinstance(described, PullRequestView)
    assert "Parts" in described.pull_request.title
    unreachable = await services.goals.pull_request(house.op, made.id, remote="nowhere")
    refused = await house.over(unreachable.id)
    assert (refused.state, refused.code, refused.result) == ("failed", "USAGE", None), refused
    assert "nowhere" in refused.problem
    assert [each.id for each in await services.operations.of(house.cy, made.id)] == [unreachable.id, begun.id]
    with pytest.raises(NotFound):
        await services.operations.get(house.di, begun.id)
    evidence = await services.evidence.list(house.cy, made.id, "1.1", 1)
    assert {"change.patch", "tests.json"} <= {each.name for each in evidence.files}
    patch = await services.evidence.read(house.cy, made.id, "1.1", 1, "change.patch")
    assert (patch.media_type, "+VALUE" in patch.text) == ("text/x-diff", True)
    for name in ("../tests.json", "nothing.json"):
        with pytest.raises(NotFound):
            await services.evidence.read(house.cy, made.id, "1.1", 1, name)
    assert (await services.evidence.report(house.cy, made.id)).report.complete
    assert (await services.ledger.verify(house.cy, made.id)).passed


async def test_a_question_is_answered_and_the_work_goes_on_with_it(working: House) -> None:
    house, services = working, working.services
    asked = call("ask_user", question="Which unit?", options=["metres", "feet"], why="It is shown.", assumption="feet")
    done = [call("write_file", path="src/calc/part_1.1.py", content=part("1.1")), call("finish", summary="done")]
    house.project.play(plan("1.1"), rule("coder", "code", [asked], done), ask={"coder": True})
    made = await services.goals.create(house.op, repo="calc", text="Add parts")
    await house.until(made.id, waiting="plan_approval")
    waits = (await services.approvals.list(house.bo)).items[0]
    await services.approvals.decide(house.bo, waits.id, "approve")
    await house.until(made.id, waiting="answers")
    need = (await services.needs.list(house.bo)).items[0]
    assert (need.kind, need.task, need.text) == ("question", "1.1", "Which unit?")
    answered = await services.questions.answer(house.bo, need.id, option=1)
    assert (answered.open, answered.answer, answered.by) == (False, "metres", "user:bo")
    with pytest.raises(IllegalMove):
        await services.questions.answer(house.bo, need.id, text="feet")
    await house.until(made.id, waiting="phase_approval")
