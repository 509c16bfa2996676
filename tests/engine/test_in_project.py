from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.project import Project, rule

from swarmgate.council.asking import Heard, ask, brief_for
from swarmgate.council.debate.model import Debate
from swarmgate.council.debate.rules import RULES as DEBATE
from swarmgate.council.discussion.model import Discussion, DiscussionRound, Message, Step
from swarmgate.council.discussion.rules import RULES
from swarmgate.council.records import Manifest
from swarmgate.council.shared import Shared
from swarmgate.domain.budget import PROJECT
from swarmgate.domain.debate import Seat
from swarmgate.domain.events import UsageRecorded
from swarmgate.domain.usage import Allowance
from swarmgate.engine import Swarm
from swarmgate.engine.council import Council
from swarmgate.engine.in_project import VERBS, InProject
from swarmgate.errors import BudgetExhausted, CouncilRefused, LedgerError
from swarmgate.ledger.sessions import unsettled

GOES_ON = "swarm discuss resume mine"
ASKED = Discussion(id="mine", topic="Is it sound?")


class Part(InProject):
    """What the facades of patterns do with it."""

    async def asked(self, allowance: Allowance | None = None, times: int = 1) -> list[Heard[str]]:
        async with self.sitting("discussion", "mine", allowance, GOES_ON) as voices:
            desk = voices.desk(Seat(id="ann"))
            return [await ask(desk, brief_for("ann", "position", each), read=str) for each in range(1, times + 1)]

    def begin(self, name: str, pattern: str = "discussion", **more: object) -> None:
        manifest = {"id": name, "pattern": pattern, "request": {"topic": "T"}, **more}
        self.records.begin(Manifest.model_validate(manifest))

    def hash_of(self, request: Discussion = ASKED, **models: str) -> str:
        return self.request_hash("discussion", request, models)

    def known(self, request_hash: str, *, cache: bool | None = None) -> str:
        return self.cached("discussion", request_hash, cache=cache)

    def refusal(self, kind: str, name: str) -> tuple[str, str]:
        refused = self.refused(kind, name, CouncilRefused(f"There is no {kind} {name}."))
        return refused.message, refused.hint


def part(project: Project) -> Part:
    return Part(Swarm(project.root).project)


# --- records ---


@pytest.mark.parametrize(
    ("store", "place"), [("files", "discussions/a/manifest.json"), ("sqlite", "discussions.sqlite3")]
)
def test_records_lie_where_the_settings_say_and_have_no_secret(
    project: Project, monkeypatch: pytest.MonkeyPatch, store: str, place: str
) -> None:
    monkeypatch.setenv("MY_KEY", "opensesame-1")
    project.configure(council={"store": store}, providers__local={"api_key_env": "MY_KEY"})
    records = part(project).records
    records.begin(Manifest(id="a", pattern="discussion", request={"topic": "opensesame-1", "model": "local/x"}))
    said = Message(id="r1-msg-001", round=1, step=Step.POSITION, author="opensesame-1", text="It is opensesame-1.")
    records.keep_round("a", 1, DiscussionRound(number=1, messages=(said,)))
    records.append("a", "progress.md", "opensesame-1")
    kept = (project.folder.path / place).read_bytes()
    assert b"[redacted]" in kept
    assert kept.count(b"opensesame-1") == (1 if store == "sqlite" else 0), "the author's name, and nothing else"
    (again,) = part(project).records.rounds("a", DiscussionRound)
    assert (again.messages[0].author, again.messages[0].text) == ("opensesame-1", "It is [redacted].")
    assert part(project).records.get("a", "progress.md") == "[redacted]"


def test_looking_at_records_makes_nothing(project: Project) -> None:
    before = sorted(project.folder.path.rglob("*"))
    assert part(project).records.ids() == ()
    assert part(project).known("0" * 64) == ""
    assert sorted(project.folder.path.rglob("*")) == before


# --- the cache ---


@pytest.mark.slow
def test_a_request_is_found_again_while_nothing_that_it_hangs_on_has_changed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(commands={"env": ["TZ_OF_TESTS"]})
    same = part(project).hash_of(ann="local/one")
    changes: dict[str, str] = {}

    def changed(name: str) -> None:
        changes[name] = part(project).hash_of(ann="local/one")

    assert part(project).hash_of(ASKED.model_copy(update={"id": "other"}), ann="local/one") == same
    project.write(".swarm/discussions/a/manifest.json", "records do not count")
    project.write("src/calc/__pycache__/x.pyc", "ignored files do not count")
    assert part(project).hash_of(ann="local/one") == same
    project.write("new.py", "")
    changed("an untracked file")
    project.write("new.py", "x = 1\n")
    changed("its content")
    (project.root / "new.py").unlink()
    project.write("AGENTS.md", "Else.\n")
    changed("a tracked file")
    project.git("checkout", "--quiet", "AGENTS.md")
    assert part(project).hash_of(ann="local/one") == same
    project.git("add", "--force", ".swarm/discussions")
    project.git("commit", "--quiet", "--message=More")
    assert part(project).hash_of(ann="local/one") == same, (
        "a record that is committed, and the commit itself, do not count"
    )
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
    before = part(project).hash_of(ann="local/one")
    project.configure(gates={"timeout_s": 7}, budget={"tokens": 7}, council={"cache": True})
    assert part(project).hash_of(ann="local/one") == before, "what changes no answer does not count"
    project.write(".gitignore", "AGENTS.md\n")
    project.git("rm", "--quiet", "--cached", "AGENTS.md")
    before = part(project).hash_of(ann="local/one")
    project.write("AGENTS.md", "Else.\n")
    changes["the house rules, though git ignores them"] = part(project).hash_of(ann="local/one")
    assert changes["the house rules, though git ignores them"] != before
    changes["a model"] = part(project).hash_of(ann="local/two")
    assert len({same, *changes.values()}) == len(changes) + 1


def test_a_complete_record_is_given_again_where_the_settings_and_the_request_let_it(project: Project) -> None:
    part(project).begin("a", request_hash="0" * 64)
    assert part(project).known("0" * 64) == "", "it is not complete"
    part(project).records.change("a", status="complete")
    found = [part(project).known("0" * 64, cache=cache) for cache in (None, True, False)]
    project.configure(council={"cache": False})
    found += [part(project).known("0" * 64, cache=cache) for cache in (None, True, False)]
    assert found == ["a", "a", "", "", "a", ""]


# --- sittings ---


async def test_what_a_sitting_used_goes_on_record_and_its_budget_says_how_it_goes_on(project: Project) -> None:
    project.play(rule("participant", "position", {"text": "I hold."}))
    (heard,) = await part(project).asked()
    (event,) = project.events(UsageRecorded)
    assert (heard.value, event.source, event.usage.tokens) == ("I hold.", "discussion-mine", heard.usage.tokens)
    assert unsettled(project.folder) == []
    with pytest.raises(BudgetExhausted, match="discussion-mine is used up") as stopped:
        await part(project).asked(Allowance(tokens=heard.usage.tokens + 1), times=3)
    assert stopped.value.hint.endswith(f"{GOES_ON} --tokens N")
    assert len(project.requests) == 2
    with pytest.raises(BudgetExhausted, match="spent") as stopped:
        await part(project).asked(Allowance(usd=0))
    assert stopped.value.hint.endswith(f"{GOES_ON} --usd X")
    project.configure(budget={"tokens": 1})
    with pytest.raises(BudgetExhausted) as stopped:
        await part(project).asked()
    assert stopped.value.hint.endswith(GOES_ON), "the project's budget is no option of a command"
    assert stopped.value.is_of(PROJECT)


async def test_a_record_goes_on_in_one_process_at_a_time(project: Project) -> None:
    project.play()
    one = part(project)
    async with one.sitting("discussion", "mine"):
        with pytest.raises(CouncilRefused, match="discussion-mine goes on in another process"):
            await part(project).asked()


# --- ids ---


def test_whoever_takes_a_record_for_another_kind_is_told_which_it_is(project: Project) -> None:
    Shared(part(project).project).records.begin(RULES, ASKED.model_copy(update={"id": "my-discussion"}))
    for pattern in ("decision", "critique", "orchestration"):
        part(project).begin(f"my-{pattern}", pattern)
    for kind in VERBS:
        expected = (f"my-orchestration is an orchestration, not a {kind}.", "swarm orchestrate show my-orchestration")
        if kind != "orchestration":
            assert part(project).refusal(kind, "my-orchestration") == expected
    assert part(project).refusal("orchestration", "my-decision") == (
        "my-decision is a decision, not an orchestration.",
        "swarm decide show my-decision",
    )
    asked = Debate(id="my-debate", question="Is it?", seats=(Seat(id="a"), Seat(id="b")))
    Shared(Swarm(project.root).project).records.begin(DEBATE, asked)
    with pytest.raises(CouncilRefused, match="my-debate is a debate, not a dispatch") as refused:
        Swarm(project.root).council.dispatch_record("my-debate")
    assert refused.value.hint == "swarm debate show my-debate"


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
    assert part(project).refusal("critique", "mine")[1] == "There is no critique here yet."
    part(project).begin("20261122-101500-3f2a", "critique")
    listed = "They are listed by: swarm critique list"
    near = f"Did you mean 20261122-101500-3f2a? {listed}"
    assert part(project).refusal("critique", "20261122-101500-3f2b") == (
        "There is no critique 20261122-101500-3f2b.",
        near,
    )
    assert part(project).refusal("critique", "else")[1] == listed


def test_a_store_that_cannot_be_read_is_named(project: Project) -> None:
    project.configure(council={"store": "sqlite"})
    project.folder.records.write_text("no database " * 50)
    with pytest.raises(LedgerError, match=r"\.swarm/discussions\.sqlite3 is damaged"):
        Swarm(project.root).council.record("x")
