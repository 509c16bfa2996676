"""Tests the attempts of a dispatch with in-memory models: what is retried and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.confined import runner
from tests.council.conftest import records_in

from swarmgate.agents.context import AgentContext
from swarmgate.agents.prompts import Prompts
from swarmgate.config.council import Council
from swarmgate.council.context import CouncilContext
from swarmgate.council.dispatch.model import Dispatch, DispatchResult, Means
from swarmgate.council.dispatch.request import checked
from swarmgate.council.dispatch.rules import RULES
from swarmgate.council.dispatch.steps import DISPATCHING
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, LedgerError, MissingRequirement, NoUsableReply
from swarmgate.llm.model import ModelReply, ModelRequest
from swarmgate.workspace.file_tools.files import FileTree


class Failing:
    """A model that fails in one way, whatever it is asked."""

    name = "local/failing"

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.calls = 0

    async def complete(self, request: ModelRequest) -> ModelReply:  # noqa: ARG002 - the model's signature
        self.calls += 1
        raise self.error


class Voices:
    """One model for every seat."""

    def __init__(self, place: Path, model: Failing | Answering) -> None:
        self.place, self.model = place, model

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:  # noqa: ARG002 - the protocol's
        return AgentContext(
            model=self.model, files=FileTree(self.place), prompts=Prompts(), commands=runner(self.place)
        )

    def parent(self) -> None:
        return None


@pytest.mark.parametrize(
    ("error", "tries"), [(MissingRequirement("no such program"), 1), (NoUsableReply("no words"), 2)]
)
async def test_what_is_missing_is_still_missing_at_a_second_try(repo: Path, error: Exception, tries: int) -> None:
    model, records = Failing(error), records_in(repo)
    asked = checked("parallel", [{"participant": "a", "text": "Look."}])
    asked = asked.model_copy(update={"id": "d1"})
    with pytest.raises(CouncilFailed, match=str(error)):
        await go_on(asked, records, Voices(repo, model))
    kept = RULES.outcome(records.open(RULES, "d1").standing)
    assert (model.calls, kept.replies[0].tries) == (tries, tries)
    assert kept.usage == Usage()


class Answering:
    """A model that answers everybody, and remembers what it was told."""

    name = "local/answering"

    def __init__(self) -> None:
        self.told: list[str] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.told.append(request.messages[1].content)
        return ModelReply(text=f"Answer {len(self.told)}.", usage=Usage(calls=1, prompt_tokens=5))


@pytest.mark.parametrize("mode", ["chain", "parallel"])
async def test_a_kill_after_any_line_loses_and_doubles_nothing(repo: Path, mode: str) -> None:
    model, records = Answering(), records_in(repo)
    asked = checked(mode, [{"participant": name, "text": f"Look, {name}."} for name in "abc"])
    asked = asked.model_copy(update={"id": "d1"})
    whole = await go_on(asked, records, Voices(repo, model))
    assert (whole.summary, len(model.told)) == ("3/3 succeeded", 3)
    path = repo / ".swarm/discussions/d1/journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 6  # begun, resumed, three tries, completed
    for cut in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:cut]) + lines[cut][:20])  # and torn
        kept = len(records.open(RULES, "d1").standing.own.tried)
        model.told.clear()
        again = await go_on(asked, records, Voices(repo, model))
        assert (again.summary, again.usage) == (whole.summary, whole.usage)
        assert len(model.told) == 3 - kept
        assert [each.tries for each in again.replies] == [1, 1, 1]


async def test_every_altered_line_is_found_out(repo: Path) -> None:
    records = records_in(repo)
    asked = checked("single", [{"participant": "a", "text": "Look."}])
    await go_on(asked.model_copy(update={"id": "d1"}), records, Voices(repo, Answering()))
    path = repo / ".swarm/discussions/d1/journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        path.write_bytes(b"".join([*lines[:at], line.replace(b"a", b"b", 1), *lines[at + 1 :]]))
        with pytest.raises(LedgerError):
            records.open(RULES, "d1")


async def go_on(asked: Dispatch, records: Records, voices: Voices) -> DispatchResult:
    own = Means(tuple(Seat(id=task.name) for task in asked.tasks), Council())
    context = CouncilContext(voices, records, own=own)
    DISPATCHING.check(asked, context, lambda _: "")
    result = await run(DISPATCHING, records.begin(DISPATCHING, asked), context)
    assert result
    return result
