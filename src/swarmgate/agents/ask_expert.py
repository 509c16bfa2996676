"""Asks a subject matter expert: looks the question up in the cache first, and calls the model only for a new one.

Where the answers are kept is the caller's business (`Answers`): for a run it is context.md, which the user may edit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from swarmgate.agents.briefs.brief import cut, fenced, one_line
from swarmgate.agents.tools.arguments import AskSme
from swarmgate.domain.state.state import Guidance
from swarmgate.errors import NoUsableReply, UsageError

MOST_ASKED = 5
"""Questions of one turn that may go to the model; looking up is not counted."""

_QUESTION = 2_000
_DOMAIN = 80
_UNKNOWN = "Decide it yourself by what the repository and the task say."


class Answers(Protocol):
    """The stored answers of experts."""

    def find(self, domain: str, question: str) -> Guidance | None:
        """The answer to this question, or to one that is the same in other words; None when it was never asked."""

    def keep(self, domain: str, question: str, answer: str, *, model: str) -> None:
        """Remember an answer for the rest of the project."""


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """The answer of an expert, and the `provider/model` that gave it."""

    answer: str
    model: str


@dataclass(frozen=True)
class Expert:
    """Someone to ask. `ask` puts a domain and a question to the model; None: no model is configured for experts."""

    answers: Answers
    ask: Callable[[str, str], Awaitable[ExpertAnswer]] | None = None


class Consultation:
    """The questions of one turn.

    Args:
        expert: whom to ask; None: nobody.
    """

    def __init__(self, expert: Expert | None) -> None:
        self._expert = expert
        self._asked = 0

    async def ask(self, call: AskSme) -> str:
        """The tool `ask_sme`: the answer, fenced, and where it comes from.

        Raises:
            UsageError: the question is empty, or the turn has asked too often.
            ModelError, BudgetExhausted: the expert's endpoint failed, or may not be paid for.
        """
        domain, question = cut(one_line(call.domain), _DOMAIN, ""), one_line(call.question)
        if not (domain and question):
            raise UsageError("ask_sme needs a domain and a question")
        if len(question) > _QUESTION:
            raise UsageError(f"the question has {len(question)} characters; ask one thing, in at most {_QUESTION}")
        if self._expert is None:
            return f"No expert is configured. {_UNKNOWN}"
        if known := self._expert.answers.find(domain, question):
            when = f", {known.time}" if known.time else ""
            return f"From the guidance of this project ({one_line(known.domain)}{when}):\n{fenced(known.answer)}"
        if self._expert.ask is None:
            return f"No expert is configured ([roles.sme]). {_UNKNOWN}"
        if self._asked >= MOST_ASKED:
            raise UsageError(f"{MOST_ASKED} new questions a turn are the limit. {_UNKNOWN}")
        self._asked += 1
        try:
            reply = await self._expert.ask(domain, question)
        except NoUsableReply as error:
            return f"The expert gave no answer ({error.message}). {_UNKNOWN}"
        self._expert.answers.keep(domain, question, reply.answer, model=reply.model)
        return f"The expert for {domain} answers:\n{fenced(reply.answer)}"
