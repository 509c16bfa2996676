"""The facade of the council: what several voices do in a project, outside of its runs.

outcome = await Swarm(path).council.debate("Is this design sound?", participants=["advocate", "challenger"])
"""

from __future__ import annotations

from swarmgate.council.discussion.facade import Discussions
from swarmgate.council.shared import Shared
from swarmgate.engine.chats import Chats
from swarmgate.engine.council_metrics import Metrics
from swarmgate.engine.critiques import Critiques
from swarmgate.engine.debates import Debates
from swarmgate.engine.decisions import Decisions
from swarmgate.engine.dispatches import Dispatches
from swarmgate.engine.in_project import InProject
from swarmgate.engine.orchestration_steps import CouncilRunner
from swarmgate.engine.orchestrations import Orchestrations
from swarmgate.project import Project


class Council:
    """The council of one project: the verbs of all patterns. Each is documented where its pattern is.

    Args:
        project: whose.
    """

    def __init__(self, project: Project) -> None:
        shared = InProject(project)
        debates, dispatches, chats = Debates(shared), Dispatches(shared), Chats(shared)
        discussions, decisions, critiques = Discussions(Shared(project)), Decisions(shared), Critiques(shared)
        runner = CouncilRunner(shared, debates, dispatches, discussions, decisions, critiques)
        orchestrations, metrics = Orchestrations(shared, runner), Metrics(shared)

        self.debate, self.debate_file, self.resume = debates.debate, debates.debate_file, debates.resume
        self.ids, self.began, self.record = debates.ids, debates.began, debates.record

        self.dispatch, self.dispatch_file = dispatches.dispatch, dispatches.dispatch_file
        self.dispatches, self.dispatch_record = dispatches.dispatches, dispatches.dispatch_record

        self.swarm, self.resume_swarm = chats.swarm, chats.resume_swarm
        self.chats, self.chat_record = chats.chats, chats.chat_record

        self.discuss, self.resume_discussion = discussions.discuss, discussions.resume_discussion
        self.discussions, self.discussion_record = discussions.discussions, discussions.discussion_record
        self.discussion_documents, self.discussion_page = discussions.discussion_documents, discussions.discussion_page
        self.discussion_places = discussions.discussion_places

        self.decide, self.decide_file = decisions.decide, decisions.decide_file
        self.resume_decision = decisions.resume_decision
        self.decisions, self.decision_record = decisions.decisions, decisions.decision_record

        self.critique, self.critique_file = critiques.critique, critiques.critique_file
        self.resume_critique = critiques.resume_critique
        self.critiques, self.critique_record = critiques.critiques, critiques.critique_record

        self.orchestrate, self.resume_orchestration = orchestrations.orchestrate, orchestrations.resume_orchestration
        self.orchestration, self.orchestrations = orchestrations.orchestration, orchestrations.orchestrations
        self.orchestration_record = orchestrations.orchestration_record

        self.metrics, self.executions, self.elsewhere = metrics.metrics, metrics.executions, shared.elsewhere
