"""Builds the agent-program models of a role from its settings, with display and metering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from swarmgate.config import ACP, Role
from swarmgate.domain.usage import Usage
from swarmgate.errors import ConfigError
from swarmgate.llm.budget import Metered
from swarmgate.llm.events import OnEvent, Working
from swarmgate.llm.model import Model
from swarmgate.llm.programs.acp_model import AcpModel, ConversationProgram
from swarmgate.llm.programs.command_model import CommandModel, Program
from swarmgate.llm.programs.events import Event

_REPORTED = 2_000
"""Most tool uses that are reported of one call, so that no program floods the screen."""


class AgentRunner(Program, ConversationProgram, Protocol):
    """Starts the agent programs of a role, either kind."""


@dataclass
class Programs:
    """The agent programs of one role.

    Attributes:
        role_name: the role.
        role: its settings.
        table: the table that those stand in.
        start: starts programs; None: nobody does here.
        on_event: receives what they do.
        meter: counts what they use; set as soon as it is made.
    """

    role_name: str
    role: Role
    table: str
    start: Callable[[Role], AgentRunner] | None
    on_event: OnEvent
    meter: Metered | None = None
    _open: list[AcpModel] = field(default_factory=list)
    _reported: int = 0

    def model(self, name: str, *, on_event: Callable[[Event], None] = lambda _event: None) -> Model:
        """The model of that name; `on_event` receives its events.

        Raises:
            ConfigError: nobody starts agent programs here.
        """
        if self.start is None:
            raise ConfigError(f"[roles.{self.role_name}] `{name}`: agent programs cannot be started here")

        def received(event: Event, usage: Usage) -> None:
            on_event(event)
            reported = self._reported
            self._reported += len(event.uses)
            for use in event.uses[: max(_REPORTED - reported, 0)]:
                self.on_event(Working(model=name, role=self.role_name, tool=use.tool, summary=use.summary, usage=usage))

        @contextmanager
        def metering() -> Iterator[Callable[[Usage], None]]:
            self._reported = 0
            if self.meter is None:
                yield lambda _usage: None
                return
            with self.meter.metering(name) as report:
                yield report

        limit, start = self.role.timeout_s, self.start(self.role)
        if not name.startswith(ACP):
            return CommandModel(name, start, on_event=received, metering=metering, role=self.table, timeout_s=limit)
        made = AcpModel(name, start, on_event=received, metering=metering, role=self.table, timeout_s=limit)
        self._open.append(made)
        return made

    async def end_turn(self) -> None:
        """Ends the programs whose conversation would go on."""
        for each in self._open:
            await each.end_turn()
