"""The worked examples of the design rationale (document 002), typed as it writes them and run for real."""

from __future__ import annotations

import json

import pytest
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, call, code, delegate, engineer, part, plan, review, rule, task, until

from swarmgate import assets, config
from swarmgate.agents.prompts import Prompts
from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.errors import InvalidTaskStateTransition
from swarmgate.ledger.ledger import Ledger

CACHE = """
## SME Guidance Cache

### Security (Phase 1)
- Use bcrypt with cost factor 12
- Never log tokens
- Implement rate limiting

### API (Phase 1)  
- Return 401 for auth failures
- Use RFC 7807 for errors

Notes of mine.
"""  # noqa: W291 - the two blanks behind a heading are in the document


def asks(domain: str, question: str) -> list[dict[str, object]]:
    return [call("ask_sme", domain=domain, question=question)]


# --- 7: guidance of experts ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_standing_guidance_reaches_every_brief_of_its_domain_and_no_other(project: Project) -> None:
    project.planned(
        plan("1.1", task("2.1", title="Hash passwords of users"), task("2.2", title="Wrap long lines")),
        rule(
            "coder",
            "code",
            asks("Security", "Which bcrypt cost factor?"),
            asks("security", "Are pepper values needed?"),
            [
                call("write_file", path="src/calc/part_2.1.py", content=part("2.1")),
                call("finish", summary="done"),
            ],
            task="2.1",
        ),
        rule("sme", "consult", {"text": "No pepper: bcrypt has a salt of its own."}),
        review={"security": "always"},
    )
    project.folder.context.write_text(project.folder.context.read_text() + CACHE)
    mine = project.folder.context.read_bytes()
    project.swarm("run", exits=3)
    for end in (3, 0):
        project.swarm("approve")
        project.swarm("run", exits=end)
    fact, other = "- Use bcrypt with cost factor 12", "- Use RFC 7807 for errors"
    steps = (("architect", "delegate"), ("coder", "code"), ("reviewer", "review"), ("test_engineer", "test"))
    for role, step in steps:
        assert fact in project.briefs(role, step, task="1.1")[0], (role, "given in that phase")
        assert fact in project.briefs(role, step, task="2.1")[0], role
        assert other not in project.briefs(role, step, task="2.1")[0], role
        assert fact not in project.briefs(role, step, task="2.2")[0], role
    assert fact in project.briefs("reviewer", "security_review", task="2.2")[0]
    (asked,) = project.briefs("sme", "consult")
    assert "DOMAIN: security\n" in asked
    assert fact in asked
    assert other not in asked
    told = [m["content"] for request in project.requests for m in request.messages if m["role"] == "tool"]
    assert any("From the guidance of this project (Security):" in each and fact[2:] in each for each in told)
    context = project.folder.context.read_bytes()
    facts = mine[mine.index(b"## SME Guidance Cache") : mine.index(b"Notes of mine.")]
    assert facts in context
    assert b"Notes of mine.\n" in context
    assert b"- Question: Are pepper values needed?" in context
    assert project.json("doctor", exits=0)
    assert "context.md" not in project.swarm("doctor").stderr


# --- 8: checkpoints ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_checkpoint_says_what_was_created_where_and_asks_for_the_next_phase_by_name(project: Project) -> None:
    phases = [
        {"name": "Foundation", "tasks": [task("1.1", title="User model"), task("1.2", title="Migrations")]},
        {"name": "Core Auth", "tasks": [task("2.1", title="Tokens")]},
    ]
    project.planned(rule("architect", "plan", [call("save_plan", title="Authentication", phases=phases)]))
    ran = project.swarm("run", exits=3).stdout
    told = (
        "Created: User model, Migrations\nFiles: src/calc/part_1.1.py, src/calc/part_1.2.py\n\n"
        "Ready to proceed to Phase 2: Core Auth?\n"
    )
    assert told in ran
    assert told in project.swarm("status").stdout
    expected = {
        "phase": 1,
        "name": "Foundation",
        "created": ["User model", "Migrations"],
        "files": ["src/calc/part_1.1.py", "src/calc/part_1.2.py"],
        "skipped": [],
        "next_phase": 2,
        "next_name": "Core Auth",
    }
    assert project.json("status")["checkpoint"].items() >= expected.items()
    project.swarm("approve")
    assert project.json("status")["checkpoint"] is None
    assert "Ready to finish?\n" in project.swarm("run", exits=3).stdout


# --- 12: automation ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_evidence_summary_is_typed_as_it_is_written(project: Project) -> None:
    assert "no plan yet" in project.swarm("evidence", "summary").stdout
    project.planned()
    project.swarm("run", exits=3)
    shown = project.swarm("evidence", "summary").stdout
    assert shown.startswith("## Task 1.1: Part 1.1\n")
    assert project.swarm("evidence", "summary", "1.1").stdout == shown
    assert project.swarm("evidence", "--summary").stdout == shown
    assert project.json("evidence", "summary")["tasks"][0]["task"] == "1.1"


# --- 2, 9 and 10: the plan as people read it ---

PLAN_LINES = """\
## Phase 1: Foundation [3 tasks, SMALL]
- [ ] Task 1.1: Create user model [SMALL] (independent)
- [ ] Task 1.2: Add authentication [SMALL] (depends: 1.1)
- [ ] Task 1.3: Create API endpoints [SMALL] (depends: 1.1, 1.2)
## Phase 2: Core Logic [1 task, MEDIUM]
- [ ] Task 2.1: Input validation [MEDIUM] (independent)
""".splitlines()


def written() -> dict[str, object]:
    titles = ("Create user model", "Add authentication", "Create API endpoints")
    needs: list[list[str]] = [[], ["1.1"], ["1.1", "1.2"]]
    first = [task(f"1.{n}", title=t, depends=d) for n, (t, d) in enumerate(zip(titles, needs, strict=True), start=1)]
    second = [task("2.1", title="Input validation", complexity="MEDIUM")]
    phases = [{"name": "Foundation", "tasks": first}, {"name": "Core Logic", "tasks": second}]
    return rule("architect", "plan", [call("save_plan", title="Accounts", phases=phases)])


def test_the_plan_has_phases_with_sizes_and_tasks_with_dependencies(project: Project) -> None:
    project.play(written())
    project.swarm("plan", GOAL, exits=3)
    shown = [line for line in project.plan_md.splitlines() if line.startswith(("## ", "- ["))]
    assert [line.removesuffix(" PENDING").removesuffix(" IN PROGRESS") for line in shown] == PLAN_LINES
    for line in ("  - Accept: part 1.1 has a value", "  - File: src/calc/part_1.1.py"):
        assert line in project.plan_md
    project.swarm("run", exits=3)  # nobody codes before the plan is approved
    assert not project.briefs("coder", "code")


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_attempts_stand_in_the_plan_with_their_reasons_and_the_third_is_the_architects(project: Project) -> None:
    project.planned(
        plan(task("1.1", title="JWT generation")),
        review("REJECTED", "Missing expiration claim", "no `exp`", attempt="1"),
        review("REJECTED", "Wrong signing algorithm", "HS256", attempt="2"),
    )
    project.swarm("run", exits=3)
    attempts = [line for line in project.plan_md.splitlines() if "Attempt" in line]
    assert attempts == [
        "  - Attempt 1: REJECTED (reviewer) - Missing expiration claim",
        "  - Attempt 2: REJECTED (reviewer) - Wrong signing algorithm",
        "  - Attempt 3: ESCALATED - Architect implementing directly",
    ]
    assert "Wrong signing algorithm" in project.briefs("architect", "implement")[0]


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_no_task_begins_before_what_it_depends_on_is_complete(project: Project) -> None:
    first = task("1.1", title="Add authentication", depends=["1.2"])
    project.planned(
        plan(first, task("1.2", title="Create user model")),
        review("REJECTED", "no", "wrong", task="1.2"),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    assert not project.briefs("architect", "delegate", task="1.1")
    project.swarm("override", "1.2", "--reason", "it is right")
    project.swarm("run", exits=3)
    done = [event.task for event in project.events(ev.TaskCompleted)]
    assert done == ["1.2", "1.1"]
    assert project.briefs("architect", "delegate", task="1.1")


# --- 4, 14: the gates of a task ---


@pytest.mark.slow
def test_the_six_gates_stand_in_their_order_before_the_reviewer(project: Project) -> None:
    project.planned(code({"src/calc/part_1.1.py": "def broken(:\n"}, attempt="1"), gates={"skip": []})
    project.swarm("run", exits=3)
    report = json.loads((project.folder.evidence / "1.1/attempt-2/gates.json").read_text())
    order = [each["gate"] for each in report["results"]]
    six = ["syntax_check", "placeholder_scan", "sast_scan", "sbom_generate", "build_check", "quality_budget"]
    assert [gate for gate in order if gate in six] == six
    assert {"diff", "imports", "lint_fix", "lint_check", "secret_scan"} <= set(order)
    assert not project.briefs("reviewer", "review", attempt="1")
    first, second = project.state.task("1.1").attempts
    assert first.stage.startswith("gates: syntax_check")
    assert second.stage == ""


BRANCHES = "".join(f"    if value == {n}:\n        return {n * n}\n" for n in range(4))
GROWN = '"""A part."""\n' + "".join(
    f'\n\ndef _part_{n}(value: int) -> int:\n    """Look up."""\n{BRANCHES}    return {n}\n' for n in range(3)
)


@pytest.mark.slow
@case(
    "lies",
    "spread complexity over many functions, each within the bound of one",
    "the sum over the task counts: `quality_budget` rejects it (`complexity-sum`), until the user overrules it",
)
def test_one_task_adds_no_more_complexity_than_its_budget_unless_overruled_with_a_reason(project: Project) -> None:
    made = config.load(project_file=project.folder.config, environ={}).gates.quality
    assert made.max_complexity_delta == 5
    assert "max_complexity_delta" in made.model_fields_set  # swarm init has set it
    project.planned(
        code({"src/calc/part_1.1.py": GROWN}, task="1.1"),
        gates__quality={"max_complexity_delta": 5, "min_test_to_code_ratio": "off", "max_duplication_ratio": "off"},
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    last = project.state.task("1.1").attempts[-1]
    assert last.stage == "gates: quality_budget"
    assert "complexity +12 in sum, where one task may add 5" in last.reason
    project.swarm("override", "1.1", "--reason", "three tables of one protocol")
    project.swarm("run", exits=3)
    assert "gates: quality_budget: three tables of one protocol" in project.folder.context.read_text()


# --- 6: different models ---


def test_models_are_named_as_the_document_names_them(project: Project) -> None:
    names = {
        "coder": "anthropic/claude-sonnet-4-5",
        "reviewer": "openai/gpt-4o",
        "critic": "google/gemini-2.0-flash",
        "default": "openai/gpt-4o",
    }
    providers = "".join(
        f'[providers.{name}]\nbase_url = "http://127.0.0.1:9/v1"\n' for name in ("anthropic", "openai", "google")
    )
    roles = "".join(f'[roles.{role}]\nmodel = "{model}"\n' for role, model in names.items())
    project.folder.config.write_text(providers + roles)
    models = project.json("status")["models"]
    assert {role: models[role]["model"] for role in ("coder", "reviewer", "critic")} == {
        role: names[role] for role in ("coder", "reviewer", "critic")
    }


@pytest.mark.suite("unittest")
def test_the_same_model_writes_and_reviews_only_where_there_is_no_other(project: Project) -> None:
    project.play(roles__coder={"model": "local/senior"}, roles__critic={"model": "local/junior"})
    told = project.swarm("plan", GOAL, exits=2).stderr
    assert "coder and reviewer are the same model (local/senior)" in told
    assert "[models] require_distinct = []" in told
    assert not project.requests
    project.configure(
        roles__coder={"model": "local/senior"}, roles__critic={"model": "local/junior"}, models={"require_distinct": []}
    )
    assert "coder and reviewer are the same model" in project.swarm("plan", GOAL, exits=3).stderr


# --- 11: the settings of automation ---

CAPABILITIES = {
    "plan_sync": False,
    "phase_preflight": False,
    "config_doctor_on_startup": False,
    "config_doctor_autofix": False,
    "evidence_auto_summaries": False,
    "decision_drift_detection": False,
}
KEYS = [f"{name} = false" for name in CAPABILITIES]
INLINE = f'automation = {{ mode = "manual", capabilities = {{ {", ".join(KEYS)} }} }}\n'
TABLES = "\n".join(('[automation]\nmode = "manual"\n[automation.capabilities]', *KEYS))


@pytest.mark.parametrize("text", [INLINE, TABLES])
def test_the_settings_of_automation_bear_the_names_of_the_document(project: Project, text: str) -> None:
    project.folder.config.write_text(text)
    found = project.json("automation")
    assert (found["mode"], {each["name"]: each["on"] for each in found["capabilities"]}) == ("manual", CAPABILITIES)
    project.folder.config.write_text("")
    by_default = {each["name"] for each in project.json("automation")["capabilities"] if each["on"]}
    assert by_default == {"plan_sync", "evidence_auto_summaries"}  # what version 6.8 has on


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_long_task_is_summed_up_in_context_md_without_a_setting(project: Project) -> None:
    project.planned(
        review("REJECTED", "no", "wrong", attempt="1"),
        review("REJECTED", "not yet", "wrong", attempt="2"),
    )
    project.swarm("run", exits=3)
    until(lambda: "### Task 1.1, goal 1: Part 1.1" in project.folder.context.read_text(), 30)


# --- 15: hard blocks ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_the_third_file_that_the_architect_writes_itself_is_an_error(project: Project) -> None:
    write = call("write_file", path="src/calc/part_1.1.py", content="VALUE = 1\n")
    project.planned(rule("architect", "delegate", [write], [write], [write], [call("delegate", instructions="Do it.")]))
    result = project.swarm("run", exits=1)
    assert "SELF_CODING_BLOCK" in result.stdout
    assert "SELF_CODING_BLOCK" in project.plan_md
    told = [m["content"] for request in project.requests for m in request.messages if m["role"] == "tool"]
    assert any("Warning 1 of 2" in each for each in told)
    assert any("Warning 2 of 2" in each for each in told)
    assert not (project.root / "src/calc/part_1.1.py").exists()


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_the_count_of_skipped_judges_ends_only_with_a_task_that_has_both(project: Project) -> None:
    project.planned(
        plan("1.1", "1.2", "1.3"),
        review("REJECTED", "no", "wrong", task="1.1"),
        engineer(word="REJECTED", summary="no", task="1.2"),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    project.swarm("override", "1.1", "--reason", "it is right")
    project.swarm("run", exits=1)  # to the rejection of the next one
    assert "warning: 1 task was completed without" in " ".join(project.swarm("status").stdout.split())
    project.swarm("override", "1.2", "--reason", "it is right")
    project.swarm("run", exits=3)
    assert [state.qa_skipped for state in states(project)] == [1, 2, 0]
    assert "warning" not in project.swarm("status").stdout


def states(project: Project) -> list[State]:
    """The fold after each completed task."""
    found, state = [], State()
    for entry, _ in Ledger.read(project.folder).entries():
        state = fold(state, [entry])
        if isinstance(entry.event, ev.TaskCompleted):
            found.append(state)
    return found


# --- 16: the state machine ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
@case(
    "order",
    "tick the task in plan.md; call `update_task_status` with `completed`",
    "both are refused, the call with INVALID_TASK_STATE_TRANSITION and how a task completes; the ledger alone moves it",
)
def test_neither_a_tick_nor_a_call_completes_a_task(project: Project) -> None:
    says = call("update_task_status", task_id="1.1", status="completed")
    project.planned(
        rule(
            "coder",
            "code",
            [says],
            [call("write_file", path="src/calc/part_1.1.py", content=part("1.1")), call("finish", summary="done")],
        )
    )
    project.folder.plan_md.write_text(project.plan_md.replace("- [ ] Task 1.1", "- [x] Task 1.1"))
    assert "Status comes from the ledger alone" in project.swarm("run", exits=2).stderr
    assert project.quarantined("*plan.md")
    project.swarm("run", exits=3)
    told = [m["content"] for request in project.requests for m in request.messages if m["role"] == "tool"]
    assert any("INVALID_TASK_STATE_TRANSITION: no call moves a task" in each for each in told)
    states = "idle, coder_delegated, pre_check_passed, reviewer_run, tests_run, complete"
    assert any(states in " ".join(each.split()) for each in told)
    ledger = Ledger.write(project.folder)
    with pytest.raises(InvalidTaskStateTransition, match="INVALID_TASK_STATE_TRANSITION"):
        ledger.append(
            [ev.TaskCompleted(task="1.1", attempt=1, commit="0" * 40, tree="0" * 40)], expect=ledger.state.seq
        )
    ledger.close()


# --- 17: scope ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
@pytest.mark.parametrize(("more", "warned"), [(2, False), (3, True)])
def test_two_files_beyond_the_directive_are_borne_and_the_third_warns_the_architect(
    project: Project, more: int, *, warned: bool
) -> None:
    files = {f"src/calc/extra{n}.py": part(str(n)) for n in range(more)} | {"src/calc/part_1.1.py": part("1.1")}
    project.planned(
        plan("1.1", "1.2"),
        delegate("Write the part.\nFILE: src/calc/part_1.1.py", task="1.1"),
        code(files, task="1.1"),
        scope={"enforce": "warn"},
    )
    project.swarm("run", exits=3)
    assert project.state.task("1.1").attempts[0].scope == ("src/calc/part_1.1.py",)
    assert project.state.task("1.1").status == "complete"
    assert ("## Scope violation" in project.briefs("architect", "delegate", task="1.2")[0]) is warned


# --- 18: prompts ---


def test_a_small_model_gets_the_prompt_without_what_gates_enforce() -> None:
    short, whole = Prompts(compact=("architect",)), Prompts()
    enforced = "[Enforcement: programmatic gates active]"
    steps = ("plan", "delegate", "implement")
    assert all(enforced in short.render("architect", step) for step in steps)
    assert all(enforced not in whole.render("architect", step) for step in steps)
    assert all(len(short.render("architect", step)) < len(whole.render("architect", step)) for step in steps)
    text = (assets.prompts() / "architect/delegate.md").read_text()
    assert "<!-- BEHAVIORAL_GUIDANCE_START -->" in text
    assert "<!-- BEHAVIORAL_GUIDANCE_END -->" in text
