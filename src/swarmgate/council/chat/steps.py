"""Executes the steps of a swarm chat: checks the agents and has them take their turns.

Nobody outside can take a turn. What a turn used that was cut by the end of the chat, and what was not sent for that, is
on record too.
"""

# ruff: noqa: ARG002 - the facade reads files itself
from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from swarmgate.agents.context import AgentContext
from swarmgate.council.chat.brief import MOST_UNREAD, chat_brief, inbox_of, room_of
from swarmgate.council.chat.model import CallsLost, Chat, ChatResult, TurnTaken
from swarmgate.council.chat.rules import ChatRules, CountCalls, TakeTurn
from swarmgate.council.chat.state import State
from swarmgate.council.chat.turn import AgentTurn, ChatBudget, too_long
from swarmgate.council.context import CouncilContext
from swarmgate.council.participants.call_recorder import CallRecorder
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.pattern import Pattern, Unfinished, Where
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilRefused, EndpointFailed, SwarmError


@dataclass
class SessionState:
    """The state that the turns of one session share.

    Attributes:
        calls: gives what all calls of the chat used before this session, also those of turns that are not on record.
        agents: of the agents.
        sizes: characters of messages that each agent reads at once.
        budget: what they may still use in total.
    """

    calls: Callable[[], Usage] = Usage
    agents: dict[str, AgentContext] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    budget: ChatBudget = field(default_factory=lambda: ChatBudget(0, 0))

    def enter(self, state: State, contexts: ContextFactory) -> None:
        """Makes it ready for the first turn of the session."""
        if not self.agents:
            self.agents = _agents(state.chat, contexts)
            self.sizes = _sizes(self.agents)
            self.budget = ChatBudget(state.chat.messages - state.sent_count, state.chat.tokens - state.usage.tokens)


class SwarmChat(ChatRules, Pattern[Chat, State, ChatResult]):
    """Agents that write to each other. A session of it needs a `SessionState` as its `context.own`."""

    def check(self, request: Chat, context: CouncilContext, where: Where) -> None:
        """Insists that every agent has a model, and can read the opening.

        Raises:
            CouncilRefused: it does not fit the window of an agent.
            ConfigError, MissingRequirement: an agent has no model or no key.
        """
        if unfit := too_long(request, request.opening, _sizes(_agents(request, context.contexts))):
            raise CouncilRefused(
                f"`initial.content` is too long: {unfit}",
                hint="Put it into a file of the repository and name that, or give that agent a model with a larger "
                "window.",
            )

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """Has an agent take its turn.

        Raises:
            EndpointFailed: nobody who has something to read can be reached; the chat can be resumed.
            BudgetExhausted, MissingRequirement, ConfigError: as they come.
        """
        session: SessionState = context.own
        match step:
            case CountCalls():
                return [CallsLost(usage=session.calls() - state.usage)]
            case TakeTurn(agent):
                session.enter(state, context.contexts)
                return [await _turn(agent, state, session)]
        why = "; ".join(f"{agent}: {why}" for agent, why in sorted(state.waiting.items()))
        raise EndpointFailed(
            f"The chat {state.chat.id} cannot go on: {why}",
            hint=f"Nothing is lost. When the endpoint answers again, within {state.chat.ttl_s:g} s of the chat's "
            f"beginning: {self.resume_command(state.chat.id)}",
        )


CHAT = SwarmChat()


async def _turn(name: str, state: State, session: SessionState) -> TurnTaken:
    """One turn of an agent; one that is cut off, or ended by an error, says what it used, and what it had said.

    Raises:
        Unfinished: an error ended it.
    """
    chat, agent = state.chat, session.agents[name]
    section = agent.limits.section_chars
    inbox = inbox_of(tuple(islice(state.inbox(name), MOST_UNREAD)), section=section)
    past = tuple(state.messages[number] for number in state.past.get(name, ()))
    brief = chat_brief(chat, name, inbox=inbox, past=past, left=session.budget.messages, section=section)
    turn = AgentTurn(chat, name, session.budget, session.sizes, CallRecorder(agent.model), time.time())
    try:
        await turn.take(agent, brief)
    except asyncio.CancelledError:
        if not turn.began:
            raise
        return TurnTaken(turn=turn.cut_off())
    except SwarmError as error:
        raise Unfinished(error, *([TurnTaken(turn=turn.cut_off())] if turn.began else [])) from error
    return TurnTaken(turn=turn.on_record(tuple(message.number for message in inbox)))


def _agents(chat: Chat, contexts: ContextFactory) -> dict[str, AgentContext]:
    return {agent.id: contexts.agent(agent) for agent in chat.agents}


def _sizes(agents: dict[str, AgentContext]) -> dict[str, int]:
    return {name: room_of(agent.limits.section_chars) for name, agent in agents.items()}
