from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.domain.story import passing, play, rejected, started, walk

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.plan.plan import Complexity, Kind, Phase, Plan, Task
from swarmgate.domain.state.plan_view import (
    AttemptLine,
    AttemptMark,
    PhaseStatus,
    PhaseView,
    PlanView,
    TaskView,
    VerdictLine,
    VerdictMark,
    view_of,
)
from swarmgate.domain.state.state import State, TaskStatus
from swarmgate.domain.usage import Usage
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.views.plan_json import parse as parse_json
from swarmgate.ledger.views.plan_md import parse, render, render_task

GOLDEN = Path(__file__).parent / "golden/plan.md"

# The sample of DESIGN.md, ".swarm/".
SAMPLE = """\
# JWT authentication
<!-- swarm plan: seq 42 -->
## Phase 1: Foundation [3 tasks, SMALL] COMPLETE
- [x] Task 1.1: Create user model [SMALL]
## Phase 2: Core auth [4 tasks, MEDIUM] IN PROGRESS
- [ ] Task 2.2: JWT generation [MEDIUM] (depends: 1.1, 2.1)
  - File: src/auth/jwt.py
  - Accept: tokens expire after 15 minutes
  - Attempt 1: REJECTED (reviewer) - Missing expiration claim
  - Attempt 2: REJECTED (gates: sast_scan) - Wrong signing algorithm
  - Attempt 3: ESCALATED - Architect implementing directly
- [ ] Task 2.4: Input validation [SMALL] (independent)
"""

# --- every legal view ---

PIECES = st.sampled_from(
    [
        " [SMALL]", " [LARGE]", " (independent)", " (depends: 1.1)", " BLOCKED", " SKIPPED", "# ", "## Phase 1: x",
        "- [x]",
        "  - File: a", "  - Note: b", "Attempt 1: REJECTED", " - ", ": ", "<!-- swarm plan: seq 9 -->", "<!--", "-->",
        "Task 1.1: ", "(", ")", "[", "]", "*a*", "`b`", "\t", "\n", "\r\n", "\u2028", "\ufeff", "\u3000", "é", "日本",
        "ESCALATED, REJECTED", " COMPLETE", "\\", "&amp;", "'", '"', "\x00", "\x1b[31m", "\u202e",
    ]
)  # fmt: skip
HOSTILE = st.lists(PIECES | st.text(max_size=8), max_size=6).map("".join)
LINE = HOSTILE.filter(lambda text: bool(AttemptLine(number=1, mark=AttemptMark.REJECTED, reason=text).reason))
STAGE = HOSTILE.map(lambda text: text.replace("(", "").replace(")", ""))


@st.composite
def _tasks(draw: st.DrawFn, phase: int, number: int) -> TaskView:
    status = draw(st.sampled_from(TaskStatus))
    attempt = st.builds(
        AttemptLine, number=st.integers(1, 99), mark=st.sampled_from(AttemptMark), stage=STAGE, reason=HOSTILE
    )
    attempts = tuple(draw(st.lists(attempt, max_size=3)))
    if status in (TaskStatus.PENDING, TaskStatus.IN_PROGRESS):  # one that was undone waits for a new attempt
        begun = attempts and attempts[-1].mark is not AttemptMark.UNDONE
        status = TaskStatus.IN_PROGRESS if begun else TaskStatus.PENDING
    ids = st.builds("{}.{}".format, st.integers(1, 3), st.integers(1, 200))
    return TaskView(
        id=f"{phase}.{number}",
        title=draw(LINE),
        description=draw(HOSTILE),
        acceptance=tuple(draw(st.lists(LINE, min_size=1, max_size=3))),
        files=tuple(draw(st.lists(LINE, min_size=1, max_size=3))),
        depends=tuple(draw(st.lists(ids, max_size=3))),
        complexity=draw(st.sampled_from(Complexity)),
        kind=draw(st.sampled_from(Kind)),
        status=status,
        attempts=attempts,
        note=draw(HOSTILE) if status in (TaskStatus.BLOCKED, TaskStatus.SKIPPED) else "",
    )


@st.composite
def _verdicts(draw: st.DrawFn) -> VerdictLine:
    return VerdictLine(
        stage=draw(st.sampled_from(("gate", "tests", "validation"))),
        round=draw(st.integers(1, 9)),
        number=draw(st.integers(1, 9)),
        mark=draw(st.sampled_from(VerdictMark)),
        reason=draw(HOSTILE),
    )


@st.composite
def _views(draw: st.DrawFn) -> PlanView:
    phases = [
        PhaseView(
            number=number,
            name=draw(LINE),
            status=draw(st.sampled_from(PhaseStatus)),
            approved_by=draw(HOSTILE),
            verdicts=tuple(draw(st.lists(_verdicts(), max_size=2))),
            tasks=tuple(draw(_tasks(number, n)) for n in range(1, draw(st.integers(1, 3)) + 1)),
        )
        for number in range(1, draw(st.integers(1, 2)) + 1)
    ]
    seq, by = draw(st.integers(0, 10**9)), draw(HOSTILE)
    return PlanView(title=draw(LINE), seq=seq, approved_by=by, phases=tuple(phases))


def _titled(title: str, description: str = "") -> PlanView:
    task = TaskView(id="1.1", title=title, description=description, acceptance=("a",), files=("b",))
    return PlanView(title=title, seq=1, phases=(PhaseView(number=1, name=title, tasks=(task,)),))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(_views())
@example(_titled("x [SMALL] (independent) BLOCKED"))
@example(_titled("# a <!-- swarm plan: seq 3 -->"))
@example(_titled("[3 tasks, SMALL] COMPLETE"))
@example(_titled("x", "first\n\n    - File: indented\n\t\n## Phase 2: no\n\n\nlast"))
@example(_titled(": x: "))
def test_every_legal_view_is_read_as_it_was_rendered(view: PlanView) -> None:
    text = render(view)
    assert parse(text) == view
    assert parse_json(view.model_dump_json()) == view
    assert parse("\ufeff" + text.replace("\n", "\r\n")) == view
    assert "\r" not in text


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32))
def test_every_reachable_state_is_read_as_it_was_rendered(seed: int) -> None:
    for _, _, state in walk(seed, 60):
        if view := view_of(state):
            assert parse(render(view)) == view


def test_the_kind_of_a_task_is_read_in_any_case_and_nothing_else_is_one() -> None:
    head = "# T\n<!-- swarm plan: seq 1 -->\n## Phase 1: P\n- [ ] Task 1.1: A\n  - Accept: a\n  - File: a.py\n"
    assert parse(head).phases[0].tasks[0].kind is Kind.FEATURE
    view = parse(f"{head}  - Kind: Refactoring\n")
    assert view.phases[0].tasks[0].kind is Kind.REFACTORING
    assert "  - Kind: refactoring\n" in render(view)
    with pytest.raises(PlanSyntaxError, match=r"line 7, .*'chore' is no kind of task") as caught:
        parse(f"{head}  - Kind: chore\n")
    assert "feature, breaking, refactoring, documentation, configuration" in caught.value.hint
    with pytest.raises(PlanSyntaxError, match=r"line 8, .*second Kind"):
        parse(f"{head}  - Kind: feature\n  - Kind: breaking\n")


# --- the sample of the contract ---


def _task(task_id: str, title: str, *depends: str, complexity: Complexity = Complexity.SMALL, **more: str) -> Task:
    return Task(
        id=task_id,
        title=title,
        description=more.get("description", ""),
        acceptance=(more.get("accept", f"{title} works"),),
        files=(more.get("file", "src/auth/models.py"),),
        depends=depends,
        complexity=complexity,
    )


def _sample() -> State:
    medium = Complexity.MEDIUM
    first = [
        _task("1.1", "Create user model"),
        _task("1.2", "Hash passwords", "1.1"),
        _task("1.3", "Store users", "1.1"),
    ]
    jwt = {"file": "src/auth/jwt.py", "accept": "tokens expire after 15 minutes"}
    second = [
        _task("2.1", "Settings", description="One place.\n\n    JWT_SECRET = ...\nNo default."),
        _task("2.2", "JWT generation", "1.1", "2.1", complexity=medium, **jwt),
        _task("2.3", "JWT validation", "2.2", complexity=medium, file="src/auth/check.py"),
        _task("2.4", "Input validation", file="src/auth/input.py"),
    ]
    phases = (Phase(name="Foundation", tasks=tuple(first)), Phase(name="Core auth", tasks=tuple(second)))
    scan = ev.AttemptRejected(task="2.2", attempt=2, stage="gates: sast_scan", reason="Wrong signing algorithm")
    events = [
        *started(Plan(title="JWT authentication", phases=phases)),
        *(event for task in first for event in passing(task.id)),
        ev.PhaseClosed(phase=1, summary="Users."),
        ev.PhaseApproved(phase=1),
        ev.TaskSkipped(task="2.1", reason="Settings exist"),
        *rejected("2.2", 1),
        *rejected("2.2", 2)[:2],
        scan,
        *passing("2.2", 3, AttemptKind.ESCALATED)[:1],
    ]
    used = ev.UsageRecorded(role="coder", usage=Usage(calls=1))
    return play(State(), *events, *[used] * (42 - len(events)))


def test_the_rendering_of_the_sample_is_the_golden_file() -> None:
    view = view_of(_sample())
    assert view is not None
    assert render(view) == GOLDEN.read_text(encoding="utf-8")


def test_the_golden_file_holds_the_sample_of_design_md_line_by_line_in_order() -> None:
    lines = iter(GOLDEN.read_text(encoding="utf-8").splitlines())
    for line in SAMPLE.splitlines():
        assert line in lines, line


def test_the_sample_of_design_md_is_read() -> None:
    view = parse(SAMPLE)
    assert view.title == "JWT authentication"
    assert [phase.status for phase in view.phases] == [PhaseStatus.COMPLETE, PhaseStatus.IN_PROGRESS]
    assert view.phases[1].tasks[0].attempts[1] == AttemptLine(
        number=2, mark=AttemptMark.REJECTED, stage="gates: sast_scan", reason="Wrong signing algorithm"
    )


# --- what has no place ---

HEAD = (
    "# T\n<!-- swarm plan: seq 1 -->\n\n"
    "## Phase 1: P [1 task, SMALL] PENDING\n- [ ] Task 1.1: A [SMALL] (independent)\n"
)
DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("", 1, "ends without a '# title' line"),
        ("# T\n", 2, "ends without a '<!-- swarm plan: seq N -->' line"),
        (HEAD + "hello\n", 6, "has no place in a plan: 'hello'"),
        (HEAD + "<!-- a remark -->\n", 6, "has no place"),
        (HEAD + "- [?] Task 1.2: B [SMALL]\n", 6, "has no place"),
        (HEAD + "- [ ] Task 1.2: B [HUGE]\n", 6, "has no place"),
        (HEAD + "- [ ] Task 1.2: B (depends 1.1)\n", 6, "has no place"),
        (HEAD + "- [ ] Task 1.2: B BLOCKED\n", 6, "has no place"),
        (HEAD + "- [ ] Task 1.2: B [SMALL] more\n", 6, "has no place"),
        (HEAD + "## Phase 2: P COMPLETE\n", 6, "has no place"),
        (HEAD + "## Phase 2: P [2 tasks]\n", 6, "has no place"),
        (HEAD + "  - Fiel: x\n", 6, "has no place"),
        (HEAD + "- File: x\n", 6, "has no place"),
        (HEAD + "  - Attempt 1: MAYBE\n", 6, "has no place"),
        (HEAD + "  - Attempt x: REJECTED\n", 6, "has no place"),
        (HEAD + f"  - Attempt {DIGITS}: REJECTED\n", 6, "has no place"),
        (f"# T\n<!-- swarm plan: seq {DIGITS} -->\n", 2, "has no place"),
        (f"# T\n## Phase {DIGITS}: P [1 task, SMALL]\n", 2, "has no place"),
        ("# T\n<!-- swarm plan: seq ²-->\n", 2, "has no place"),
        (HEAD + "# Second\n", 6, "is a second title"),
        (HEAD + "<!-- swarm plan: seq 2 -->\n", 6, "is a second 'swarm plan: seq' comment"),
        (HEAD + "## Phase 3: P [1 task, SMALL]\n", 6, "opens phase 3, but phase 2 is next"),
        (HEAD + "## Phase 1: P [1 task, SMALL]\n", 6, "opens phase 1, but phase 2 is next"),
        (HEAD + "## Phase 2: P [1 task, SMALL] DONE\n", 6, "has no place"),
        (HEAD + "- [x] Task 1.2: B [SMALL] BLOCKED\n", 6, "ticks a task that is BLOCKED"),
        (HEAD + "  - Note: a\n  - Note: b\n", 7, "is a second Note of the same task"),
        ("# T\n- [ ] Task 1.1: A [SMALL]\n", 2, "is a task before the first '## Phase' line"),
        ("# T\n  - File: a\n", 2, "belongs to a task, but no task stands above it"),
        (
            "# T\n<!-- swarm plan: seq 1 -->\n## Phase 1: P [0 tasks, SMALL]\n  - Accept: a\n",
            4,
            "no task stands above it",
        ),
    ],
)
def test_a_line_without_a_place_is_an_error_with_its_number(text: str, line: int, told: str) -> None:
    for form in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        with pytest.raises(PlanSyntaxError) as caught:
            parse(form, name="plan.md")
        assert caught.value.message.startswith(f"plan.md line {line}, column ")
        assert told in caught.value.message


def test_a_line_that_is_not_understood_says_what_a_line_may_be() -> None:
    with pytest.raises(PlanSyntaxError) as caught:
        parse(HEAD + "hello\n")
    assert "'  - Accept: ...'" in caught.value.hint


@settings(deadline=None)
@given(st.text(), st.integers(0, 5))
def test_any_text_is_a_plan_or_a_syntax_error(text: str, after: int) -> None:
    lines = HEAD.splitlines()
    try:
        view = parse("\n".join([*lines[:after], text, *lines[after:]]))
    except PlanSyntaxError:
        return
    assert parse(render(view)) == view


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("hello", 1),
        ("- [ ] Task 1.2: B [HUGE]", 19),
        ("  - Fiel: x", 5),
        ("  - Attempt 1: MAYBE", 16),
        ("## Phase 2: P [1 task, SMALL] DONE", 15),
    ],
)
def test_the_column_is_where_a_line_stops_to_be_understood(line: str, column: int) -> None:
    with pytest.raises(PlanSyntaxError, match=f"line 6, column {column} has no place"):
        parse(f"{HEAD}{line}\n")


def test_a_task_and_a_phase_may_leave_out_what_goes_without_saying() -> None:
    view = parse(
        HEAD + "- [ ] Task 1.2: Something\n\t- Accept: it works\n    - File: b.py\n"
        "- [ ] Task 1.3: More of it (depends: 1.2)\n"
        "## Phase 2: The end\n- [ ] Task 2.1: Last (independent)\n"
    )
    tasks = {task.id: task for phase in view.phases for task in phase.tasks}
    assert (tasks["1.2"].title, tasks["1.2"].acceptance, tasks["1.2"].files) == ("Something", ("it works",), ("b.py",))
    assert (tasks["1.3"].title, tasks["1.3"].depends) == ("More of it", ("1.2",))
    assert {task.complexity for task in tasks.values()} == {Complexity.SMALL}
    assert [(phase.name, phase.status) for phase in view.phases][1] == ("The end", PhaseStatus.PENDING)
    assert tasks["2.1"].title == "Last"
    assert parse(render(view)) == view


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(_views(), st.data())
def test_known_tasks_are_not_read_and_make_no_difference(view: PlanView, data: st.DataObject) -> None:
    tasks = [task for phase in view.phases for task in phase.tasks]
    known = {render_task(task): task for task in data.draw(st.lists(st.sampled_from(tasks)))}
    text = render(view)
    assert parse(text, known=known) == view
    read = [task for phase in parse(text, known=known).phases for task in phase.tasks]
    assert all(any(task is shown for shown in read) for task in known.values())
    broken = f"{text}nonsense\n"
    told = []
    for each in (None, known):
        with pytest.raises(PlanSyntaxError) as caught:
            parse(broken, known=each)
        told.append(caught.value.message)
    assert told[0] == told[1]


def test_small_freedoms_of_a_writer_are_read() -> None:
    view = parse(HEAD.replace("[ ]", "[X]").replace(" (independent)", " (depends: 1.2,1.3 ,  1.4)") + "\n\n   \n")
    task = view.phases[0].tasks[0]
    assert (task.status, task.depends) == (TaskStatus.COMPLETE, ("1.2", "1.3", "1.4"))


@pytest.mark.parametrize("title", ["Rename foo()", "Handle [x]", "Fix (again)", "Call f(a)[0]"])
@pytest.mark.parametrize(("rest", "depends"), [("", ()), (" (independent)", ()), (" (depends: 1.1)", ("1.1",))])
def test_a_title_without_a_size_may_end_in_a_bracket(title: str, rest: str, depends: tuple[str, ...]) -> None:
    task = parse(HEAD + f"- [ ] Task 1.2: {title}{rest}\n").phases[0].tasks[1]
    assert (task.title, task.depends, task.complexity) == (title, depends, "SMALL")
    assert parse(HEAD + f"## Phase 2: {title}\n").phases[1].name == title


@pytest.mark.parametrize("tail", ["[HUGE]", "(depends 1.1)", "(Independent)"])
def test_what_may_be_a_misspelt_size_is_asked_for(tail: str) -> None:
    with pytest.raises(PlanSyntaxError, match=re.escape(f"{tail!r} behind the title of task 1.2")) as caught:
        parse(HEAD + f"- [ ] Task 1.2: B {tail}\n")
    assert "add the size behind it: [SMALL]" in caught.value.hint
    assert parse(HEAD + f"- [ ] Task 1.2: B {tail} [SMALL]\n").phases[0].tasks[1].title == f"B {tail}"


def test_another_bullet_is_named() -> None:
    with pytest.raises(PlanSyntaxError, match=r"line 6, column 1 begins with '\*'") as caught:
        parse(HEAD + "* [ ] Task 1.2: B\n")
    assert caught.value.hint == "Write '-' in its place: - [ ] Task 1.2: B"


def test_a_file_without_its_position_is_told_which_one_to_show() -> None:
    with pytest.raises(PlanSyntaxError, match="seq 7") as caught:
        parse("# T\n", seq=7)
    assert caught.value.hint == "Put it below the title: <!-- swarm plan: seq 7 -->"
