"""Agent programs that speak the Agent Client Protocol: a real one, honest or not, in a real project."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, plain

from swarmgate.domain.events.event import AttemptRejected, GuardActed, ReviewGiven, TaskCompleted
from swarmgate.domain.guard import Effect

pytestmark = pytest.mark.suite("unittest")

AGENT = Path(__file__).parents[1] / "programs/acp_agent.py"


def program(mode: str, *arguments: object, **more: object) -> dict[str, object]:
    """The settings of a role that the agent speaks as."""
    return {"model": "acp:" + shlex.join([sys.executable, "agents/acp_agent.py", mode, *map(str, arguments)]), **more}


@pytest.fixture
def work(project: Project) -> Project:
    project.write("agents/acp_agent.py", AGENT.read_text())
    project.git("add", "agents")
    project.git("commit", "--quiet", "--message=The program")
    return project


@pytest.mark.slow
def test_an_agent_does_the_coders_work_and_what_it_does_is_shown(work: Project) -> None:
    work.planned(roles__coder=program("honest", fallback=[]))
    result = work.swarm("run", exits=3)
    assert work.git("show", "HEAD:src/calc/part_1.1.py").endswith('VALUE = "1.1"')
    assert work.state.task("1.1").attempts[0].summary == "I wrote the part."
    assert "coder: execute ls -la src" in result.stderr
    assert "coder: edit src/calc/part.py" in result.stderr
    used = work.state.usage_by_role["coder"]
    assert (used.prompt_tokens, used.cached_tokens, used.completion_tokens) == (140, 40, 20)
    assert (used.usd, used.calls) == (0.25, 1)


@pytest.mark.slow
def test_use_that_an_agent_does_not_tell_is_estimated(work: Project) -> None:
    work.planned(roles__coder=program("says-nothing"))
    work.swarm("run", exits=3)
    used = work.state.usage_by_role["coder"]
    assert used.prompt_tokens > 90
    assert used.usd == 0.25


@pytest.mark.slow
@case(
    "programs",
    "by ACP: ask to write outside, into `.git` and `.swarm`, to push, to pipe a download into a shell, or not say what",
    "rules `permission`, `command-policy`: rejected, on record; reads, edits and plain commands are allowed once",
)
def test_permission_is_given_by_the_guards_and_put_on_record(work: Project, tmp_path: Path) -> None:
    work.planned(roles__coder=program("asks", tmp_path / "outside.py"))
    work.swarm("run", exits=3)
    assert work.git("show", "HEAD:src/calc/part_1.1.py").endswith(f'VALUE = "{" ".join(["True"] * 5 + ["False"] * 9)}"')
    notes = [event.note for event in work.events(GuardActed) if event.note.rule == "permission"]
    assert sum(note.count for note in notes if note.effect is Effect.NOTED) == 5
    assert sum(note.count for note in notes if note.effect is Effect.REFUSED) == 9
    assert any("git push --force" in note.detail for note in notes)


@pytest.mark.slow
def test_a_reviewer_that_asks_may_read_and_not_write(work: Project, tmp_path: Path) -> None:
    work.planned(roles__reviewer=program("asks", tmp_path / "outside.py"), loop={"replies": 1, "max_rejections": 1})
    work.swarm("run", exits=1)
    notes = [event.note for event in work.events(GuardActed) if event.note.rule == "permission"]
    assert {note.detail.split(":")[0] for note in notes if note.effect is Effect.NOTED} == {"execute", "read"}
    assert not (work.root / "src/calc/more.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "passed"), [("reviews", True), ("rejects", False)])
def test_a_verdict_is_the_json_at_the_end_of_the_last_message(work: Project, mode: str, *, passed: bool) -> None:
    work.planned(roles__reviewer=program(mode), loop={"max_rejections": 1})
    work.swarm("run", exits=3 if passed else 1)
    given = work.events(ReviewGiven)[0]
    assert given.passed is passed
    assert given.review.model.startswith("acp:")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["thinks-a-verdict", "verdict-before-its-work", "is-cut-short"])
@case(
    "programs",
    "by ACP: approve in thought, in a message before its last one, or in an answer that was cut off",
    "the verdict is the JSON that the last message ends with, whole, and nothing else",
)
def test_no_other_words_are_a_verdict(work: Project, mode: str) -> None:
    work.planned(roles__reviewer=program(mode), loop={"replies": 1, "max_rejections": 1})
    work.swarm("run", exits=1)
    assert not work.events(ReviewGiven)
    assert not work.events(TaskCompleted)


@pytest.mark.slow
def test_an_agent_that_is_asked_again_goes_on_in_its_session(work: Project) -> None:
    work.planned(roles__reviewer=program("reviews-when-asked-again"))
    work.swarm("run", exits=3)
    assert work.events(ReviewGiven)[0].review.summary == "turn 2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("is-a-stranger", "is not logged in"),
        ("is-of-another-time", "version 99 of the protocol"),
        ("is-no-agent", "ended with exit code 2"),
        ("complains", "`readable` and `writable`"),
        ("refuses", "refuses to go on"),
        ("dies", "out of luck"),
    ],
)
def test_a_failure_pauses_the_run_and_says_what_it_is(work: Project, mode: str, told: str) -> None:
    work.planned(roles__coder=program(mode))
    result = work.swarm("run", exits=5)
    assert told in plain(result.stderr)
    assert "Traceback" not in result.stderr


@pytest.mark.slow
@case("programs", "by ACP: never end", "told to cancel at its time limit, then ended with all that it started")
def test_an_agent_that_hangs_is_cancelled_at_its_time_limit(work: Project) -> None:
    work.planned(roles__coder=program("hangs", timeout_s=10))
    started = time.monotonic()
    result = work.swarm("run", exits=5)
    assert time.monotonic() - started < 60
    assert "its time limit of 10 s" in plain(result.stderr)
    assert (work.root / "src/calc/cancelled.txt").read_text().startswith("session-")


@pytest.mark.slow
def test_an_agent_that_hangs_is_ended_by_its_breaker(work: Project) -> None:
    work.planned(roles__coder=program("hangs"), breakers={"wall_time_s": 10}, loop={"max_rejections": 1})
    work.swarm("run", exits=3)
    assert work.events(AttemptRejected)[0].stage == "breaker: wall_time"


@pytest.mark.slow
@case("programs", "by ACP: spend without end", "a budget that is used up ends the program while it runs: exit code 4")
def test_a_budget_ends_an_agent_while_it_runs(work: Project) -> None:
    work.planned(roles__coder=program("spends"))
    work.configure(roles__coder=program("spends"), budget={"tokens": work.state.usage.tokens + 20_000})
    result = work.swarm("run", exits=4)
    assert "is used up" in plain(result.stderr)
    assert work.state.usage_by_role["coder"].tokens > 1_000


@pytest.mark.slow
def test_a_limit_of_its_account_pauses_the_run_until_then(work: Project) -> None:
    work.planned(roles__coder=program("is-limited"))
    result = work.swarm("run", exits=4)
    assert "usage limit" in plain(result.stderr)
    assert work.json("status")["paused_until"]
    assert not work.events(AttemptRejected)


@pytest.mark.slow
def test_our_files_are_not_offered(work: Project) -> None:
    work.planned(roles__coder=program("wants-our-files"))
    work.swarm("run", exits=3)
    assert "not offered" in work.state.task("1.1").attempts[0].summary


@pytest.mark.slow
@case(
    "programs", "by ACP: leave a process that writes later", "the program ends with its turn, and all that it started"
)
def test_nothing_outlives_the_turn(work: Project) -> None:
    work.planned(roles__coder=program("leaves-a-child"))
    work.swarm("run", exits=3)
    time.sleep(1.5)
    assert not (work.root / "src/calc/late.py").exists()
