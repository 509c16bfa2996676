"""Tests the facade of orchestrations: councils as steps, their records, and the metrics."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tests.council.debate_script import debating
from tests.council.discussion_script import discussing
from tests.council.dispatch.test_facade import DOWN
from tests.council.dispatch.test_facade import says as tells
from tests.project import Project, rule

from swarmgate.council.decision.steps import DECISION
from swarmgate.council.orchestration import map_reduce, sequence, step, when
from swarmgate.council.orchestration.results import StepResult
from swarmgate.council.orchestration.state import Ended
from swarmgate.council.orchestration.steps import ORCHESTRATION
from swarmgate.council.records.lifecycle import Completed, Resumed
from swarmgate.council.records.store import Records
from swarmgate.council.shared import Shared
from swarmgate.domain.metrics import PatternMetrics
from swarmgate.domain.spending.budget import PROJECT
from swarmgate.engine import Swarm
from swarmgate.errors import BudgetExhausted, CouncilRefused, LedgerError, Owner
from swarmgate.journal.store import opened
from swarmgate.ledger.councils.sessions import unsettled
from swarmgate.ledger.ledger import Ledger

AGREES = rule("participant", "contribute", {"text": json.dumps({"agreement": 0.9, "stand": "agree"})})
FACILITATES = rule("participant", "facilitate", {"text": json.dumps({"proposal": "Ship it.", "openPoints": []})})
ANSWERS = rule("participant", "dispatch", {"text": "{{participant}} has looked."})
SCORES = {"scores": [{"criterion": "clear", "score": 0.9, "reason": "it is"}], "suggestions": []}
CRITIQUES = (
    rule("participant", "generate", {"text": "The notes, first version."}),
    rule("participant", "evaluate", {"text": json.dumps(SCORES)}),
)

ASKED = sequence(step("ask", "a", participant="p", text="Go."), id="first")


def by_pattern(project: Project) -> dict[str, PatternMetrics]:
    return {each.pattern: each for each in Swarm(project.root).council.metrics()}


@pytest.mark.slow
async def test_every_pattern_is_a_step_and_the_metrics_count_it_once(project: Project) -> None:
    project.play(ANSWERS, AGREES, FACILITATES, *CRITIQUES, *discussing(), *debating())
    council = Swarm(project.root).council
    asked = sequence(
        step("discuss", "talk", topic="How are keys kept?", mode="lightweight"),
        step("critique", "notes", task="Write the notes of {talk}.", criteria=[{"name": "clear"}]),
        when(
            "notes.passed",
            equals=True,
            then=step(
                "decide", "vote", question="Shall it ship, with {notes}?", participants=["ann", "bob=local/junior"]
            ),
        ),
        when("vote.consensus", equals=True, then=step("debate", "last", question="Is {vote} sound?")),
        step("ask", "tell", participant="editor", text="Tell of it: {last}"),
        title="Keys",
    )
    events: list[Any] = []
    outcome = await council.orchestrate(asked, id="keys", on_event=events.append)
    fields = {each.id: each.fields for each in outcome.steps}
    assert [each.status for each in outcome.steps] == ["done"] * 5, outcome
    assert (fields["talk"]["status"], fields["talk"]["agreements"]) == ("complete", 2)
    assert (fields["notes"]["passed"], fields["notes"]["ended_by"]) == (True, "passed")
    assert (fields["vote"]["consensus"], fields["last"]["verdict"]) == (True, "APPROVE")
    assert "Rotate the keys, by a machine." in outcome.steps[0].text
    assert outcome.steps[1].text == "The notes, first version."
    assert [type(each).__name__ for each in events if each.pattern == "orchestration"][:2] == [
        "Started",
        "RoundStarted",
    ]
    assert council.decision_record("keys.vote").outcome is not None

    spent = Ledger.read(project.folder).state.usage
    assert (outcome.usage.calls, outcome.usage.tokens) == (spent.calls, spent.tokens)
    found = by_pattern(project)
    assert {name: each.executions for name, each in found.items()} == {
        "debate": 1, "dispatch": 1, "discussion": 1, "decision": 1, "critique": 1, "orchestration": 1, "total": 6
    }  # fmt: skip
    assert found["total"].usage.tokens == found["orchestration"].usage.tokens == spent.tokens
    assert (found["decision"].convergence_rate, found["critique"].convergence_rate) == (1, 1)
    assert found["debate"].score == 1


async def test_items_may_be_the_lines_of_a_file_and_a_missing_one_is_refused(project: Project) -> None:
    project.play(ANSWERS)
    council = Swarm(project.root).council
    (project.root / "items.txt").write_text("src/a.py\n\n  src/b.py\n")
    mapped = map_reduce("m", "items.txt", step("ask", participant="p", text="Look at {item}."))
    outcome = await council.orchestrate(sequence(mapped))
    assert [each.item for each in outcome.steps[0].parts] == ["src/a.py", "src/b.py"]
    for name, told in (("none.txt", "`steps.1.items_file`: there is no file"), ("../x", "`steps.1.items_file`: ")):
        with pytest.raises(CouncilRefused) as refused:
            council.orchestration(sequence(map_reduce("m", name, step("ask", participant="p", text="{item}"))))
        assert told in refused.value.message
    path = project.root / "o.toml"
    for text, name, told in (
        ("x\n" * 101, "items.txt", "line 4: `steps.1.items_file`: items.txt: `items` is 101: the limit is 1 to 100"),
        (
            f"x\n{'y' * 10_001}",
            "items.txt",
            "line 4: `steps.1.items_file`: items.txt: item 2: `item` has 10,001 characters",
        ),
        (
            "",
            "none.txt",
            "line 4: `steps.1.items_file`: there is no file `none.txt`: give a text file of the repository",
        ),
        ("x", "items.txt", "line 8: `steps.1.step.model`: is 'clod/m': "),
    ):
        (project.root / "items.txt").write_text(text)
        head = f'[[steps]]\nid = "m"\nkind = "map"\nitems_file = "{name}"\n[steps.step]\nkind = "ask"\n'
        path.write_text(f'{head}text = "{{item}}"\nmodel = "{"clod/m" if text == "x" else ""}"\nparticipant = "p"\n')
        with pytest.raises(CouncilRefused) as refused:
            council.orchestration(path)
        assert f"{path}, {told}" in refused.value.message
    with pytest.raises(CouncilRefused, match="There is a record"):
        await council.orchestrate(sequence(mapped), id=outcome.id)


async def test_a_model_that_nobody_serves_is_refused_before_anybody_is_asked(project: Project) -> None:
    project.play(ANSWERS)
    steps = [
        step("ask", "a", participant="p", text="Go."),
        step("debate", "d", question="Q?", participants=["x", "y=clod/m"]),
    ]
    with pytest.raises(CouncilRefused, match=r"`steps.2.participants.2.model`.*clod"):
        await Swarm(project.root).council.orchestrate(sequence(*steps))
    assert project.requests == []


async def test_a_record_changed_by_hand_is_refused_and_counted_as_damaged(project: Project) -> None:
    project.play(ANSWERS, tells("b", DOWN))
    council = Swarm(project.root).council
    steps = [step("ask", name, participant=name, text="Go.") for name in "ab"]
    outcome = await council.orchestrate(sequence(*steps), id="o")
    assert outcome.failed == "b"
    assert unsettled(project.folder) == []
    path = project.folder.discussions / "o" / "journal.jsonl"
    path.write_text(path.read_text().replace("a has looked", "a has approved"))
    with pytest.raises(LedgerError, match=r"o/journal\.jsonl"):
        await Swarm(project.root).council.resume_orchestration("o")
    for name, text in (("torn", "{}\n"), ("o.a", "no\n")):
        torn = project.folder.discussions / name / "journal.jsonl"
        torn.parent.mkdir(exist_ok=True)
        torn.write_text(text)
    found = by_pattern(project)
    assert found["orchestration"].damaged[0].startswith("o: ")
    assert {each[:4] for each in found["unknown"].damaged} == {"torn", "o.a:"}
    assert (found["total"].executions, len(found["total"].damaged)) == (4, 3)


async def test_what_a_failed_step_and_others_of_a_like_name_used_is_counted_where_it_belongs(project: Project) -> None:
    """A record that failed has its calls in its traces; `my-o` is none of `o`'s."""
    project.play(ANSWERS, *debating(), rule("participant", "contribute", DOWN))
    council = Swarm(project.root).council
    other = await council.debate("Is it so?", id="my-o")
    asked = sequence(
        step("ask", "a", participant="p", text="Go."),
        step("decide", "vote", question="Shall it?", participants=["ann", "bob"]),
        when("vote.ended", equals="failed", then=step("debate", "d", question="Why did {vote} fail?")),
    )
    outcome = await council.orchestrate(asked, id="o")
    assert [each.status for each in outcome.steps] == ["done", "failed", "done"]
    spent = Ledger.read(project.folder).state.usage
    assert outcome.usage.tokens == spent.tokens - other.usage.tokens
    found = by_pattern(project)
    assert found["total"].usage.tokens == spent.tokens
    assert (found["debate"].parts, found["dispatch"].parts, found["decision"].parts) == (1, 1, 1)
    assert found["decision"].failed == 1
    assert Shared(Swarm(project.root).project).record(DECISION, "o.vote").standing.part_of == "o"


async def test_a_steps_own_budget_fails_the_step_and_any_other_ends_the_whole(project: Project) -> None:
    """The first task of three is answered, then a budget is used up."""
    project.play(ANSWERS, council={"total_tokens": 1})
    three = step("dispatch", "a", mode="chain", tasks=[{"participant": "p", "text": "Go."}] * 3)
    outcome = await Swarm(project.root).council.orchestrate(sequence(three), id="o")
    assert [each.status for each in outcome.steps] == ["failed"]
    assert "the budget of dispatch-o.a is used up" in outcome.steps[0].why
    project.configure(council={"total_tokens": 1_000_000})
    council = Swarm(project.root).council
    with pytest.raises(BudgetExhausted, match="the budget of orchestration-p is used up") as caught:
        await council.orchestrate(sequence(three, tokens=1), id="p")
    assert caught.value.account == (Owner("session", "orchestration-p"), "tokens")
    assert caught.value.hint.endswith("swarm orchestrate resume p --tokens N")
    project.configure(budget={"tokens": 1})
    with pytest.raises(BudgetExhausted) as caught:
        await Swarm(project.root).council.orchestrate(sequence(three), id="q")
    assert caught.value.is_of(PROJECT)
    assert caught.value.hint.endswith("swarm orchestrate resume q")


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["tokens", "usd"])
async def test_a_bound_holds_over_steps_that_go_on_at_the_same_time(project: Project, bound: str) -> None:
    """Each step sits by itself: what one learnt of the length of answers, those beside it know."""
    usage = {"prompt_tokens": 50, "completion_tokens": 5_000}
    answer = {"text": "It has looked.", "usage": usage}
    project.play(rule("participant", "dispatch", answer))
    price = {"input": 1.0, "output": 2.0}
    project.configure(**{'prices."local/junior"': price, 'prices."local/senior"': price})
    items = [f"case {number}" for number in range(9)]
    limit: dict[str, Any] = {"tokens": 14_000} if bound == "tokens" else {"usd": 0.025}
    asked = sequence(map_reduce("m", items, step("ask", participant="p", text="See {item}."), at_once=8), **limit)
    with pytest.raises(BudgetExhausted):
        await Swarm(project.root).council.orchestrate(asked)
    assert len(project.requests) == 3, "two that fit, and the one that uses up what is left"


@pytest.mark.slow
@pytest.mark.parametrize("store", ["files", "sqlite"])
def test_a_thousand_records_are_listed_and_counted_in_two_seconds(project: Project, store: Any) -> None:
    project.configure(council={"store": store})
    records = Records(opened(project.folder.path, store), clean=lambda value: value)
    ended = Ended(step="a", result=StepResult(id="a", kind="ask", status="done", text="Done."))
    for number in range(1000):
        record = records.begin(ORCHESTRATION, ASKED.model_copy(update={"id": f"r{number}"}))
        record.append([Resumed(), ended, Completed()])
    council = Swarm(project.root).council
    began = time.process_time()
    assert len(council.orchestrations()) == 1000
    listed = time.process_time() - began
    found = by_pattern(project)
    counted = time.process_time() - began - listed
    assert (found["orchestration"].executions, found["orchestration"].complete) == (1000, 1000)
    assert listed < 1
    assert counted < 2
