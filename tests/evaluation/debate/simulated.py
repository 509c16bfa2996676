"""Simulated models of known accuracy for tests of the debate experiment, in process or behind a server."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config.guards import Bounds
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage
from swarmgate.evaluation.debate.cache import Answers, Meter, Place, Remembering
from swarmgate.evaluation.debate.experiment_arms import Arm
from swarmgate.evaluation.debate.fixtures import Item
from swarmgate.evaluation.debate.participants import ExperimentContexts
from swarmgate.evaluation.debate.runs import Seated
from swarmgate.llm.model import ModelReply, ModelRequest
from swarmgate.testing import ReceivedRequest, ScriptedServer
from swarmgate.testing.answers import answer
from swarmgate.testing.script import Reply, brief_headers
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confinement import Confinement

Speaker = Callable[[Mapping[str, str], str], str]
"""What is answered to the headers of a brief and its whole text."""


def items(number: int) -> tuple[Item, ...]:
    """Every second one is good; a voice is told its number."""
    return tuple(
        Item(
            id=f"item-{at}",
            kind="design",
            text=f"Design number {at}.",
            label="good" if at % 2 else "bad",
            reason=f"because-{at}",
            category=f"kind-{at % 3}",
            source="made",
        )
        for at in range(number)
    )


def ballot(vote: str, confidence: float = 0.8) -> str:
    return f'It is so.\nFINAL_VERDICT:\n{{"verdict": "{vote}", "confidence": {confidence}, "reasons": []}}'


def judges(independent: float, debated: float, *, seed: int = 0) -> Speaker:
    """Voices that are right with these probabilities, each for itself; a speech before the vote is any text."""

    def speak(headers: Mapping[str, str], brief: str) -> str:
        number = int(brief.partition("Design number ")[2].partition(".")[0])
        who = headers["PARTICIPANT"]
        in_debate = not who.startswith("reviewer")
        if in_debate and "Vote now" not in brief:
            return f"{who} says something new of design {number}."
        chance = random.Random(f"{seed} {number} {who}").random()  # noqa: S311 - a repeatable simulation
        right = chance < (debated if in_debate else independent)
        return ballot("APPROVE" if right is bool(number % 2) else "REJECT")

    return speak


class Simulated:
    """A `Model` in this process; `asked` counts calls by participant and round."""

    def __init__(self, speak: Speaker, name: str = "sim/one") -> None:
        self.name = name
        self.asked: Counter[tuple[str, str]] = Counter()
        self._speak = speak

    async def complete(self, request: ModelRequest) -> ModelReply:
        brief = request.messages[1].content
        headers = {key: str(value) for key, value in brief_headers(brief).items()}
        self.asked[headers["PARTICIPANT"], headers["ROUND"]] += 1
        text = self._speak(headers, brief)
        return ModelReply(text=text, usage=Usage(calls=1, prompt_tokens=100, completion_tokens=10), model=self.name)


def seated_at(model: Simulated, folder: Path, wall_time_s: float = 300) -> Seated:
    """Voices that all speak with this model, so many seconds at the most, and remember in this folder."""
    (folder / "empty").mkdir(exist_ok=True)
    limits = Limits(bounds=Bounds().model_copy(update={"wall_time_s": wall_time_s}))
    place = (folder / "empty").resolve()
    answers, prompts, files = Answers(folder / "cache"), Prompts(), FileTree(place)
    commands = CommandRunner(choose("none"), Confinement(root=place, home=place))

    def seated(arm: Arm, *, repeat: int, seed: int, meter: Meter) -> ExperimentContexts:
        def agent(seat: Seat) -> AgentContext:
            at = Place(arm=arm, seat=seat.id, repeat=repeat, seed=seed)
            remembering = Remembering(model, settings="", place=at, answers=answers, meter=meter)
            return AgentContext(
                model=remembering, files=files, prompts=prompts, commands=commands, limits=limits, persona=seat.system
            )

        return ExperimentContexts(agent)

    return seated


class JudgesServer(ScriptedServer):
    """The same voices behind an endpoint."""

    def __init__(self, speak: Speaker, **more: Any) -> None:
        super().__init__([], **more)
        self._speaks = speak

    def play(self, body: Mapping[str, Any], http_headers: Mapping[str, str]) -> Any:
        messages = tuple(body.get("messages", ()))
        headers = brief_headers(messages[1]["content"])
        names = tuple(str(tool.get("function", {}).get("name", "")) for tool in body.get("tools") or ())
        self.requests.append(ReceivedRequest(headers, messages, names, str(body["model"]), http_headers, body))
        text = self._speaks({key: str(value) for key, value in headers.items()}, messages[1]["content"])
        return None, answer(Reply(text=text), body, headers, sum(each["role"] == "assistant" for each in messages))
