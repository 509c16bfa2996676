"""Facade of the councils: debates, discussions, decisions, critiques, chats and the rest, outside of runs.

outcome = await Swarm(path).council.debate("Is this design sound?", participants=["advocate", "challenger"])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from swarmgate.council.chat.facade import Chats
from swarmgate.council.critique.facade import Critiques
from swarmgate.council.debate.facade import Debates
from swarmgate.council.decision.facade import Decisions
from swarmgate.council.discussion.facade import Discussions
from swarmgate.council.dispatch.facade import Dispatches
from swarmgate.council.metrics import Metrics
from swarmgate.council.orchestration.facade import Orchestrations
from swarmgate.council.orchestration.runner import CouncilRunner, Verb, debated, decided, discussed, improved
from swarmgate.council.requests.seats import registered
from swarmgate.council.shared import Shared, new_id
from swarmgate.project import Project

if TYPE_CHECKING:
    from swarmgate.council.critique.program_checks import Programs


class Council:
    """The council of one project: the verbs of all patterns. Each is documented where its pattern is.

    Args:
        project: whose.
        programs: the commands and gates that judge versions.
    """

    def __init__(self, project: Project, programs: Callable[[], Programs]) -> None:
        self.shared = shared = Shared(project)
        dispatches, chats = Dispatches(shared), Chats(shared)
        debates = Debates(shared, dispatches.resume_dispatch)
        discussions, decisions, critiques = Discussions(shared), Decisions(shared), Critiques(shared, programs)
        verbs = {
            "debate": Verb("debate", debates.debate, debates.resume, debated),
            "discuss": Verb("discussion", discussions.discuss, discussions.resume_discussion, discussed),
            "decide": Verb("decision", decisions.decide, decisions.resume_decision, decided),
            "critique": Verb("critique", critiques.critique, critiques.resume_critique, improved),
        }
        orchestrations = Orchestrations(shared, CouncilRunner(shared, dispatches, verbs))
        metrics = Metrics(shared)

        self.debate, self.debate_file, self.resume = debates.debate, debates.debate_file, debates.resume
        self.ids, self.record, self.described = debates.ids, debates.record, debates.described
        self.debate_lines, self.debate_page = debates.debate_lines, debates.debate_page
        self.debate_verdict, self.new_id = debates.debate_verdict, new_id

        self.dispatch, self.dispatch_file = dispatches.dispatch, dispatches.dispatch_file
        self.resume_dispatch = dispatches.resume_dispatch
        self.dispatches, self.dispatch_record = dispatches.dispatches, dispatches.dispatch_record
        self.dispatch_told = dispatches.dispatch_told

        self.swarm, self.chat_file, self.resume_swarm = chats.swarm, chats.chat_file, chats.resume_swarm
        self.chats, self.chat_record = chats.chats, chats.chat_record

        self.discuss, self.resume_discussion = discussions.discuss, discussions.resume_discussion
        self.discussions, self.discussion_record = discussions.discussions, discussions.discussion_record
        self.discussion_documents, self.discussion_page = discussions.discussion_documents, discussions.discussion_page
        self.discussion_places, self.edited_cast = discussions.discussion_places, discussions.edited_cast

        self.decide, self.decide_file = decisions.decide, decisions.decide_file
        self.resume_decision, self.answer_decision = decisions.resume_decision, decisions.answer_decision
        self.decisions, self.decision_record = decisions.decisions, decisions.decision_record

        self.critique, self.critique_file = critiques.critique, critiques.critique_file
        self.resume_critique = critiques.resume_critique
        self.critiques, self.critique_record = critiques.critiques, critiques.critique_record

        self.orchestrate, self.resume_orchestration = orchestrations.orchestrate, orchestrations.resume_orchestration
        self.orchestration, self.orchestrations = orchestrations.orchestration, orchestrations.orchestrations
        self.orchestration_record = orchestrations.orchestration_record

        self.answers = {
            "critique": critiques.answers,
            "decision": decisions.answers,
            "discussion": discussions.answers,
            "orchestration": orchestrations.answers,
        }
        self.agents = partial(registered, project)
        self.metrics, self.executions, self.elsewhere = metrics.metrics, metrics.executions, shared.elsewhere
