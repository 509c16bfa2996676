"""Tests the functions that all patterns share: location, lookup and ids of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.council.toy import POLL, Answered, Poll
from tests.project import Project, rule
from tests.server.redis_server import RedisServer

from swarmgate.council.discussion.model import Discussion
from swarmgate.council.discussion.pattern import DISCUSSION
from swarmgate.council.facade import Council
from swarmgate.council.participants.session import open_session
from swarmgate.council.patterns import PATTERNS, PatternEntry
from swarmgate.council.records.lifecycle import Completed
from swarmgate.council.shared import Shared
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.spending.budget import PROJECT
from swarmgate.domain.usage import Allowance
from swarmgate.engine import Swarm
from swarmgate.errors import BudgetExhausted, CouncilRefused, LedgerError
from swarmgate.ledger.councils.sessions import unsettled

ASKED = Discussion(id="mine", topic="Is it sound?")


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATTERNS, "poll", PatternEntry("poll", "tests.council.toy:POLL"))


def shared(project: Project) -> Shared:
    return Swarm(project.root).council.shared


def hash_of(project: Project, request: Discussion = ASKED, **models: str) -> str:
    return shared(project).request_hash(DISCUSSION, request, models)


def poll(name: str = "mine", question: str = "Does it stand?", *who: str) -> Poll:
    return Poll(id=name, question=question, who=who or ("ann",))


# --- records ---


@pytest.mark.parametrize(
    ("store", "place"), [("files", "discussions/a/journal.jsonl"), ("sqlite", "discussions.sqlite3")]
)
def test_records_lie_where_the_settings_say_and_have_no_secret(
    project: Project, monkeypatch: pytest.MonkeyPatch, store: str, place: str
) -> None:
    monkeypatch.setenv("MY_KEY", "opensesame-1")
    project.configure(council={"store": store}, providers__local={"api_key_env": "MY_KEY"})
    record = shared(project).records.begin(POLL, poll("a", "Is it opensesame-1?", "opensesame-1"))
    record.append([Answered(who="opensesame-1", text="It is opensesame-1.")])
    record.publish()
    kept = (project.folder.path / place).read_bytes()
    assert b"Is it [redacted]?" in kept
    assert kept.count(b"opensesame-1") == (3 if store == "sqlite" else 2), "the voice's name, and nothing else"
    (again,) = shared(project).record(POLL, "a").standing.own.answers
    assert (again.who, again.text) == ("opensesame-1", "It is [redacted].")


def test_looking_at_records_makes_nothing(project: Project) -> None:
    before = sorted(project.folder.path.rglob("*"))
    assert shared(project).records.ids() == ()
    assert shared(project).cached(POLL, poll(), {}) is None
    assert sorted(project.folder.path.rglob("*")) == before


@pytest.mark.slow
def test_a_request_is_found_again_while_nothing_that_it_hangs_on_has_changed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(commands={"env": ["TZ_OF_TESTS"]})
    same = hash_of(project, ann="local/one")
    changes: dict[str, str] = {}

    def changed(name: str) -> None:
        changes[name] = hash_of(project, ann="local/one")

    assert hash_of(project, ASKED.model_copy(update={"id": "other"}), ann="local/one") == same
    project.write(".swarm/discussions/a/manifest.json", "records do not count")
    project.write("src/calc/__pycache__/x.pyc", "ignored files do not count")
    assert hash_of(project, ann="local/one") == same
    project.write("new.py", "")
    changed("an untracked file")
    project.write("new.py", "x = 1\n")
    changed("its content")
    (project.root / "new.py").unlink()
    project.write("AGENTS.md", "Else.\n")
    changed("a tracked file")
    project.git("checkout", "--quiet", "AGENTS.md")
    assert hash_of(project, ann="local/one") == same
    project.git("add", "--force", ".swarm/discussions")
    project.git("commit", "--quiet", "--message=More")
    assert hash_of(project, ann="local/one") == same, "a record that is committed, and the commit itself, do not count"
    project.write(".swarm/prompts/participant.md", "Else.\n")
    changed("a prompt of the project")
    project.write(".swarm/context.md", "Else.\n")
    changed("the context")
    project.write(".swarm/gates/mine.toml", 'title = "Mine"\n')
    changed("a gate of the project")
    project.write(".swarm/gates/baseline.json", '{"version": 1, "accepted": []}\n')
    changed("accepted findings")
    project.write(".swarm/gates/rules/more.yaml", "rules: []\n")
    changed("what a gate reads")
    monkeypatch.setenv("TZ_OF_TESTS", "UTC")
    changed("a variable that commands inherit")
    project.configure(roles__default={"temperature": 0.5})
    changed("the settings of a role")
    project.configure(commands={"timeout_s": 7})
    changed("the settings of commands")
    project.configure(gates={"timeout_s": 7})
    changed("the settings of gates")
    before = hash_of(project, ann="local/one")
    project.configure(gates={"timeout_s": 7}, budget={"tokens": 7}, council={"cache": True})
    assert hash_of(project, ann="local/one") == before, "what changes no answer does not count"
    project.write(".gitignore", "AGENTS.md\n")
    project.git("rm", "--quiet", "--cached", "AGENTS.md")
    before = hash_of(project, ann="local/one")
    project.write("AGENTS.md", "Else.\n")
    changes["the house rules, though git ignores them"] = hash_of(project, ann="local/one")
    assert changes["the house rules, though git ignores them"] != before
    changes["a model"] = hash_of(project, ann="local/two")
    assert len({same, *changes.values()}) == len(changes) + 1


def test_a_complete_record_is_given_again_where_the_settings_and_the_request_let_it(project: Project) -> None:
    project.configure(council={"cache": True})
    found = shared(project)
    record = found.records.begin(POLL, poll("a"), request_hash=found.request_hash(POLL, poll(), {}))
    assert found.cached(POLL, poll("b"), {}) is None, "it is not complete"
    record.append([Completed()])

    def known() -> list[bool]:
        return [shared(project).cached(POLL, poll("b"), {}, cache=each) is not None for each in (None, True, False)]

    assert known() == [True, True, False]
    project.configure(council={"cache": False})
    assert known() == [False, True, False]
    assert shared(project).cached(POLL, poll("b", "Else?"), {}, cache=True) is None


# --- sessions ---


async def test_what_a_session_used_goes_on_record_and_its_budget_says_how_it_goes_on(project: Project) -> None:
    project.play(rule("participant", "dispatch", {"text": "I hold."}))
    outcome = await shared(project).hold(POLL, poll())
    (event,) = project.events(UsageRecorded)
    assert outcome is not None
    assert (outcome.said, event.source) == ({"ann": "I hold."}, "poll-mine")
    assert event.usage.tokens == shared(project).record(POLL, "mine").standing.usage.tokens
    assert unsettled(project.folder) == []
    with pytest.raises(BudgetExhausted, match="poll-two is used up") as stopped:
        await shared(project).hold(POLL, poll("two", "Is it?", "a", "b", "c"), allowance=Allowance(tokens=1))
    assert stopped.value.hint.endswith("swarm poll resume two --tokens N")
    with pytest.raises(BudgetExhausted, match="spent") as stopped:
        await shared(project).hold(POLL, poll("three"), allowance=Allowance(usd=0))
    assert stopped.value.hint.endswith("swarm poll resume three --usd X")
    project.configure(budget={"tokens": 1})
    with pytest.raises(BudgetExhausted) as stopped:
        await shared(project).hold(POLL, poll("four"))
    assert stopped.value.hint.endswith("swarm poll resume four"), "the project's budget is no option of a command"
    assert stopped.value.is_of(PROJECT)


async def test_a_record_goes_on_in_one_process_at_a_time(project: Project) -> None:
    project.play()
    async with open_session(Swarm(project.root).project, "poll-mine", resume=""):
        with pytest.raises(CouncilRefused, match="poll-mine goes on in another process"):
            await shared(project).hold(POLL, poll())


# --- ids ---


def test_whoever_takes_a_record_for_another_kind_is_told_which_it_is(project: Project) -> None:
    shared(project).records.begin(DISCUSSION, ASKED)
    shared(project).records.begin(POLL, poll("yours"))
    council = Swarm(project.root).council
    looks: list[Callable[[str], Any]] = [council.record, council.dispatch_record, council.chat_record]
    looks += [council.decision_record, council.critique_record, council.orchestration_record]
    for look in looks:
        with pytest.raises(CouncilRefused, match=r"mine is a discussion, not an? \w+\.") as refused:
            look("mine")
        assert refused.value.hint == "swarm discuss show mine"
    with pytest.raises(CouncilRefused, match="yours is a poll, not a discussion") as refused:
        council.discussion_record("yours")
    assert refused.value.hint == "swarm poll show yours"


@pytest.mark.parametrize(
    ("place", "look"),
    [
        ("traces/debates/old/debate.json", lambda council: council.record("old")),
        ("traces/dispatches/old.json", lambda council: council.dispatch_record("old")),
    ],
)
def test_a_record_of_an_earlier_swarmgate_is_said_to_be_one(
    project: Project, place: str, look: Callable[[Council], Any]
) -> None:
    project.write(f".swarm/{place}", "{}")
    with pytest.raises(CouncilRefused, match=r"old is a \w+ of an earlier swarmgate, in \.swarm/traces/"):
        look(Swarm(project.root).council)
    assert (project.folder.path / place).read_text() == "{}"


def test_an_unknown_id_is_told_with_the_nearest_of_its_kind(project: Project) -> None:
    def refusal(name: str) -> tuple[str, str]:
        with pytest.raises(CouncilRefused) as refused:
            shared(project).record(POLL, name)
        return refused.value.message, refused.value.hint

    assert refusal("mine")[1] == "There is no poll here yet."
    shared(project).records.begin(POLL, poll("20261122-101500-3f2a"))
    listed = "They are listed by: swarm poll list"
    near = f"Did you mean 20261122-101500-3f2a? {listed}"
    assert refusal("20261122-101500-3f2b") == ("There is no poll '20261122-101500-3f2b'.", near)
    assert refusal("else")[1] == listed


def test_records_of_another_store_than_the_settings_name_are_told(project: Project, redis_server: RedisServer) -> None:
    assert shared(project).elsewhere() == ""
    shared(project).records.begin(POLL, poll("a"))
    project.configure(council={"store": redis_server.address})
    shared(project).records.begin(POLL, poll("b"))
    assert shared(project).elsewhere() == "1 record is in .swarm/discussions (store = files)"
    project.configure(council={"store": "sqlite"})
    _, redis = shared(project).elsewhere().split("; ")
    assert redis == f"1 record is in {redis_server.address} (store = {redis_server.address})"


def test_a_store_that_cannot_be_read_is_named(project: Project) -> None:
    project.configure(council={"store": "sqlite"})
    project.folder.records.write_text("no database " * 50)
    with pytest.raises(LedgerError, match=r"\.swarm/discussions\.sqlite3 is damaged"):
        Swarm(project.root).council.record("x")
