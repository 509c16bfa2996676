"""The prompts: what a person can have their agent begin with by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from swarmgate.errors import UsageError
from swarmgate.mcp.backend import Backend, Document
from swarmgate.mcp.quoted import quoted

_LONGEST = 20_000
"""Characters of an argument."""


class Prompt(NamedTuple):
    """A prompt; each of `arguments` is its name, what it is, and whether it is needed."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    text: str


_ALL = (
    Prompt(
        "plan",
        "Plan a goal",
        "Have swarmgate plan a goal, and go through the plan with you before you approve it.",
        (("goal", "What is wanted, in your words.", True),),
        "Call the tool `plan` with the goal below. Then read the resource swarm://plan and go through it with me: "
        "phases, tasks, acceptance criteria, and what the critic objects to. Change no file. I approve the plan "
        "myself, with `swarm approve` or in the form that I am shown.\n\nThe goal:\n{goal}",
    ),
    Prompt(
        "handoff",
        "Take over the work",
        "One page on where the work stands, for whoever goes on with it.",
        (("goal_id", "The id of a goal on a team server; of the project at hand none.", False),),
        "Go on with the work on this repository from the page below. Tell me first, in a few sentences, where it "
        "stands, what failed, and what you would do next.\n\n{page}",
    ),
    Prompt(
        "review",
        "Review a change",
        "Judge the change with the gates, and review what no gate sees.",
        (("base", "The revision that it is compared with; empty: what is not committed.", False),),
        "Review {change}. First call the tool `gates_run`{how} and tell me what blocks, with `gates_explain` for rules "
        "that are not clear. Then read the change yourself for what no gate sees: does it do what it says, what is "
        "missing, what breaks elsewhere, would its tests fail without it? Order what you find by how bad it is, each "
        "with its file and line. Change nothing.",
    ),
)

PROMPTS = {each.name: each for each in _ALL}
"""By name, in the order in which they are listed."""


async def filled(backend: Backend, name: str, given: Mapping[str, str]) -> Document:
    """A prompt with its arguments; what comes from the project is marked as data.

    Raises:
        UsageError: there is no such prompt, or an argument is missing, unknown or too long.
        SwarmError: the project cannot be read.
    """
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise UsageError(f"There is no prompt {name[:80]!r}.", hint=f"There are: {', '.join(PROMPTS)}.")
    known = {argument for argument, _, _ in prompt.arguments}
    missing = [argument for argument, _, needed in prompt.arguments if needed and not given.get(argument, "").strip()]
    if missing or not given.keys() <= known or any(len(text) > _LONGEST for text in given.values()):
        takes = ", ".join(sorted(known)) or "none"
        raise UsageError(
            f"The prompt {name} takes these arguments: {takes}.", hint=f"Each has {_LONGEST} characters at most."
        )
    values = {"goal": given.get("goal", "").strip(), **_change(given.get("base", "").strip())}
    if name == "handoff":
        page = await backend.handoff(given.get("goal_id", ""))
        values["page"] = quoted("the handoff page", page.text)
    return Document(name, "text/markdown", prompt.text.format_map(values))


def _change(base: str) -> dict[str, str]:
    """How the change is named, and how the tool is called for it."""
    if not base:
        return {"change": "the change that is not committed yet", "how": ""}
    return {"change": f"what differs from {base}", "how": f' with base "{base}"'}
