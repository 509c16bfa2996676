"""A dispatch over models in memory: what is tried again, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.confined import runner

from swarmgate.agents.desk import Desk
from swarmgate.agents.prompts import Prompts
from swarmgate.council.dispatch.request import checked
from swarmgate.council.dispatching import Means, carry_out
from swarmgate.domain.debate import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, MissingRequirement, NoUsableReply
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.dispatches import DispatchFiles
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.llm.model import ModelReply, ModelRequest
from swarmgate.workspace.files import FileTree


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

    def __init__(self, place: Path, model: Failing) -> None:
        self.place, self.model = place, model

    def desk(self, seat: Seat, *, folder: str = "") -> Desk:  # noqa: ARG002 - the protocol's
        return Desk(model=self.model, files=FileTree(self.place), prompts=Prompts(), commands=runner(self.place))

    def parent(self) -> None:
        return None


@pytest.mark.parametrize(
    ("error", "tries"), [(MissingRequirement("no such program"), 1), (NoUsableReply("no words"), 2)]
)
async def test_what_is_missing_is_still_missing_at_a_second_try(repo: Path, error: Exception, tries: int) -> None:
    folder, model = SwarmFolder(repo), Failing(error)
    store = DispatchFiles(folder)
    means = Means(
        id="d1", voices=Voices(repo, model), store=store, debates=DebateFiles(folder), model_of=lambda _role: ""
    )
    asked = checked("parallel", [{"participant": "a", "text": "Look."}])
    with pytest.raises(CouncilFailed, match=str(error)):
        await carry_out(asked, means)
    assert (model.calls, store.load("d1").replies[0].tries) == (tries, tries)
    assert store.load("d1").usage == Usage()
