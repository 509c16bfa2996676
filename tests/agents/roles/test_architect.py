"""The architect's five steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmgate.agents.briefs.house_rules import HouseRules, everywhere
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.architect import Closing, Delegation, Questions, close_phase, delegate, revise
from swarmgate.agents.roles.architect import plan as make_plan
from swarmgate.agents.roles.file_directive import named_files
from swarmgate.domain.plan.plan import Plan, Task
from swarmgate.domain.review.evidence import Remark, Review, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.errors import NoUsableReply
from swarmgate.llm.model import ModelReply, ToolCall
from swarmgate.llm.scripted import Scripted

OpenDesk = Callable[..., tuple[AgentContext, Any]]
Say = Callable[..., ToolCall]


async def planned(agent: AgentContext, goal: str = "Add two") -> Plan | Questions:
    return await make_plan(
        agent, goal=goal, spec="Two is 2.", answers=[("Which language?", "Python")], overview="Python, pytest"
    )


async def delegated(agent: AgentContext, task: Task, other: Task, plan: Plan) -> Delegation:
    return await delegate(agent, task=task, attempt=2, plan=plan, feedback="Attempt 1: REJECTED", others={"1.3": other})


async def test_a_legal_plan_is_taken(make_agent: OpenDesk, say: Say, plan: Plan) -> None:
    agent, model = make_agent(
        say("list_files"),
        say("save_plan", **plan.model_dump(mode="json")),
        house_rules=everywhere(HouseRules("AGENTS.md", "Use tabs.")),
    )
    assert await planned(agent) == plan
    assert model.brief.startswith("ROLE: architect\nSTEP: plan\nGOAL: Add two\n\n## AGENTS.md")
    for piece in ("Use tabs.", "Two is 2.", "Q: Which language?\nA: Python", "Python, pytest"):
        assert piece in model.brief
    offered = [tool.name for tool in model.requests[0].tools]
    assert offered == ["read_file", "list_files", "search", "ask_sme", "ask_user", "save_plan"]


async def test_an_illegal_plan_goes_back_with_every_problem(make_agent: OpenDesk, say: Say, plan: Plan) -> None:
    good = plan.model_dump(mode="json")
    bad = plan.model_dump(mode="json")
    bad["phases"][0]["tasks"][1] |= {"complexity": "LARGE", "acceptance": [], "depends": ["9.9"], "files": ["../x"]}
    agent, model = make_agent(say("save_plan", **bad), say("list_files"), say("save_plan", **good))
    assert await planned(agent) == plan
    told = model.requests[1].messages[-1].content
    for problem in ("is LARGE", "no acceptance criterion", "'9.9', which does not exist", "'../x' must not hold"):
        assert problem in told
    assert told.count("Task 1.2") == 4


async def test_illegal_plans_are_bounded_also_with_reading_in_between(make_agent: OpenDesk, say: Say) -> None:
    bad = say("save_plan", title="T", phases=[])
    agent, model = make_agent(*[bad, say("list_files")] * 5)
    with pytest.raises(NoUsableReply, match=r"architect \(plan\).*\n- The plan has no phases"):
        await planned(agent)
    assert len(model.requests) == 5


async def test_questions_end_the_turn(make_agent: OpenDesk, say: Say) -> None:
    agent, _ = make_agent(say("ask_user", questions=[" "]), say("ask_user", questions=["Which database?", ""]))
    assert await planned(agent) == Questions(("Which database?",))


async def test_a_revision_sees_plan_objections_and_request(make_agent: OpenDesk, say: Say, plan: Plan) -> None:
    objections = Review(
        verdict=Verdict.REJECTED,
        summary="too vague",
        findings=(Remark(severity=Severity.HIGH, message="Task 1.1: what is a?", suggestion="say it"),),
    )
    call = say("save_plan", **plan.model_dump(mode="json"))
    agent, model = make_agent(call, call)
    said = iter([("Task 1.1 is complete: it must stay.",), ()])
    revised = await revise(
        agent,
        goal="g",
        plan=plan,
        status="1.1 complete",
        request="use argon2",
        objections=objections,
        answers=(),
        overview="",
        check=lambda _plan: next(said),
    )
    assert revised == plan
    assert "must stay" in model.heard
    assert model.brief.startswith("ROLE: architect\nSTEP: revise\nGOAL: g\n")
    for piece in ("REJECTED: too vague", "what is a?", "use argon2", "1.1 complete", '"title": "Add two"'):
        assert piece in model.brief


async def test_a_delegation_has_scope_and_instructions(
    make_agent: OpenDesk, say: Say, task: Task, other: Task, plan: Plan
) -> None:
    agent, model = make_agent(
        ModelReply(
            tool_calls=(
                say("declare_scope", files=["./src/app.py", "src/app.py", "src/new.py"]),
                say("delegate", instructions="Add two() for task 1.2. Use v1.3 of the protocol, in 1.35 s."),
            )
        )
    )
    done = await delegated(agent, task, other, plan)
    assert done.scope == ("src/app.py", "src/new.py")
    assert done.instructions.startswith("Add two()")
    head = "ROLE: architect\nSTEP: delegate\nTASK: 1.2\nATTEMPT: 2\nFILE: src/app.py\nFILE: tests/test_app.py\n\n"
    assert model.brief.startswith(head)
    assert "Attempt 1: REJECTED" in model.brief


async def test_without_a_declared_scope_the_tasks_files_are_it(
    make_agent: OpenDesk, say: Say, task: Task, other: Task, plan: Plan
) -> None:
    agent, _ = make_agent(say("delegate", instructions="Do it."))
    assert (await delegated(agent, task, other, plan)).scope == task.files


async def test_the_directive_in_the_instructions_is_the_scope_and_is_judged_as_one(
    make_agent: OpenDesk, say: Say, task: Task, other: Task, plan: Plan
) -> None:
    stranger = say("delegate", instructions="Do it.\nFILE: ../outside.py")
    agent, model = make_agent(stranger, say("delegate", instructions="Do it.\nFILE: src/app.py, ./src/new.py"))
    assert (await delegated(agent, task, other, plan)).scope == ("src/app.py", "src/new.py")
    assert "../outside.py" in model.requests[1].messages[-1].content
    pattern = say("delegate", instructions="Do it.\nFILES: src/**/*.py")
    agent, model = make_agent(pattern, say("delegate", instructions="Do it.\nFILES:\n- src/app.py\n- src/new.py"))
    assert (await delegated(agent, task, other, plan)).scope == ("src/app.py", "src/new.py")
    assert "'src/**/*.py' is a pattern" in model.requests[1].messages[-1].content
    both = ModelReply(
        tool_calls=(say("declare_scope", files=["src/app.py"]), say("delegate", instructions="FILE: src/new.py"))
    )
    agent, _ = make_agent(both)
    assert (await delegated(agent, task, other, plan)).scope == ("src/app.py",)


@pytest.mark.parametrize(
    ("instructions", "told"),
    [
        ("Do Task 1.3 too.", "name 1.3"),
        ("First 1.2, then 1.3", "name 1.3"),
        ("(1.3)", "name 1.3"),
        ("Write docs/guide.md as well", "docs/guide.md, which is a file of task 1.3"),
        ("Write `./docs/guide.md`.", "docs/guide.md"),
        (" \n", "instructions are empty"),
    ],
)
async def test_instructions_for_another_open_task_are_refused(
    make_agent: OpenDesk, say: Say, *, task: Task, other: Task, plan: Plan, instructions: str, told: str
) -> None:
    agent, model = make_agent(say("delegate", instructions=instructions), say("delegate", instructions="Do it."))
    assert (await delegated(agent, task, other, plan)).instructions == "Do it."
    assert model.heard.startswith("Refused: ")
    assert told in model.heard


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([], "scope is empty"),
        ([""], "is empty"),
        (["docs/guide.md"], "belongs to task 1.3"),
        (["docs//guide.md"], "belongs to task 1.3"),
        (["../x.py"], "must not hold '..'"),
        (["/etc/passwd"], "must be relative"),
        ([".git/hooks/pre-commit"], "no task may touch"),
        (["src"], "it is a folder"),
        (["out/x.py"], "leads out of the repository"),
    ],
)
async def test_a_bad_scope_is_refused_and_delegating_does_not_pass_it_by(
    make_agent: OpenDesk, say: Say, *, task: Task, other: Task, plan: Plan, repo: Path, files: list[str], told: str
) -> None:
    (repo / "out").symlink_to(repo.parent)
    declare, hand_over = say("declare_scope", files=files), say("delegate", instructions="Do it.")
    right = say("declare_scope", files=["src/app.py"])
    agent, model = make_agent(ModelReply(tool_calls=(declare, hand_over)), ModelReply(tool_calls=(right, hand_over)))
    assert (await delegated(agent, task, other, plan)).scope == ("src/app.py",)
    answers = [message.content for message in model.requests[1].messages[-2:]]
    assert all(told in answer for answer in answers)


@pytest.mark.parametrize("kind", ["ids", "twice"])
async def test_delegations_of_several_tasks_are_bounded(
    make_agent: OpenDesk, say: Say, *, task: Task, other: Task, plan: Plan, kind: str
) -> None:
    both = ModelReply(tool_calls=(say("delegate", instructions="Do 1.2."), say("delegate", instructions="And more.")))
    reply: Scripted = both if kind == "twice" else say("delegate", instructions="Do 1.2 and 1.3.")
    agent, model = make_agent(*[reply] * 9)
    with pytest.raises(NoUsableReply, match="one time" if kind == "twice" else "name 1.3"):
        await delegated(agent, task, other, plan)
    assert len(model.requests) == 3


async def test_a_phase_is_closed_with_a_summary(make_agent: OpenDesk, say: Say) -> None:
    agent, model = make_agent(
        say("close_phase", summary="  "), say("close_phase", summary="It adds.", decisions=["ints only"], lessons="a")
    )
    closing = await close_phase(agent, phase=2, name="Adding", report="2 tasks, 1 rejection")
    assert closing == Closing("It adds.", ("ints only",), ("a",))
    assert model.brief.startswith("ROLE: architect\nSTEP: close_phase\nPHASE: 2\n\n")
    assert "2 tasks, 1 rejection" in model.brief


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Do it.\nFILE: src/app.py\nThen stop.", ("src/app.py",)),
        ("FILE: src/a.py, `src/b.py`\n- **FILE:** `src/c.py` (new)", ("src/a.py", "src/b.py", "src/c.py")),
        ("Write it (FILE: src/a.py) and stop, please", ("src/a.py",)),
        ("Change FILE: src/a.py, then its caller.\nFILE: src/a.py", ("src/a.py",)),
        ("FILE: Makefile", ("Makefile",)),
        ("Read the file: it has two functions. PROFILE: fast", ()),
        ("FILE:\nFILES: src/a.py", ("src/a.py",)),
        ("FILES: src/a.py and src/b.py. Then stop", ("src/a.py", "src/b.py")),
        ("FILES: src/a.py (new), src/b.py src/c.py", ("src/a.py", "src/b.py", "src/c.py")),
        ("FILES: the three below\nFILES: none", ()),
        ("FILE: n/a", ()),
        ("FILES:\n\n- src/a.py\n- `src/b.py`: new\n\nThen:\n- write src/c.py", ("src/a.py", "src/b.py")),
        ("**FILES:**\n  1. Makefile\n  2. src/a.py", ("Makefile", "src/a.py")),
        ('FILES: ["src/a.py","app/[id]/b.tsx"]', ("src/a.py", "app/[id]/b.tsx")),
        ("FILES: [app/[id]/b.tsx, src/a.py]", ("app/[id]/b.tsx", "src/a.py")),
        ("FILE: `docs/the guide.md` FILE: [a.py](src/a.py)", ("docs/the guide.md", "a.py")),
        ("FILES: src/a.py:10-20 | src/b.py#L7", ("src/a.py", "src/b.py")),
    ],
)
def test_the_directive_names_files_in_free_text(text: str, files: tuple[str, ...]) -> None:
    assert named_files(text) == files
