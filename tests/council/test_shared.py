"""What the facades of all patterns share: one store of records, the cache, budgets that say how it goes on, ids."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import pytest
from tests.project import Project, rule

from swarmgate.council.asking import ask, brief_for
from swarmgate.council.context import CouncilContext
from swarmgate.council.discussion.events import Said
from swarmgate.council.discussion.model import Discussion, Message, Step
from swarmgate.council.discussion.pattern import DISCUSSION
from swarmgate.council.discussion.rules import RULES, DiscussionRules
from swarmgate.council.lifecycle import Completed
from swarmgate.council.pattern import Pattern
from swarmgate.council.patterns import PATTERNS
from swarmgate.council.record import Record
from swarmgate.council.shared import Shared
from swarmgate.domain.base import Frozen
from swarmgate.domain.budget import PROJECT
from swarmgate.domain.debate import Seat
from swarmgate.domain.events import UsageRecorded
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.engine import Swarm
from swarmgate.engine.council import Council
from swarmgate.errors import BudgetExhausted, CouncilRefused, LedgerError
from swarmgate.ledger.sessions import unsettled

ASKED = Discussion(id="mine", topic="Is it sound?")


class Request(Frozen):
    id: str = "mine"
    times: int = 1


class Answered(Frozen):
    type: Literal["answered"] = "answered"
    text: str
    usage: Usage


class Asking(Pattern[Request, tuple[int, tuple[str, ...]], Request]):
    """One voice is asked so many times, under the name of a discussion."""

    name, verb, request, events = "discussion", "discuss", Request, (Answered,)

    def begin(self, request: Request) -> tuple[int, tuple[str, ...]]:
        return request.times, ()

    def apply(self, state: tuple[int, tuple[str, ...]], event: Frozen) -> tuple[int, tuple[str, ...]]:
        return (state[0], (*state[1], event.text)) if isinstance(event, Answered) else state

    def next(self, state: tuple[int, tuple[str, ...]]) -> Sequence[int]:
        return [len(state[1]) + 1] if len(state[1]) < state[0] else []

    async def do(self, step: Hashable, state: tuple[int, tuple[str, ...]], context: CouncilContext) -> Sequence[Frozen]:
        assert step == len(state[1]) + 1
        heard = await ask(
            context.voices.desk(Seat(id="ann")), brief_for("ann", "position", len(state[1]) + 1), read=str
        )
        return [Answered(text=heard.value or "", usage=heard.usage)]


ASKING = Asking()


def part(project: Project) -> Shared:
    return Shared(Swarm(project.root).project)


async def asked(project: Project, name: str = "mine", allowance: Allowance | None = None, times: int = 1) -> None:
    await part(project).hold(ASKING, Request(id=name, times=times), allowance=allowance)


def begin(project: Project, name: str, pattern: str = "discussion", **more: Any) -> Record[Any, Any, Any]:
    """A record of a pattern of that name."""
    rules = type("Named", (DiscussionRules,), {"name": pattern})()
    return part(project).records.begin(rules, ASKED.model_copy(update={"id": name}), **more)


def hash_of(project: Project, request: Discussion = ASKED, **models: str) -> str:
    return part(project).request_hash(DISCUSSION, request, models)


def refusal(project: Project, kind: str, name: str) -> tuple[str, str]:
    refused = part(project).refused(kind, name, CouncilRefused(f"There is no {kind} {name}."))
    return refused.message, refused.hint


# --- records ---


@pytest.mark.parametrize(
    ("store", "place"), [("files", "discussions/a/journal.jsonl"), ("sqlite", "discussions.sqlite3")]
)
def test_records_lie_where_the_settings_say_and_have_no_secret(
    project: Project, monkeypatch: pytest.MonkeyPatch, store: str, place: str
) -> None:
    monkeypatch.setenv("MY_KEY", "opensesame-1")
    project.configure(council={"store": store}, providers__local={"api_key_env": "MY_KEY"})
    record = part(project).records.begin(RULES, Discussion(id="a", topic="opensesame-1", material="x"))
    assert b"[redacted]" in (project.folder.path / place).read_bytes()
    assert b"opensesame-1" not in (project.folder.path / place).read_bytes()
    assert record.request.topic == "[redacted]"
    said = Message(id="r1-msg-001", round=1, step=Step.POSITION, author="opensesame-1", text="It is opensesame-1.")
    kept = part(project).records.clean(Said(message=said).model_dump(mode="json"))
    assert (kept["message"]["author"], kept["message"]["text"]) == ("opensesame-1", "It is [redacted].")


def test_looking_at_records_makes_nothing(project: Project) -> None:
    before = sorted(project.folder.path.rglob("*"))
    assert part(project).records.ids() == ()
    assert part(project).records.find(RULES, "0" * 64) is None
    assert sorted(project.folder.path.rglob("*")) == before


# --- the cache ---


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
    project.write(".swarm/discussions/a/journal.jsonl", "records do not count")
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
    def known(cache: bool | None) -> str:  # noqa: FBT001 - the setting
        found = part(project).cached(DISCUSSION, ASKED, {}, cache=cache)
        return found.id if found else ""

    project.configure(council={"cache": True})
    record = begin(project, "a", request_hash=hash_of(project))
    assert known(None) == "", "it is not complete"
    record.append([Completed()])
    found = [known(cache) for cache in (None, True, False)]
    project.configure(council={"cache": False})
    found += [known(cache) for cache in (None, True, False)]
    assert found == ["a", "a", "", "", "a", ""]


# --- sessions ---


async def test_what_a_session_used_goes_on_record_and_its_budget_says_how_it_goes_on(project: Project) -> None:
    project.play(rule("participant", "position", {"text": "I hold."}))
    await asked(project)
    (event,) = project.events(UsageRecorded)
    standing = part(project).record(ASKING, "mine").standing
    assert (standing.own[1], event.source) == (("I hold.",), "discussion-mine")
    assert event.usage.tokens == standing.usage.tokens
    assert unsettled(project.folder) == []
    with pytest.raises(BudgetExhausted, match="discussion-two is used up") as stopped:
        await asked(project, "two", Allowance(tokens=standing.usage.tokens), times=3)
    assert stopped.value.hint.endswith("swarm discuss resume two --tokens N")
    assert len(project.requests) == 2
    with pytest.raises(BudgetExhausted, match="spent") as stopped:
        await asked(project, "two", Allowance(usd=0), times=3)
    assert stopped.value.hint.endswith("swarm discuss resume two --usd X")
    project.configure(budget={"tokens": 1})
    with pytest.raises(BudgetExhausted) as stopped:
        await asked(project, "three")
    assert stopped.value.hint.endswith("swarm discuss resume three"), "the project's budget is no option of a command"
    assert stopped.value.is_of(PROJECT)


async def test_a_record_goes_on_in_one_process_at_a_time(project: Project) -> None:
    project.play(rule("participant", "position", {"fault": {"kind": "hang"}}))
    one = asyncio.create_task(asked(project))
    while not project.requests:  # noqa: ASYNC110 - the server is in a thread
        await asyncio.sleep(0.01)
    with pytest.raises(CouncilRefused, match="discussion-mine goes on in another process"):
        await asked(project)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one


# --- ids ---


def test_whoever_takes_a_record_for_another_kind_is_told_which_it_is(project: Project) -> None:
    for pattern in PATTERNS:
        begin(project, f"my-{pattern}", pattern)
    for kind in PATTERNS:
        expected = (f"my-orchestration is an orchestration, not a {kind}.", "swarm orchestrate show my-orchestration")
        if kind != "orchestration":
            assert refusal(project, kind, "my-orchestration") == expected
    assert refusal(project, "orchestration", "my-decision") == (
        "my-decision is a decision, not an orchestration.",
        "swarm decide show my-decision",
    )
    with pytest.raises(CouncilRefused, match="my-discussion is a discussion, not a dispatch") as refused:
        Swarm(project.root).council.dispatch_record("my-discussion")
    assert refused.value.hint == "swarm discuss show my-discussion"


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
    assert refusal(project, "critique", "mine")[1] == "There is no critique here yet."
    begin(project, "20261122-101500-3f2a", "critique")
    listed = "They are listed by: swarm critique list"
    near = f"Did you mean 20261122-101500-3f2a? {listed}"
    assert refusal(project, "critique", "20261122-101500-3f2b") == (
        "There is no critique 20261122-101500-3f2b.",
        near,
    )
    assert refusal(project, "critique", "else")[1] == listed


def test_a_store_that_cannot_be_read_is_named(project: Project) -> None:
    project.configure(council={"store": "sqlite"})
    project.folder.records.write_text("no database " * 50)
    with pytest.raises(LedgerError, match=r"\.swarm/discussions\.sqlite3 is damaged"):
        Swarm(project.root).council.record("x")
