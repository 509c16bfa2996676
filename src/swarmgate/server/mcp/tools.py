"""The tools as a team server has them: each names a goal or a repository by its id, and some answer with a view."""

from typing import Annotated, Any

from pydantic import Field, create_model

from swarmgate.domain.base import Frozen
from swarmgate.mcp.tools import TOOLS, Tool
from swarmgate.server.services.views.record import CostView, CouncilView
from swarmgate.server.services.views.run import RunView

_Id = Annotated[str, Field(max_length=80, pattern=r"^[A-Za-z0-9._-]+$")]
_Perhaps = Annotated[str, Field(max_length=80, pattern=r"^[A-Za-z0-9._-]*$")]


class OfGoal(Frozen):
    """Which goal."""

    goal_id: Annotated[_Id, Field(description="The id of a goal of this server.")]


class OfRepository(Frozen):
    """In which repository."""

    repository: Annotated[_Id, Field(description="The id of a repository of this server.")]


class OfEither(Frozen):
    """In which repository, or in the project of which goal."""

    repository: Annotated[_Perhaps, Field(description="The id of a repository of this server.")] = ""
    goal_id: Annotated[_Perhaps, Field(description="The id of a goal in whose project it is held.")] = ""


_COUNCIL = {"gives": CouncilView, "listed": "", "whole": "the page of the council on this server"}
_OTHERWISE: dict[str, tuple[type[Frozen], dict[str, Any]]] = {
    "cost": (OfGoal, {"gives": CostView, "listed": "rows"}),
    "debate": (OfEither, _COUNCIL),
    "discuss": (OfEither, _COUNCIL),
    "decide": (OfEither, _COUNCIL),
    "plan": (OfRepository, {"gives": RunView}),
    "run": (OfGoal, {"gives": RunView}),
}
"""What of a tool is otherwise than in a project at hand; of those that are not named, that they take a goal."""


def _of(tool: Tool) -> Tool:
    place, changes = _OTHERWISE.get(tool.name, (OfGoal, {}))
    bases: tuple[type[Frozen], ...] = (tool.takes, place)
    return tool._replace(takes=create_model(tool.takes.__name__, __base__=bases, __doc__=tool.takes.__doc__), **changes)


SERVER_TOOLS = {name: _of(tool) for name, tool in TOOLS.items()}
"""By name, in the order in which they are listed."""
